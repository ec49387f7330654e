package inbound

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/trace"
)

const maxRequestID = 64

// ID identifies a request in the log and the audit log. It is generated on first use, since most requests leave no log line. It is safe
// for concurrent use.
type ID struct {
	Given string // set by a trusted proxy; "" if none
	once  sync.Once
	id    string
	known atomic.Bool // once is over
}

// String returns the id.
func (d *ID) String() string {
	d.once.Do(func() {
		if d.id = d.Given; d.id == "" {
			d.id = newRequestID()
		}
		d.known.Store(true)
	})
	return d.id
}

// Known returns the id if a proxy, a log line or a client has it; otherwise "", as it would lead nowhere.
func (d *ID) Known() string {
	if d.known.Load() {
		return d.id
	}
	return d.Given
}

// newRequestID returns a unique ID of 80 random bits. It is not a secret, so it does not need the system's source of
// randomness.
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

// IsRequestID reports whether an ID has only characters without special meaning in any log.
func IsRequestID(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == ':', c == '=', c == '/', c == '+':
		default:
			return false
		}
	}
	return s != "" && len(s) <= maxRequestID
}

// LogHandler adds the request ID, and the trace if there is one, to each record of a request.
type LogHandler struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h LogHandler) Handle(ctx context.Context, r slog.Record) error {
	if v := Of(ctx); v != nil {
		r.AddAttrs(slog.String("request", v.ID()))
	}
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		r.AddAttrs(slog.String("trace", span.TraceID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h LogHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return LogHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h LogHandler) WithGroup(name string) slog.Handler {
	return LogHandler{h.Handler.WithGroup(name)}
}
