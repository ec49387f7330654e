package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"drawbridge/gateway/mcp"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// Message is what spans say of a JSON-RPC message and its way to the gateway. The zero value is that of a call that no message makes.
type Message struct {
	// ID is the request id as the client wrote it; nil for a notification.
	ID json.RawMessage
	// TraceParent and TraceState are those of params._meta, "" if there are none.
	TraceParent, TraceState string
	// Revision is that of MCP.
	Revision string
	// HTTP is the protocol of the request, such as HTTP/1.1; "" for standard input.
	HTTP string
	// Client is the client's address as far as it is known.
	Client netip.Addr
}

// MessageOf returns the message of a request. Its ID is that of req, and valid as long.
func MessageOf(req *mcp.Request, client netip.Addr) Message {
	return Message{ID: req.ID, TraceParent: req.Meta.TraceParent, TraceState: req.Meta.TraceState, Revision: req.Revision, HTTP: req.HTTP.Proto, Client: client}
}

// maxRequestID is the longest request id in a span, in bytes: clients make them up.
const maxRequestID = 64

// attributes appends what the conventions for MCP have for every message, whose HTTP request has the header h. The session id is a
// handle that a caller may act by, so its digest stands for it.
func (m *Message) attributes(dst []attribute.KeyValue, h http.Header) []attribute.KeyValue {
	if m.Revision != "" {
		dst = append(dst, attribute.String("mcp.protocol.version", m.Revision))
	}
	if m.ID == nil && m.Revision == "" {
		return dst
	}
	if len(m.ID) > 0 {
		id := m.ID
		if id[0] == '"' { // a number is told as it is
			id = jsonscan.Unquote(id)
		}
		dst = append(dst, attribute.String("jsonrpc.request.id", text.Truncate(string(id), maxRequestID)))
	}
	if session := SessionDigest(h); session != "" {
		dst = append(dst, attribute.String("mcp.session.id", session))
	}
	if m.HTTP == "" {
		return append(dst, attribute.String("network.transport", "pipe"))
	}
	dst = append(dst, attribute.String("network.transport", "tcp"), attribute.String("network.protocol.name", "http"),
		attribute.String("network.protocol.version", strings.TrimSuffix(strings.TrimPrefix(m.HTTP, "HTTP/"), ".0")))
	if m.Client.IsValid() {
		dst = append(dst, attribute.String("client.address", m.Client.String()))
	}
	return dst
}

// sessionDigestLength is the length of the digest of a session id, in hexadecimal digits.
const sessionDigestLength = 16

// SessionDigest returns the digest of the session id of a request: the first 16 hexadecimal digits of its SHA-256; "" if the request
// belongs to no session.
func SessionDigest(h http.Header) string {
	values := h["Mcp-Session-Id"]
	if len(values) != 1 || values[0] == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(values[0]))
	return hex.EncodeToString(sum[:sessionDigestLength/2])
}
