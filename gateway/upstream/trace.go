package upstream

import (
	"context"
	"net/http"
	"net/url"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// traced creates a span for each call. Attributes must not contain arguments (O13), but otelhttp
// records the whole URL with path and query. Therefore it gets a URL of scheme and host only, and
// restoreURL puts the real one back below it.
type traced struct{ spans http.RoundTripper }

type targetKey struct{}

type templateKey struct{}

// WithTemplate returns a context whose requests have a URL template, which names their spans. It
// must not contain arguments of the call.
func WithTemplate(ctx context.Context, path string) context.Context {
	return context.WithValue(ctx, templateKey{}, path)
}

func newTraced(p trace.TracerProvider, name string, next http.RoundTripper) traced {
	return traced{otelhttp.NewTransport(restoreURL{next},
		otelhttp.WithTracerProvider(p),
		otelhttp.WithMeterProvider(noop.NewMeterProvider()), // the gateway has its own metrics
		otelhttp.WithPropagators(propagation.TraceContext{}),
		otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string {
			if path, ok := r.Context().Value(templateKey{}).(string); ok {
				return r.Method + " " + path
			}
			return r.Method + " " + name
		}),
	)}
}

// propagate sends the trace context of a request's context, if there is one (W3C Trace Context
// section 4). It writes to req.Header.
func propagate(req *http.Request) {
	if ctx := req.Context(); trace.SpanContextFromContext(ctx).IsValid() {
		propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(req.Header))
	}
}

// RoundTrip implements [http.RoundTripper].
func (t traced) RoundTrip(req *http.Request) (*http.Response, error) {
	shown := req.WithContext(context.WithValue(req.Context(), targetKey{}, req.URL))
	shown.URL = &url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host}
	return t.spans.RoundTrip(shown)
}

// restoreURL restores the URL that traced removed.
type restoreURL struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (r restoreURL) RoundTrip(req *http.Request) (*http.Response, error) {
	target, ok := req.Context().Value(targetKey{}).(*url.URL)
	if ok {
		req = req.WithContext(req.Context())
		req.URL = target
	}
	span := trace.SpanFromContext(req.Context())
	if path, ok := req.Context().Value(templateKey{}).(string); ok {
		span.SetAttributes(attribute.String("url.template", path))
	}
	if n, ok := req.Context().Value(attemptKey{}).(int); ok {
		span.SetAttributes(attribute.Int("http.request.resend_count", n))
	}
	return r.next.RoundTrip(req)
}
