package gateway_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/gateway/console/signin"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/race"
)

// signedInPages signs in to the console with a token and returns what gets pages of it.
func signedInPages(t *testing.T, g *gateway.Gateway, token string) func(path string) string {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:9090/console/signin", strings.NewReader(url.Values{"token": {token}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	w := httptest.NewRecorder()
	g.Admin().ServeHTTP(w, r)
	var cookie string
	for _, c := range w.Result().Cookies() {
		if c.Name == signin.Cookie {
			cookie = c.Name + "=" + c.Value
		}
	}
	if cookie == "" {
		t.Fatalf("signing in: %d %s", w.Code, w.Body)
	}
	return func(path string) string {
		t.Helper()
		w := gatewaytest.Do(g.Admin(), http.MethodGet, path, http.Header{"Cookie": {cookie}})
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return w.Body.String()
	}
}

const (
	liveOperator = "operator-0123456789"
	liveViewer   = "viewer-0123456789"
	liveConfig   = "admin: {token: " + liveOperator + ", console: {show_bodies: %v, tokens: [{name: viewer, token: " + liveViewer + "}]}}\n"
)

// TestLive holds what each role sees of calls: callers for operators alone; arguments and answers only if they are
// configured, without secrets.
func TestLive(t *testing.T) {
	t.Parallel()
	const (
		echoed  = "upstream-key-that-is-long"
		issued  = "ghp_0123456789abcdefghijABCDEFGHIJ"
		hidden  = "sensitive-canary-7720"
		plain   = "plain-argument-9135"
		answers = "plain-answer-4482"
		caller  = "alice-canary-1180"
		client  = "client-canary-2210"
	)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"said":%q,"key":%q,"token":%q,"ssn":%q}`, answers, r.Header.Get("X-Key"), issued, hidden)
	}))
	defer service.Close()
	i := gatewaytest.NewIDP(t)
	const api = `openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /list: {get: {operationId: list, parameters: [{name: note, in: query, schema: {type: string}}, {name: ssn, in: query, schema: {type: string}}, {name: password, in: query, schema: {type: string}}],
    responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}}}
  /purge: {post: {operationId: purge, responses: {'200': {description: ok}}}}
`
	for _, bodies := range []bool{false, true} {
		cfg := strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), "upstream-key", echoed, 1) +
			"  - {match: {api: shop}, set: {sensitive_fields: {fields: [ssn], action: mask}}}\n" + fmt.Sprintf(liveConfig, bodies)
		g := gatewaytest.Start(t, api, cfg, service.URL)
		token := i.Token(t, map[string]any{"sub": caller, "client_id": client})
		c := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], token)
		args := fmt.Sprintf(`{"note":%q,"ssn":%q,"password":"s3cret-canary-6611"}`, plain, hidden)
		for _, name := range []string{"list", "purge", strings.Repeat("long", 1000)} {
			if w := c.Send("tools/call", name, args); w.Code == http.StatusOK != (name == "list") {
				t.Fatalf("%s: %d %s", name, w.Code, w.Body)
			}
		}
		secrets := gatewaytest.Canaries{"credential": echoed, "issued": issued, "sensitive": hidden, "password": "s3cret-canary-6611", "token": token[strings.LastIndexByte(token, '.')+1:]}
		texts := gatewaytest.Canaries{"argument": plain, "answer": answers}
		who := gatewaytest.Canaries{"caller": caller, "client": client}
		for _, path := range []string{"/console", "/console/apis", "/console/apis/shop", "/console/tools", "/console/live", "/console/live?api=shop&tool=LIST&outcome=ok"} {
			for tokenOf, operator := range map[string]bool{liveOperator: true, liveViewer: false} {
				page := signedInPages(t, g, tokenOf)(path)
				live := strings.HasPrefix(path, "/console/live")
				if names := secrets.Found(page); len(names) > 0 {
					t.Errorf("%s: %v came out:\n%s", path, names, page)
				}
				if names := who.Found(page); len(names) > 0 != (live && operator) {
					t.Errorf("%s for operators %v: %v is shown:\n%s", path, operator, names, page)
				}
				if names := texts.Found(page); len(names) == len(texts) != (live && operator && bodies) || len(names) == 1 {
					t.Errorf("%s for operators %v, bodies %v: %v is shown:\n%s", path, operator, bodies, names, page)
				}
			}
		}
		get := signedInPages(t, g, liveOperator)
		if page := get("/console/live"); strings.Count(page, `scope="row"`) != 3 || !strings.Contains(page, "insufficient_scope") || !strings.Contains(page, "unknown_tool") || len(page) > 20000 {
			t.Errorf("%d bytes: %s", len(page), page)
		}
		if page := get("/console/live?outcome=failed"); strings.Count(page, `scope="row"`) != 2 {
			t.Errorf("failures: %s", page)
		}
		if page := get("/console/live?outcome=ok"); strings.Count(page, `scope="row"`) != 1 || !strings.Contains(page, ">service ") || !strings.Contains(page, ">200<") {
			t.Errorf("ok: %s", page)
		}
	}
}

// TestHistoryCostsLittle holds that the history makes no call allocate more.
func TestHistoryCostsLittle(t *testing.T) {
	if race.Enabled {
		t.Skip("pools forget under the race detector")
	}
	service := gatewaytest.NewRecordingService(t)
	measure := func(on bool) float64 {
		g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), fmt.Sprintf("apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nadmin: {console: {enabled: %v}}\n", on), service.URL)
		c := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], "")
		least := math.Inf(1)
		for range 5 {
			least = min(least, testing.AllocsPerRun(200, func() {
				if w := c.Send("tools/call", "list", "{}"); w.Code != 200 {
					t.Fatal(w.Code, w.Body)
				}
			}))
		}
		if calls := g.CallRunner().History.Newest(); calls > 0 != on {
			t.Errorf("%d calls, console on %v", calls, on)
		}
		return least
	}
	off, on := measure(false), measure(true)
	if on > off {
		t.Errorf("%v allocations with the console, %v without", on, off)
	}
	t.Logf("%v allocations with the console, %v without", on, off)
}

// BenchmarkHistory is a call with and without the console, so that their difference is what the history costs.
func BenchmarkHistory(b *testing.B) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"done":true}`))
	}))
	defer service.Close()
	for _, kind := range []struct{ name, console string }{{"off", "enabled: false"}, {"on", "enabled: true"}, {"bodies", "enabled: true, show_bodies: true"}} {
		b.Run(kind.name, func(b *testing.B) {
			g := gatewaytest.Start(b, gatewaytest.Document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nadmin: {console: {"+kind.console+"}}\n", service.URL)
			b.ReportAllocs()
			for b.Loop() {
				if status, answer := gatewaytest.Ask(b, g.Handler(), "", "tools/call", "list", `"name":"list","arguments":{}`); status != http.StatusOK {
					b.Fatalf("%d %s", status, answer)
				}
			}
		})
	}
}
