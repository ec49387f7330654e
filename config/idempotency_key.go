package config

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"
)

// KeyHeader is the header in which a request carries a key by which its service knows it again.
type KeyHeader string

func (KeyHeader) expects() string { return "true, false or the name of a header" }

// The header for true, and what stands for false.
const (
	usualKeyHeader KeyHeader = "Idempotency-Key"
	noKeyHeader    KeyHeader = "none "
)

// Name returns the header's name; "" without a key.
func (h KeyHeader) Name() string {
	if h == noKeyHeader {
		return ""
	}
	return string(h)
}

// read reads true, false or a name.
func (h *KeyHeader) read(l *loader, n *yaml.Node, key string) {
	isBool := n.ShortTag() == "!!bool"
	switch {
	case isBool && n.Value == "true":
		*h = usualKeyHeader
		return
	case isBool && n.Value == "false":
		*h = noKeyHeader
		return
	case n.ShortTag() != "!!str":
		l.mismatch(n, reflect.TypeFor[KeyHeader](), key)
		return
	}
	name := ""
	l.scalar(n, reflect.ValueOf(&name).Elem(), key, field{})
	switch {
	case !l.ok(key):
	case !headerToken(name) || len(name) > 64:
		l.errorf(key, "%s is not the name of a header: at most 64 characters of a token (RFC 9110)", quote(name))
	case forbiddenKeyHeader(name):
		l.errorf(key, "%s is a header with a meaning of its own", quote(name))
	default:
		*h = KeyHeader(name)
	}
}

// forbiddenKeyHeader reports whether a key in the header would say something else to the service.
func forbiddenKeyHeader(name string) bool {
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	for _, prefix := range []string{"accept", "authorization", "connection", "content-", "cookie", "dpop", "expect", "forwarded", "host", "if-", "keep-alive",
		"mcp-", "origin", "proxy", "proxy-", "range", "te", "trailer", "transfer-", "traceparent", "tracestate", "baggage", "upgrade", "user-agent", "x-forwarded-", "x-http-method"} {
		if name == prefix || strings.HasSuffix(prefix, "-") && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
