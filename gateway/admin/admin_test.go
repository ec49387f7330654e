package admin

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func status(ready, draining bool) func() Status {
	return func() Status {
		return Status{Ready: ready, Draining: draining, Tools: 3, Config: Config{Error: "c.yaml:1:1: apis: expected a list"},
			APIs: []API{
				{Name: "orders", State: Ready, Tools: 3, Skipped: 1, Problems: 2, Breaker: "half_open"},
				{Name: "billing", State: Failed, Error: "load spec \"b.yaml\": no such file"},
			}}
	}
}

// access are rules with a token, for the host that httptest asks for.
func access(token string) func() *Access {
	a := NewAccess(token, []string{"example.com"}, false)
	return func() *Access { return a }
}

func TestRoutes(t *testing.T) {
	reloads := 0
	var reloadErr error
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "some_total", Help: "x"})
	registry.MustRegister(counter)
	with := func(o Options) Options {
		o.Metrics = registry
		if o.Access == nil {
			o.Access = access("")
		}
		o.Reload = func(context.Context) error { reloads++; return reloadErr }
		if o.Status == nil {
			o.Status = status(true, false)
		}
		return o
	}
	secret := "s3cret"
	for _, tt := range []struct {
		name           string
		options        Options
		method, target string
		header         http.Header
		reloadErr      error
		status         int
		body           string
		reloads        int
	}{
		{name: "live", method: "GET", target: "/healthz", status: 200, body: "ok\n"},
		{name: "ready", method: "GET", target: "/readyz", status: 200, body: "ready\n"},
		{name: "not ready", options: Options{Status: func() Status { return Status{APIs: []API{{State: Loading}, {State: Failed}}} }}, method: "GET", target: "/readyz",
			status: 503, body: "no API is served yet\n"},
		{name: "not ready, though some are", options: Options{Status: status(false, false)}, method: "GET", target: "/readyz", status: 503,
			body: "some APIs are not served yet, and server.ready waits for them\n"},
		{name: "not ready, verbose", options: Options{Status: func() Status {
			return Status{Tools: 3, APIs: []API{{Name: "orders", State: Ready, Tools: 3}, {Name: "billing", State: Loading}}}
		}}, method: "GET", target: "/readyz?verbose", status: 503, body: "some APIs are not served yet, and server.ready waits for them: 3 tools\n" +
			"api orders: ready: 3 tools, 0 operations skipped, 0 problems\n" +
			"api billing: loading: 0 tools, 0 operations skipped, 0 problems\n"},
		{name: "without keys of an issuer", options: Options{Status: func() Status {
			return Status{NotReady: NoIssuer, Tools: 3, Issuers: []Issuer{{Issuer: "https://idp.example.com", Error: "discover: status 502"}, {Issuer: "https://other.example.com", Introspection: true, Able: true}},
				Audit: &Audit{Writable: true, Pending: 2}, Shared: &Shared{Up: true, Replicas: 3}}
		}}, method: "GET", target: "/readyz?verbose", status: 503, body: "no token can be verified: no issuer has keys, or some issuers were not tried yet: 3 tools\n" +
			"issuer https://idp.example.com: no keys: discover: status 502\n" +
			"issuer https://other.example.com: introspection\n" +
			"audit log: writable, 2 records wait\n" +
			"shared state: up, 3 replicas\n"},
		{name: "without an audit log", options: Options{Status: func() Status {
			at := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
			return Status{NotReady: NoAudit, Tools: 3, Issuers: []Issuer{{Issuer: "https://idp.example.com", Keys: 2, Able: true, Stored: true, Fetched: &at}},
				Audit: &Audit{Since: at, Pending: 2, Refuses: true, Error: "no space left on device"}, Shared: &Shared{Since: at, Replicas: 3, Error: "refused"}}
		}}, method: "GET", target: "/readyz?verbose", status: 503, body: "the audit log can't be written, and calls are refused: 3 tools\n" +
			"issuer https://idp.example.com: 2 keys, fetched at 2026-11-28T09:00:00Z by an earlier process\n" +
			"audit log: not writable since 2026-11-28T09:00:00Z, calls are refused, 2 records wait: no space left on device\n" +
			"shared state: away since 2026-11-28T09:00:00Z, 3 replicas were last seen: refused\n"},
		{name: "draining without an audit log", options: Options{Status: func() Status { return Status{Draining: true, NotReady: NoAudit} }}, method: "GET", target: "/readyz",
			status: 503, body: "draining\n"},
		{name: "draining", options: Options{Status: status(true, true)}, method: "GET", target: "/readyz", status: 503, body: "draining\n"},
		{name: "verbose", method: "GET", target: "/readyz?verbose", status: 200, body: "ready: 3 tools\n" +
			"config: the last good one is in use, the newer one was refused: c.yaml:1:1: apis: expected a list\n" +
			"api orders: ready: 3 tools, 1 operations skipped, 2 problems, breaker half_open\n" +
			"api billing: failed: 0 tools, 0 operations skipped, 0 problems: load spec \"b.yaml\": no such file\n"},
		{name: "reload without a token configured", method: "POST", target: "/reload", status: 403,
			body: "reload over HTTP is off: set admin.token in the configuration, or send SIGHUP\n"},
		{name: "reload without a token given", options: Options{Access: access(secret)}, method: "POST", target: "/reload", status: 401,
			body: "send the token admin.token as \"Authorization: Bearer …\"\n"},
		{name: "reload with a wrong token", options: Options{Access: access(secret)}, method: "POST", target: "/reload",
			header: http.Header{"Authorization": {"Bearer s3cre"}}, status: 401,
			body: "send the token admin.token as \"Authorization: Bearer …\"\n"},
		{name: "reload from a page", options: Options{Access: access(secret)}, method: "POST", target: "/reload",
			header: http.Header{"Authorization": {"Bearer s3cret"}, "Origin": {"http://127.0.0.1"}}, status: 403,
			body: "reload is not for web pages\n"},
		{name: "reload from another site", options: Options{Access: access(secret)}, method: "POST", target: "/reload",
			header: http.Header{"Authorization": {"Bearer s3cret"}, "Sec-Fetch-Site": {"cross-site"}}, status: 403,
			body: "reload is not for web pages\n"},
		{name: "reload", options: Options{Access: access(secret)}, method: "POST", target: "/reload",
			header: http.Header{"Authorization": {"Bearer s3cret"}}, status: 200, body: "reloaded\n", reloads: 1},
		{name: "reload that fails", options: Options{Access: access(secret)}, method: "POST", target: "/reload", reloadErr: errors.New("c.yaml:2:3: bad"),
			header: http.Header{"Authorization": {"Bearer s3cret"}}, status: 422, body: "c.yaml:2:3: bad\n", reloads: 1},
		{name: "no reload at a path that is the same to a server that cleans it", options: Options{Access: access(secret)}, method: "POST", target: "http://example.com//reload",
			header: http.Header{"Authorization": {"Bearer s3cret"}}, status: 404, body: "404 page not found\n"},
		{name: "no redirect to a path without dots", options: Options{Access: access(secret)}, method: "POST", target: "/apis/../reload",
			header: http.Header{"Authorization": {"Bearer s3cret"}}, status: 404, body: "404 page not found\n"},
		{name: "no reload by GET", options: Options{Access: access(secret)}, method: "GET", target: "/reload", status: 405, body: "Method Not Allowed\n"},
		{name: "acceptance without a token configured", method: "POST", target: "/apis/orders/accept", status: 403,
			body: "accepting a document over HTTP is off: set admin.token in the configuration\n"},
		{name: "acceptance without a token given", options: Options{Access: access(secret)}, method: "POST", target: "/apis/orders/accept", status: 401,
			body: "send the token admin.token as \"Authorization: Bearer …\"\n"},
		{name: "acceptance from a page", options: Options{Access: access(secret)}, method: "POST", target: "/apis/orders/accept",
			header: http.Header{"Authorization": {"Bearer s3cret"}, "Origin": {"null"}}, status: 403,
			body: "accepting a document is not for web pages\n"},
		{name: "acceptance from the same site", options: Options{Access: access(secret)}, method: "POST", target: "/apis/orders/accept",
			header: http.Header{"Authorization": {"Bearer s3cret"}, "Sec-Fetch-Site": {"same-site"}}, status: 403,
			body: "accepting a document is not for web pages\n"},
		{name: "no acceptance by GET", options: Options{Access: access(secret)}, method: "GET", target: "/apis/orders/accept", status: 405, body: "Method Not Allowed\n"},
		{name: "unknown", method: "GET", target: "/debug/pprof", status: 404, body: "404 page not found\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reloads, reloadErr = 0, tt.reloadErr
			r := httptest.NewRequest(tt.method, tt.target, nil)
			for k, v := range tt.header {
				r.Header[k] = v
			}
			w := httptest.NewRecorder()
			Handler(with(tt.options)).ServeHTTP(w, r)
			if w.Code != tt.status || w.Body.String() != tt.body || reloads != tt.reloads {
				t.Errorf("%s %s = %d %q, %d reloads; want %d %q, %d", tt.method, tt.target, w.Code, w.Body, reloads, tt.status, tt.body, tt.reloads)
			}
			if w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Error("no security headers")
			}
		})
	}
	for target, want := range map[string]string{"/metrics": "some_total 0", "/apis": `"name": "billing"`} {
		w := httptest.NewRecorder()
		Handler(with(Options{})).ServeHTTP(w, httptest.NewRequest("GET", target, nil))
		if w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s = %d %s", target, w.Code, w.Body)
		}
	}
}

// TestSlowReload: who waits for a reload longer than the server has patience with answers, is answered (H7).
func TestSlowReload(t *testing.T) {
	slow := func(context.Context) error { time.Sleep(time.Minute); return nil }
	o := Options{Metrics: prometheus.NewRegistry(), Access: access("s3cret"), Reload: slow, Status: status(true, false),
		Accept: func(ctx context.Context, _, _ string) error { return slow(ctx) }}
	for path, want := range map[string]string{"/reload": "reloaded\n", "/apis/orders/accept": "accepted\n"} {
		synctest.Test(t, func(t *testing.T) {
			server, client := net.Pipe()
			s := &http.Server{Handler: Handler(o), WriteTimeout: 12 * time.Second}
			l := &oneConn{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
			l.conns <- server
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = s.Serve(l) // which says that it was closed
			}()
			transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return client, nil }}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.com"+path, http.NoBody)
			r.Header.Set("Authorization", "Bearer s3cret")
			if resp, err := transport.RoundTrip(r); err != nil {
				t.Error(err)
			} else if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK || string(body) != want {
				t.Errorf("%s: %s %q, %v", path, resp.Status, body, err)
			}
			transport.CloseIdleConnections()
			_ = s.Close()
			<-ended
		})
	}
}

// oneConn is a listener that has one connection.
type oneConn struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *oneConn) Close() error   { close(l.closed); return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }
