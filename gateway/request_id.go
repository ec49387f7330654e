package gateway

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"drawbridge/gateway/clientip"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi/jsonscan"
)

const maxRequestID = 64

// requestID names a request in the log and in the audit log. It is made when it is first asked for, since most requests leave no
// line. It is safe for concurrent use.
type requestID struct {
	given string // by a proxy that is trusted; "": none
	once  sync.Once
	id    string
}

// request returns the request's name.
func (v *requestInfo) request() string {
	v.id.once.Do(func() {
		if v.id.id = v.id.given; v.id.id == "" {
			v.id.id = newRequestID()
		}
	})
	return v.id.id
}

// tell names the request in the header of its answer, which nobody has begun yet: who was refused says which request it was, and finds it in the log and
// the audit log (P7).
func (v *requestInfo) tell() {
	if v.answer != nil {
		v.answer[mcp.RequestIDHeader] = []string{v.request()}
	}
}

// tellRequest is tell for the request of a context.
func tellRequest(ctx context.Context) {
	if v := requestInfoOf(ctx); v != nil {
		v.tell()
	}
}

// named names the request of a call that failed, as the log and the audit log do, in the header of its answer and in the member of _meta that it
// returns: who reports it says which it was, and the model has nothing more to read (P7). Who runs the program has its log.
func (c *call) named() []byte {
	v := requestInfoFrom(c.ctx)
	if v.operator {
		return nil
	}
	id := v.request()
	if c.kept == nil {
		c.reply.SetHeader(mcp.RequestIDHeader, id)
	}
	return jsonscan.AppendString([]byte(`"drawbridge/request":`), id)
}

// newRequestID makes a name that no other request has: 80 random bits. It is no secret, so it costs no look at the system's source.
func newRequestID() string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	var text [16]byte
	low, high := rand.Uint64(), rand.Uint64()
	for i := range 8 {
		text[i], text[8+i] = digits[low&31], digits[high&31]
		low, high = low>>5, high>>5
	}
	return string(text[:])
}

// forwardedRequestID returns the request id that a trusted proxy has set; "" if there is none or the peer is not trusted: a client that
// chose ids could make two requests look like one.
func forwardedRequestID(clients *clientip.Resolver, r *http.Request) string {
	values := r.Header[mcp.RequestIDHeader]
	if len(values) != 1 || !isRequestID(values[0]) || !clients.PeerTrusted(r) {
		return ""
	}
	return values[0]
}

// isRequestID tells whether a name has only characters that mean nothing in any log.
func isRequestID(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == ':', c == '=', c == '/', c == '+':
		default:
			return false
		}
	}
	return s != "" && len(s) <= maxRequestID
}

// named is a log handler that names the request, and its trace if there is one, in each record that is written for one.
type named struct{ slog.Handler }

// Handle implements [slog.Handler].
func (n named) Handle(ctx context.Context, r slog.Record) error {
	if v := requestInfoOf(ctx); v != nil {
		r.AddAttrs(slog.String("request", v.request()))
	}
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		r.AddAttrs(slog.String("trace", span.TraceID().String()))
	}
	return n.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (n named) WithAttrs(attrs []slog.Attr) slog.Handler { return named{n.Handler.WithAttrs(attrs)} }

// WithGroup implements [slog.Handler].
func (n named) WithGroup(name string) slog.Handler { return named{n.Handler.WithGroup(name)} }
