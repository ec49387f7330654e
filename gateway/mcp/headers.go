package mcp

import (
	"encoding/base64"
	"net/http"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// Header names, in canonical form.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	headerSession = "Mcp-Session-Id"
)

// singleValueHeaders are the headers that affect a decision and so may occur only once (H4): a reader of the first
// value and a reader of the last must not see different requests.
var singleValueHeaders = [...]string{
	headerVersion, headerMethod, headerName, headerSession,
	"Content-Type", "Authorization", "Origin", "Dpop",
}

func checkSingleValueHeaders(h http.Header) *Error {
	for _, name := range singleValueHeaders {
		if len(h[name]) > 1 {
			return httpError(http.StatusBadRequest, "header %s is given more than once", name)
		}
	}
	return nil
}

// headerValue returns the only value of a header, and whether it is present.
func headerValue(h http.Header, name string) (string, bool) {
	if v := h[name]; len(v) > 0 {
		return v[0], true
	}
	return "", false
}

// equalName reports whether text is a name that is compared without regard to case. Names are ASCII, and a letter that
// [strings.EqualFold] equates with an ASCII letter, such as the Kelvin sign, has more bytes.
func equalName(text, name string) bool {
	return len(text) == len(name) && strings.EqualFold(text, name)
}

// checkLegacyVersion refuses a version header that names no legacy revision. Without the header the session determines
// the revision; a revision other than the session's is tolerated, since clients are only advised to send the negotiated
// one (2025-11-25 transports, Protocol Version Header).
func checkLegacyVersion(h http.Header) *Error {
	if version, ok := headerValue(h, headerVersion); ok && legacyIndex(version) < 0 {
		return unsupportedVersion(version)
	}
	return nil
}

// checkContentType checks Content-Type and Content-Encoding.
func checkContentType(h http.Header) *Error {
	value, _ := headerValue(h, "Content-Type")
	media, _, _ := strings.Cut(value, ";")
	if !equalName(strings.Trim(media, " \t"), "application/json") {
		return httpError(http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
	}
	if len(h["Content-Encoding"]) > 0 {
		// A compressed body may be a decompression bomb, or hide from intermediaries that inspect bodies (H5).
		e := httpError(http.StatusUnsupportedMediaType, "a request body must not have a Content-Encoding")
		e.Header = http.Header{"Accept-Encoding": {"identity"}}
		return e
	}
	return nil
}

// checkStateless compares the headers of a stateless request with its body (2026-07-28 streamable-http, Request
// Metadata and Server Validation) and checks its _meta (basic, _meta).
func checkStateless(h http.Header, e *envelope) *Error {
	header, ok := headerValue(h, headerVersion)
	if !ok {
		return headerMismatch("header MCP-Protocol-Version is missing")
	}
	version, ok := decodeString(e.metaVersion)
	if !ok {
		return InvalidParams("params._meta needs %q, a string", keyProtocolVersion)
	}
	if header != version {
		return headerMismatch("header MCP-Protocol-Version is %q but the body says %q", header, version)
	}
	if version != revision20260728 {
		return unsupportedVersion(version)
	}
	if _, ok = headerValue(h, headerMethod); !ok {
		return headerMismatch("header Mcp-Method is missing")
	}
	if err := checkMirroredHeaders(h, e); err != nil {
		return err
	}
	return checkMeta(e)
}

// checkMeta checks the members of a stateless request's _meta that describe the client.
func checkMeta(e *envelope) *Error {
	if objectKind(e.metaCapabilities) != jsonscan.Object {
		return InvalidParams("params._meta needs %q, an object", keyClientCapabilities)
	}
	if e.metaLogLevel != nil && parseLogLevel(e.metaLogLevel) == 0 {
		return InvalidParams("%q must be one of %s", keyLogLevel, strings.Join(logLevels[:], ", "))
	}
	return nil
}

// checkMirroredHeaders compares Mcp-Method and Mcp-Name with the body. A notification may lack them, since no revision
// requires headers for one, but they must not differ.
func checkMirroredHeaders(h http.Header, e *envelope) *Error {
	if header, ok := headerValue(h, headerMethod); ok {
		if method := jsonscan.Unquote(e.method); header != string(method) || !isVisibleASCII(header) {
			return headerMismatch("header Mcp-Method is %q but the body says %q", header, method)
		}
	}
	value := e.mirroredName()
	if value == nil {
		return nil
	}
	name := jsonscan.Unquote(value)
	header, ok := headerValue(h, headerName)
	if !ok {
		return headerMismatch("header Mcp-Name is missing")
	}
	plain, ok := decodeHeaderValue(header)
	if !ok {
		return headerMismatch("header Mcp-Name is %q, which is not a valid header value", header)
	}
	if plain != string(name) {
		return headerMismatch("header Mcp-Name is %q but the body says %q", plain, name)
	}
	return nil
}

// mirroredName returns the member of params that Mcp-Name repeats for this method, nil if there is none.
func (e *envelope) mirroredName() []byte {
	value := e.param(protocolMethods[string(jsonscan.Unquote(e.method))].mirrored)
	if jsonscan.KindOf(value) == jsonscan.String {
		return value
	}
	return nil // the method refuses it
}

// decodeHeaderValue decodes a mirrored value (2026-07-28 streamable-http, Value Encoding): =?base64?...?= holds base64
// of UTF-8, anything else is visible ASCII, space and tab.
func decodeHeaderValue(value string) (string, bool) {
	const prefix, suffix = "=?base64?", "?="
	if len(value) < len(prefix)+len(suffix) || !strings.HasPrefix(value, prefix) || !strings.HasSuffix(value, suffix) {
		return value, isVisibleASCII(value)
	}
	// Strict, since two spellings of one value would be two values to an intermediary.
	b, err := base64.StdEncoding.Strict().DecodeString(value[len(prefix) : len(value)-len(suffix)])
	return string(b), err == nil
}

func isVisibleASCII(value string) bool {
	for i := 0; i < len(value); i++ {
		if c := value[i]; (c < ' ' && c != '\t') || c > '~' {
			return false
		}
	}
	return true
}

// acceptsAny reports whether a header that lists alternatives (Accept, Accept-Encoding) has one of the names with a
// weight that is not zero (RFC 9110 section 12.4.2).
func acceptsAny(values []string, names ...string) bool {
	for _, v := range values {
		for v != "" {
			var item string
			item, v, _ = strings.Cut(v, ",")
			item, params, _ := strings.Cut(item, ";")
			item = strings.Trim(item, " \t")
			for _, n := range names {
				if equalName(item, n) && !hasZeroWeight(params) {
					return true
				}
			}
		}
	}
	return false
}

func hasZeroWeight(params string) bool {
	for params != "" {
		var p string
		p, params, _ = strings.Cut(params, ";")
		p = strings.Trim(p, " \t")
		if len(p) > 2 && (p[0] == 'q' || p[0] == 'Q') && p[1] == '=' {
			return strings.Trim(p[2:], "0.") == ""
		}
	}
	return false
}

// prefersEventStream reports whether the client accepts an event stream and not JSON; the response is an event then.
// Any other Accept gets JSON, which all revisions oblige clients to accept, and no request fails because of its Accept.
func prefersEventStream(h http.Header) bool {
	accept := h["Accept"]
	return acceptsAny(accept, "text/event-stream") && !acceptsAny(accept, "application/json", "application/*", "*/*")
}
