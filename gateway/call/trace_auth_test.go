package call_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"drawbridge/auth/authtest"
	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

// tracedGuard is a gateway with tracing that asks for tokens.
func tracedGuard(t *testing.T, cfg string) (*gateway.Gateway, *tracetest.SpanRecorder) {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	g, err := gateway.New(gateway.Options{Config: gatewaytest.Configure(t, t.TempDir(), gatewaytest.Document("Shop", "list", "purge"), cfg, gatewaytest.NewRecordingService(t).URL),
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g, spans
}

// spansOf tells the spans since the last time in short, with their attributes of a check, and gives them back by name.
func spansOf(spans *tracetest.SpanRecorder) (told []string, byName map[string]sdktrace.ReadOnlySpan) {
	byName = map[string]sdktrace.ReadOnlySpan{}
	for _, s := range spans.Ended() {
		text := s.Name()
		if s.Name() == "auth" {
			for _, a := range s.Attributes() {
				text += " " + a.Value.String()
			}
		}
		told, byName[s.Name()] = append(told, text), s
	}
	spans.Reset()
	return told, byName
}

// TestCheckHasASpan: what a token costs is a span of the call, which begins with it; a token that is known has none, and one that is no good
// makes none at all.
func TestCheckHasASpan(t *testing.T) {
	for _, revision := range gatewaytest.Eras {
		t.Run(revision, func(t *testing.T) {
			i := gatewaytest.NewIDP(t)
			g, spans := tracedGuard(t, fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)))
			want := func(what string, want ...string) map[string]sdktrace.ReadOnlySpan {
				t.Helper()
				told, byName := spansOf(spans)
				if fmt.Sprint(told) != fmt.Sprint(want) {
					t.Fatalf("%s: spans %q, want %q", what, told, want)
				}
				return byName
			}
			first := i.Token(t, map[string]any{"sub": "subject-canary", "client_id": "client-canary"})
			modern := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", first)
			modern.Header.Set("Traceparent", gatewaytest.ParentHeader)
			if w := modern.Call("list"); !gatewaytest.Succeeded(w) {
				t.Fatal(w.Code, w.Body)
			}
			all := want("a new token, and no keys", "auth keys "+i.URL+" ok", "GET /list", "tools/call list")
			check, server := all["auth"], all["tools/call list"]
			if check.Parent().SpanID() != server.SpanContext().SpanID() || server.Parent().TraceID().String() != gatewaytest.TraceOfHeader || check.SpanKind() != trace.SpanKindInternal {
				t.Errorf("it is a span of %v, and the call one of %v", check.Parent(), server.Parent())
			}
			if !check.StartTime().Equal(server.StartTime()) || check.EndTime().After(all["GET /list"].StartTime()) || !check.EndTime().After(check.StartTime()) {
				t.Errorf("from %v to %v, the call from %v", check.StartTime(), check.EndTime(), server.StartTime())
			}
			for _, s := range all {
				if text := fmt.Sprint(s.Attributes(), s.Events(), s.Status(), s.Name()); strings.Contains(text, "canary") || strings.Contains(text, "k1") || strings.Contains(text, first[:12]) {
					t.Errorf("span %s tells %s", s.Name(), text)
				}
			}
			if w := modern.Call("list"); !gatewaytest.Succeeded(w) {
				t.Fatal(w.Code, w.Body)
			}
			want("a token that is known", "GET /list", "tools/call list")

			c := gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, map[string]any{"sub": "bob"}))
			c.Header.Set("Traceparent", gatewaytest.ParentHeader)
			if w := c.Send("tools/list", "", ""); w.Code != http.StatusOK {
				t.Fatal(w.Code, w.Body)
			}
			begun := []string{"auth signature " + i.URL + " ok"} // the spans of a new caller's first message
			if revision != "2026-07-28" {
				begun = append(begun, "initialize")
			}
			requests := append(slices.Clone(begun), "tools/list")
			all = want("requests that are no calls", requests...)
			server = all[requests[1]]
			if got := all["auth"].Parent(); got.SpanID() != server.SpanContext().SpanID() || server.Parent().SpanID().String() != gatewaytest.SpanOfHeader {
				t.Errorf("it is a span of %v, and the request one of %v", got, server.Parent())
			}
			if w := c.Call("list"); !gatewaytest.Succeeded(w) {
				t.Fatal(w.Code, w.Body)
			}
			want("a call afterwards", "GET /list", "tools/call list")
			for name, token := range map[string]string{
				"expired": i.Token(t, map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}),
				"forged":  newIDPAs(t, i).Token(t, nil),
				"none":    "x.y.z",
			} {
				if w := gatewaytest.NewClient(t, g.Handler(), revision, token).Call("list"); w.Code != http.StatusUnauthorized {
					t.Errorf("%s: %d", name, w.Code)
				}
				want(name)
			}
			if w := gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, map[string]any{"sub": "erin"})).Call("purge"); w.Code != http.StatusForbidden && w.Code != http.StatusOK {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			want("a call that its scopes do not suffice for", append(begun, "tools/call")...)
		})
	}
}

// newIDPAs claims to be another, and signs with its own key.
func newIDPAs(t *testing.T, i *gatewaytest.IDP) *gatewaytest.IDP {
	stranger := gatewaytest.NewIDP(t)
	stranger.URL = i.URL
	return stranger
}

// TestIntrospectionHasASpan: so is a question to the issuer, and one that gets no answer; however many of these there are, one a second is told.
func TestIntrospectionHasASpan(t *testing.T) {
	server, err := authtest.Start(authtest.Options{
		OpaqueTokens: true, Resources: []string{gatewaytest.ResourceURL}, Clients: []authtest.Client{{ID: "drawbridge", Secret: "s3cr3t-s3cr3t"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	g, spans := tracedGuard(t, fmt.Sprintf(`server: {public_url: https://mcp.example.com}
auth:
  issuers: [{issuer: "%s", tokens: opaque, introspection: {client_id: drawbridge, client_secret: "${NONE:-s3cr3t-s3cr3t}"}}]
  default_scopes: [mcp:tools]
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
`, server.Issuer()))
	good, err := server.Issue(authtest.Token{Scopes: []string{"mcp:tools"}, ClientID: "app", Life: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []string{"[auth introspection " + server.Issuer() + " ok GET /list tools/call list]", "[GET /list tools/call list]"} {
		if w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], good).Call("list"); !gatewaytest.Succeeded(w) {
			t.Fatal(w.Code, w.Body)
		}
		if told, _ := spansOf(spans); fmt.Sprint(told) != want {
			t.Errorf("call %d: %v, want %v", n, told, want)
		}
	}
	server.Fail(authtest.Introspection, &authtest.Failure{})
	begin := time.Now()
	for n := range 20 {
		if w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], fmt.Sprintf("stranger-%d", n)).Call("list"); w.Code != http.StatusServiceUnavailable {
			t.Fatal(w.Code, w.Body)
		}
	}
	told, byName := spansOf(spans)
	if most := 1 + int(time.Since(begin)/time.Second); len(told) == 0 || len(told) > most || told[0] != "auth introspection "+server.Issuer()+" unavailable unavailable" {
		t.Fatalf("while the issuer is away: %q", told)
	}
	if s := byName["auth"]; s.Status().Code != codes.Error || strings.Contains(fmt.Sprint(s.Attributes(), s.Events()), "stranger") {
		t.Errorf("%v %v", s.Status(), s.Attributes())
	}
}
