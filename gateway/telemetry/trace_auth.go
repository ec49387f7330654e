package telemetry

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"drawbridge/auth"
)

// PendingCheck keeps the token check of a request until there is a span for it: the token is checked before the request is read,
// and the parent of the call's span may stand in the body. The zero value holds none. It is safe for concurrent use.
type PendingCheck struct{ check atomic.Pointer[auth.Check] }

// Set keeps a check.
func (p *PendingCheck) Set(c *auth.Check) { p.check.Store(c) }

// take returns the check to its first caller; nil if there is none.
func (p *PendingCheck) take() *auth.Check {
	if p.check.Load() == nil { // nearly always
		return nil
	}
	return p.check.Swap(nil)
}

// failedChecks holds when a failed check last had a span, in Unix nanoseconds. Any client can cause these while an issuer is away, so
// there is one span a second.
type failedChecks struct{ last atomic.Int64 }

// take reports whether a check that failed now has a span.
func (f *failedChecks) take(now time.Time) bool {
	last := f.last.Load()
	return now.UnixNano()-last >= int64(time.Second) && f.last.CompareAndSwap(last, now.UnixNano())
}

// Checked takes note of a token check; see [auth.Options].Checked. A failed one ends its request, so that its span is made at once; another one waits
// in pending, unless that is nil.
func (t *Tracer) Checked(r *http.Request, c auth.Check, pending *PendingCheck) {
	if c.Failed {
		if t.failed.take(c.End) {
			t.checkSpan(propagation.TraceContext{}.Extract(r.Context(), headerParent(r.Header)), &c)
		}
		return
	}
	if pending != nil {
		pending.Set(&c)
	}
}

// EndRequest makes the span of a check whose request brought no call. Proofs have none, since each request has one.
func (t *Tracer) EndRequest(r *http.Request, pending *PendingCheck) {
	if c := pending.take(); c != nil && c.Kind != auth.CheckProof {
		t.checkSpan(propagation.TraceContext{}.Extract(r.Context(), headerParent(r.Header)), c)
	}
}

// checkSpan makes the span of a check below that of ctx.
func (t *Tracer) checkSpan(ctx context.Context, c *auth.Check) {
	o := "ok"
	if c.Failed {
		o = "unavailable"
	}
	_, span := t.tracer.Start(ctx, "auth", trace.WithTimestamp(c.Begin), trace.WithAttributes(
		attribute.String("drawbridge.auth.check", string(c.Kind)),
		attribute.String("drawbridge.issuer", c.Issuer),
		attribute.String("drawbridge.outcome", o),
	))
	if c.Failed {
		span.SetStatus(codes.Error, o)
		span.SetAttributes(attribute.String("error.type", o))
	}
	span.End(trace.WithTimestamp(c.End))
}
