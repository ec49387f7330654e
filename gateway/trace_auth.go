package gateway

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

// What the token of a request has cost is known before the request is read, and so before the parent of its call's span, which may stand in the body.
// Therefore it is kept with the request, and the span is made afterwards, with its times.

// failedChecks is when one of the checks that came to nothing had a span last, Unix time in ns. Anybody can cause these while an issuer is away, so
// there is one a second.
type failedChecks struct{ last atomic.Int64 }

func (f *failedChecks) told(now time.Time) bool {
	last := f.last.Load()
	return now.UnixNano()-last >= int64(time.Second) && f.last.CompareAndSwap(last, now.UnixNano())
}

// noteCheck takes note of what the token of a request has cost; see [auth.Options].Checked.
func (g *Gateway) noteCheck(r *http.Request, c auth.Check) {
	if c.Failed {
		if g.checks.told(c.End) {
			g.checkSpan(propagation.TraceContext{}.Extract(r.Context(), headerParent(r.Header)), &c)
		}
		return
	}
	if v, ok := r.Context().Value(requestInfoKey{}).(*requestInfo); ok {
		v.check.Store(&c)
	}
}

// checkOf returns what the token of the request has cost that brought a call, to the first of its calls; nil: nothing.
func checkOf(ctx context.Context) *auth.Check {
	v, ok := ctx.Value(requestInfoKey{}).(*requestInfo)
	if !ok || v.check.Load() == nil { // all but few
		return nil
	}
	return v.check.Swap(nil)
}

// tellCheck tells what the token of a request has cost that brought no call. Proofs are left out: there is one for each request.
func (g *Gateway) tellCheck(r *http.Request, v *requestInfo) {
	if v.check.Load() == nil {
		return
	}
	if c := v.check.Swap(nil); c != nil && c.Kind != auth.CheckProof {
		g.checkSpan(propagation.TraceContext{}.Extract(r.Context(), headerParent(r.Header)), c)
	}
}

// checkSpan makes the span of a check below that of ctx.
func (g *Gateway) checkSpan(ctx context.Context, c *auth.Check) {
	o := "ok"
	if c.Failed {
		o = "unavailable"
	}
	_, span := g.tracer.Start(ctx, "auth", trace.WithTimestamp(c.Begin), trace.WithAttributes(
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
