package gateway_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"drawbridge/gateway"
	"drawbridge/gateway/account"
	"drawbridge/test/gatewaytest"
)

// TestAccountCanaries is T1, E4 for accounts: whatever the service's authorization server repeats of what it was sent, neither the tokens of an
// account nor the client secret, the code or the state come out in logs, spans, pages or results.
func TestAccountCanaries(t *testing.T) {
	w := newAccountWorld(t, 0)
	hidden := gatewaytest.Canaries{
		"access token": "access-canary-51c09d-and-more", "refresh token": "refresh-canary-e2b74a-and-more", "client secret": "service-secret-0123456789", "code": "code-canary-3fd816-and-more",
		"client authentication": base64.StdEncoding.EncodeToString([]byte("at-shop:service-secret-0123456789")), // the secret's own base64 has another alignment
	}
	var later atomic.Int64 // how far the gateway's clock is ahead
	var mode atomic.Value  // how the authorization server responds
	mode.Store("")
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		said := strconv.Quote(r.Header.Get("Authorization") + r.PostForm.Encode())
		rw.Header().Set("Content-Type", "application/json")
		switch mode.Load() {
		case "refuse":
			rw.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(rw, `{"error":"invalid_grant","error_description":`+said+`}`)
		case "strange":
			rw.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(rw, `{"error":`+said+`}`)
		case "garbage":
			_, _ = io.WriteString(rw, said)
		case "redirect":
			rw.Header().Set("Location", "http://127.0.0.1:1/?"+r.PostForm.Encode())
			rw.WriteHeader(http.StatusTemporaryRedirect)
		default:
			_, _ = fmt.Fprintf(rw, `{"access_token":%q,"refresh_token":%q,"token_type":"Bearer","expires_in":600}`, hidden["access token"], hidden["refresh token"])
		}
	}))
	t.Cleanup(server.Close)
	cfg := w.config(fmt.Sprintf(", state_dir: %q", t.TempDir())) + "telemetry: {log_level: debug}\n"
	cfg = strings.NewReplacer(w.login.Issuer()+"/token", server.URL+"/token", w.login.Issuer()+"/revoke", server.URL+"/revoke").Replace(cfg)
	log, spans := &gatewaytest.Sink{}, tracetest.NewSpanRecorder()
	logger := slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c := gatewaytest.Configure(t, t.TempDir(), w.document, cfg, w.service.URL)
	g, err := gateway.New(gateway.Options{Config: c, Logger: logger, TracerProvider: trace.NewTracerProvider(trace.WithSpanProcessor(spans)),
		Test: gateway.TestOptions{Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	check := func(where, text string) {
		t.Helper()
		if names := hidden.Found(text); len(names) > 0 {
			t.Errorf("%s: %v came out:\n%s", where, names, text)
		}
	}
	connect := func(kind string) {
		t.Helper()
		mode.Store(kind)
		alice := w.browser(g, "alice", "alice@shop")
		rec := alice.open(http.MethodGet, alice.atIssuer(w.link(g, "alice", "list")), nil)
		u, err := url.Parse(rec.Header().Get("Location"))
		if err != nil || u.Query().Get("state") == "" {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		state := u.Query().Get("state")
		hidden["state "+kind] = state[16:] // the name of the cookie has its beginning, by which the browser's logins are told apart
		query := url.Values{"state": {state}, "code": {hidden["code"]}}
		if kind == "denied" {
			query = url.Values{"state": {state}, "error": {"access_denied"}, "error_description": {hidden["code"] + state}}
		}
		page := alice.open(http.MethodGet, gatewaytest.PublicURL+"/account/callback/shop?"+query.Encode(), nil)
		check("page "+kind, fmt.Sprint(page.Header(), page.Body))
		if (page.Code == http.StatusOK) != (kind == "") {
			t.Errorf("%q: %d %s", kind, page.Code, page.Body)
		}
	}
	for _, kind := range []string{"denied", "refuse", "strange", "garbage", "redirect", ""} {
		connect(kind)
	}
	check("result", w.call(g, "alice", "list"))
	if len(w.calls) == 0 || w.calls[0] != hidden["access token"] {
		t.Fatalf("the service got %q", w.calls)
	}
	w.mu.Lock()
	w.rejected[hidden["access token"]] = true
	w.mu.Unlock()
	for _, kind := range []string{"strange", "garbage", "redirect", "refuse"} { // the token is refreshed
		mode.Store(kind)
		check("result "+kind, w.call(g, "alice", "list"))
		later.Add(int64(2 * time.Second)) // a token endpoint that fails is not asked again at once
	}
	connect("")
	mode.Store("refuse")
	all, err := gateway.OpenAccounts(c, logger)
	if err != nil {
		t.Fatal(err)
	}
	list, err := all.List(t.Context())
	check("list", fmt.Sprint(list, err))
	done, err := all.Revoke(t.Context(), func(*account.Account) bool { return true })
	if err != nil || len(done) != 1 || done[0].Err == nil {
		t.Errorf("%+v %v", done, err)
	}
	check("revocation", fmt.Sprint(done, err))
	for line := range strings.Lines(log.String()) {
		check("log", line)
	}
	if !strings.Contains(log.String(), "could not be connected") || len(spans.Ended()) == 0 {
		t.Error("nothing was logged, or there are no spans")
	}
	for _, s := range spans.Ended() {
		check("span "+s.Name(), fmt.Sprint(s.Attributes(), s.Events(), s.Status(), s.Links()))
	}
}
