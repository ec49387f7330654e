package telemetry

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"drawbridge/gateway/mcp"
)

// RequestLog counts the HTTP requests to the endpoints and writes their lines in the access log. It is safe for concurrent use.
type RequestLog struct {
	o         RequestLogOptions
	refused   LogSampler // requests that may come again
	malformed LogSampler
}

// RequestLogOptions are the dependencies of a [RequestLog].
type RequestLogOptions struct {
	Metrics *Metrics
	Logger  *slog.Logger
	// ClientAddress returns the address that a request comes from.
	ClientAddress func(*http.Request) (netip.Addr, bool)
	// Operations are the spans and durations of messages; nil if there are none. Check returns the token check of a request.
	Operations *MCPOperations
	Check      func(*http.Request) *PendingCheck
	// Now is the clock; nil is [time.Now].
	Now func() time.Time
}

// NewRequestLog returns an empty log.
func NewRequestLog(o RequestLogOptions) *RequestLog {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &RequestLog{o: o, malformed: LogSampler{most: MaxMistakeLines}}
}

// Observe counts one HTTP request and writes its line, at debug level if all went
// well: at thousands of calls a second the log would be the largest cost of a call.
func (l *RequestLog) Observe(req *mcp.Request, e mcp.Event, called *mcp.Called) {
	r := req.HTTP
	method := cmp.Or(e.Method, "unknown")
	l.o.Metrics.request(method, e)
	if l.o.Operations != nil {
		client, _ := l.o.ClientAddress(r)
		l.o.Operations.observe(&operation{req, &e, called}, client, l.o.Check(r), l.o.Now())
	}
	level := slog.LevelDebug
	if e.HTTPStatus >= 400 || e.Code != 0 {
		level = slog.LevelInfo
	}
	line, counted := Sampled{Logged: true}, "drawbridge_requests_total"
	switch {
	case e.Panicked:
		l.o.Metrics.Panics.Inc()
		level = slog.LevelError
	case e.RetryStatus != 0:
		counted = "drawbridge_refused_total"
		line = l.refused.Sample(e.Method, strconv.Itoa(int(e.RetryStatus)), l.o.Now())
	case level == slog.LevelInfo:
		line = l.malformed.Sample(e.Method, strconv.Itoa(e.HTTPStatus)+" "+strconv.Itoa(e.Code), l.o.Now())
	}
	if !line.Logged {
		level = slog.LevelDebug
	}
	ctx := r.Context()
	if !l.o.Logger.Enabled(ctx, level) {
		return
	}
	client, _ := l.o.ClientAddress(r)
	attrs := [...]slog.Attr{
		slog.Any("client", client), slog.String("method", method), slog.String("revision", e.Revision), slog.Int("status", e.HTTPStatus),
		slog.Int("code", e.Code), slog.Int64("in", e.RequestBytes), slog.Int64("out", e.ResponseBytes), slog.Duration("duration", e.Duration),
	}
	l.o.Logger.LogAttrs(ctx, level, "request", line.Attrs(attrs[:], "requests are only counted, by "+counted)...)
}
