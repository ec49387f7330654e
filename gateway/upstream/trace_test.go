package upstream

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"drawbridge/test/timebox"
)

// TestTracedHead: an answer to HEAD that names a coding has no body to decode, whoever stands around it.
func TestTracedHead(t *testing.T) {
	address := listen(t, func(conn net.Conn) {
		readRequest(conn)
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
		wait(conn)
	})
	client := newClient(Options{Name: "orders", BaseURL: address, TracerProvider: trace.NewTracerProvider()})
	defer client.Close()
	req := get(t, address)
	req.Method = http.MethodHead
	if got := outcome(client, req); got != "200 \"\"\n" {
		t.Error(got)
	}
}

// TestTracing is O13: a span for each call, the trace context but no baggage to
// the service, and no arguments or credentials in attributes.
func TestTracing(t *testing.T) {
	arrived := make(chan *http.Request, 10) // net/http tries a GET again when a used connection fails
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- r
		if r.URL.Path == "/fail" {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, "ok")
	}))
	defer server.Close()
	spans := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(spans))
	client := newClient(Options{
		Name: "orders", BaseURL: parse(t, server.URL), TracerProvider: provider,
		Wrap: func(next http.RoundTripper) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) {
				r = r.Clone(r.Context())
				r.URL.RawQuery += "&key=credential-canary"
				return next.RoundTrip(r)
			})
		},
	})
	defer client.Close()
	for _, c := range []struct{ path, want string }{
		{"/orders/argument-canary?q=argument-canary", "200 \"ok\"\n"},
		{"/fail", "truncated\n"},
	} {
		member, err := baggage.NewMember("user", "baggage-canary")
		if err != nil {
			t.Fatal(err)
		}
		bag, err := baggage.New(member)
		if err != nil {
			t.Fatal(err)
		}
		req := get(t, parse(t, server.URL+c.path))
		req = req.WithContext(baggage.ContextWithBaggage(req.Context(), bag))
		ctx, parent := provider.Tracer("test").Start(req.Context(), "tool")
		if got := outcome(client, req.WithContext(ctx)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", c.path, got)
		}
		parent.End()
		got := timebox.Receive(t, arrived)
		if id := parent.SpanContext().TraceID().String(); !strings.Contains(got.Header.Get("Traceparent"), id) || got.Header.Get("Baggage") != "" {
			t.Errorf("the service got %v", got.Header)
		}
		if want := c.path + "&key=credential-canary"; c.path != "/fail" && got.URL.String() != want {
			t.Errorf("the service got %s, want %s", got.URL, want)
		}
	}
	var names []string
	for _, s := range spans.Ended() {
		names = append(names, s.Name())
		if text := fmt.Sprint(s.Attributes(), s.Events(), s.Status()); strings.Contains(text, "canary") {
			t.Errorf("span %s tells %s", s.Name(), text)
		}
	}
	if diff := cmp.Diff([]string{"GET orders", "tool", "GET orders", "tool"}, names); diff != "" {
		t.Error(diff)
	}
}
