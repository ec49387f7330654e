package wire

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ForbiddenHeader reports whether a header must not be set from an argument: the headers of authentication, framing,
// routing, tracing and of the protocol itself, those that the gateway sends itself, and those that servers trust
// because a proxy in front of them is expected to set them (R6). Names are compared ignoring case, and with "_" for
// "-", since many servers don't distinguish them: CGI, WSGI and Rack make one variable of both (RFC 3875 section
// 4.1.18).
func ForbiddenHeader(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	switch name {
	case "authorization", "cookie", "set-cookie", "host", "content-length", "content-type", "content-encoding", "accept",
		"accept-encoding", "transfer-encoding", "te", "trailer", "upgrade", "connection", "keep-alive", "expect", "via",
		"forwarded", "x-http-method-override", "x-http-method", "x-method-override",
		"traceparent", "tracestate", "baggage", "dpop", "user-agent", "cookie2", "set-cookie2", "http2-settings", "max-forwards",
		"proxy", // HTTP_PROXY, which many HTTP clients obey (httpoxy, CVE-2016-5385)
		"x-forwarded", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "client-ip", "true-client-ip", "cf-connecting-ip", "fastly-client-ip",
		"x-remote-ip", "x-remote-addr", "remote-addr", "x-originating-ip", "wl-proxy-client-ip", // the origin of a request
		"x-host", "x-http-host-override", "x-url-scheme", "x-scheme", "front-end-https", // its destination
		"remote-user", "x-remote-user", "remote-groups", "x-remote-group", // its user
		"x-sendfile-type", "x-middleware-subrequest": // CVE-2025-61780, CVE-2025-29927
		return true
	}
	for _, prefix := range [...]string{"proxy-", "x-forwarded-", "x-original-", "x-rewrite-", "x-accel-", "x-envoy-", "mcp-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// appendHeaderText appends text unchanged. Values are not quoted or escaped (OAS 3.2 appendix D), so characters that
// are not allowed in a header are refused (R6). The tab, although legal, is refused too: servers differ on it.
func appendHeaderText(dst, text []byte) ([]byte, error) {
	for _, b := range text {
		switch {
		case b < ' ' || b == 0x7f:
			return dst, refuse("must not contain control characters or line breaks: it is sent as a header")
		case b >= utf8.RuneSelf:
			return dst, refuse("must contain ASCII characters only: it is sent as a header")
		}
	}
	return append(dst, text...), nil
}

// asciiJSON escapes all characters but printable ASCII in a compact JSON text, so that it is a valid header value. JSON
// itself allows one control character unescaped, DEL.
func asciiJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r < utf8.RuneSelf && r != 0x7f {
			out = append(out, text[i])
		} else {
			for _, unit := range utf16.AppendRune(nil, r) {
				out = append(out, `\u`...)
				digits := strconv.FormatUint(uint64(unit), 16)
				out = append(append(out, "0000"[len(digits):]...), digits...)
			}
		}
		i += size
	}
	return out
}
