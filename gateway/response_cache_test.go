package gateway

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"drawbridge/test/timebox"
)

// counting is a service whose answers are numbered, so that a kept one is known.
type counting struct {
	*httptest.Server
	n      atomic.Int64
	header atomic.Pointer[string] // Cache-Control
}

func newCounting(t *testing.T) *counting {
	t.Helper()
	s := &counting{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := s.header.Load(); h != nil {
			w.Header().Set("Cache-Control", *h)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"answer":%d,"who":%q,"secret":"s"}`, s.n.Add(1), r.Header.Get("X-Who"))
	}))
	t.Cleanup(s.Close)
	return s
}

const keeperDocument = `
openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /orders:
    get: {operationId: list, parameters: [{name: page, in: query, schema: {type: integer}}, {name: X-Tag, in: header, schema: {type: string}}], responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}}
    post: {operationId: place, responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}}
  /orders/{id}:
    get: {operationId: order, parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}}
    delete: {operationId: remove, parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {'204': {description: gone}}}
`

var answerNumber = regexp.MustCompile(`"structuredContent":\{"answer":(\d+)`)

// answerOf returns the number of the answer that a result holds.
func answerOf(t testing.TB, w *httptest.ResponseRecorder) string {
	t.Helper()
	m := answerNumber.FindStringSubmatch(w.Body.String())
	if m == nil {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return m[1]
}

// TestKeptAnswers: a kept answer goes the way of a fresh one, each caller has their own, arguments and headers count, and a change
// makes answers stale (P8).
func TestKeptAnswers(t *testing.T) {
	i, service := newIDP(t), newCounting(t)
	g := start(t, keeperDocument, fmt.Sprintf(`server: {public_url: https://mcp.example.com}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
rules:
  - {match: {method: GET}, set: {cache: {ttl: 1h}, sensitive_fields: [secret], resource: true}}
  - {match: {operation: order}, set: {condition: "claims.sub != 'mallory'"}}
`, issuers(i)), service.URL)
	alice, bob := newClient(t, g.Handler(), eras[0], i.token(t, nil)), newClient(t, g.Handler(), eras[1], i.token(t, map[string]any{"sub": "bob"}))
	again := newClient(t, g.Handler(), eras[1], i.token(t, map[string]any{"jti": "another token"}))
	for _, step := range []struct {
		c               *client
		tool, arguments string
		want            string
	}{
		{alice, "list", `{}`, "1"}, {alice, "list", `{}`, "1"}, {again, "list", `{}`, "1"}, {bob, "list", `{}`, "2"}, {bob, "list", `{}`, "2"},
		{alice, "list", `{"page":2}`, "3"}, {alice, "list", `{"X-Tag":"a"}`, "4"}, {alice, "list", `{"X-Tag":"b"}`, "5"}, {alice, "list", `{"X-Tag":"a"}`, "4"},
		{alice, "order", `{"id":7}`, "6"}, {alice, "order", `{"id":"7"}`, "6"}, {alice, "order", `{"id":8}`, "7"},
		{bob, "place", `{}`, "8"}, {alice, "list", `{}`, "9"}, {alice, "list", `{"page":2}`, "10"}, {alice, "order", `{"id":7}`, "6"},
		{bob, "remove", `{"id":7}`, ""}, {alice, "order", `{"id":7}`, "12"}, {alice, "order", `{"id":8}`, "7"}, {alice, "list", `{}`, "13"},
	} {
		w := step.c.send("tools/call", step.tool, step.arguments)
		if step.want == "" {
			continue
		}
		if got := answerOf(t, w); got != step.want || step.tool != "place" && strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s %s: answer %s, want %s: %s", step.tool, step.arguments, got, step.want, w.Body)
		}
	}
	if w := alice.read("drawbridge://shop/orders/8"); !strings.Contains(w.Body.String(), `{\"answer\":7,`) {
		t.Errorf("a read is no call: %s", w.Body)
	}
	mallory := newClient(t, g.Handler(), eras[0], i.token(t, map[string]any{"sub": "mallory"}))
	if w := mallory.send("tools/call", "order", `{"id":8}`); strings.Contains(w.Body.String(), `"answer"`) {
		t.Errorf("a condition was passed by: %s", w.Body)
	}
	if w := newClient(t, g.Handler(), eras[0], i.token(t, map[string]any{"scope": "none"})).send("tools/call", "list", `{}`); w.Code != http.StatusForbidden {
		t.Errorf("scopes were passed by: %d %s", w.Code, w.Body)
	}
	lines := strings.Join(metricLines(g, `{api="shop"`), "\n")
	for _, want := range []string{
		`drawbridge_cache_total{api="shop",outcome="hit"} 8`, `drawbridge_cache_total{api="shop",outcome="miss"} 11`,
		`drawbridge_cache_total{api="shop",outcome="stored"} 11`, `drawbridge_tool_call_duration_seconds_count{api="shop"} 13`,
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %s in\n%s", want, lines)
		}
	}
}

// TestKeptForOthers: what is shared by the configuration is one answer for all, what depends on the caller's headers is not, and what the
// service forbids is not kept.
func TestKeptForOthers(t *testing.T) {
	i, service := newIDP(t), newCounting(t)
	config := func(api, set string) string {
		return fmt.Sprintf("server: {public_url: https://mcp.example.com}\nauth: {issuers: [%s], default_scopes: [mcp:tools]}\napis: [{name: shop, spec: $SPEC, base_url: $BASE%s}]\nrules: [{match: {method: GET}, set: {cache: %s}}]\n", issuers(i), api, set)
	}
	for _, c := range []struct {
		name, api, set, header string
		same, hit              bool // between callers, for one caller
	}{
		{"shared", "", "{ttl: 1h, shared: true}", "", true, true},
		{"shared but private", "", "{ttl: 1h, shared: true}", "private", false, false},
		{"one each", "", "{ttl: 1h}", "public, max-age=100", false, true},
		{"only as the service says", "", "true", "max-age=100", false, true},
		{"the service says nothing", "", "true", "", false, false},
		{"forbidden", "", "{ttl: 1h}", "no-store", false, false},
		{"headers of the caller", ", pass_headers: [X-Who]", "{ttl: 1h}", "", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			service.header.Store(nil)
			if c.header != "" {
				service.header.Store(&c.header)
			}
			g := start(t, keeperDocument, config(c.api, c.set), service.URL)
			alice, bob := newClient(t, g.Handler(), eras[0], i.token(t, nil)), newClient(t, g.Handler(), eras[0], i.token(t, map[string]any{"sub": "bob"}))
			alice.header.Set("X-Who", "a")
			first := answerOf(t, alice.call("list"))
			if got := answerOf(t, alice.call("list")); (got == first) != c.hit {
				t.Errorf("answer %s, then %s", first, got)
			}
			if got := answerOf(t, bob.call("list")); (got == first) != c.same {
				t.Errorf("answer %s, and %s for another", first, got)
			}
			alice.header.Set("X-Who", "b")
			if got := answerOf(t, alice.call("list")); c.api != "" && got == first {
				t.Errorf("answer %s for another header", got)
			}
		})
	}
}

// TestKeptAndWatched: who watches a resource asks the service, whatever is kept, and who hears of a change reads what is new.
func TestKeptAndWatched(t *testing.T) {
	service := newCounting(t)
	g := start(t, keeperDocument, "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nrules: [{match: {method: GET}, set: {cache: {ttl: 1h}, resource: {poll: 1s}}}]\n", service.URL)
	l := newLooks(t, g)
	server := httptest.NewServer(g.Handler())
	defer server.Close()
	c := newClient(t, g.Handler(), eras[0], "")
	before := answerOf(t, c.call("list"))
	w := watchOver(t, server, "/mcp", eras[0], http.Header{}, "drawbridge://shop/orders")
	defer w.end()
	l.looked()
	l.again() // each answer is another one
	if got := answerOf(t, c.call("list")); got == before {
		t.Errorf("answer %s as before the change", got)
	}
	g.subscriptions.End()
}

// TestManyAtOnce: of many calls for the same answer the service gets one.
func TestManyAtOnce(t *testing.T) {
	release := make(chan struct{})
	var n atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n.Add(1)
		<-release
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"answer":1}`)
	}))
	defer service.Close()
	g := start(t, keeperDocument, "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nrules: [{match: {method: GET}, set: {cache: {ttl: 1h}}}]\n", service.URL)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			_, body := ask(t, g.Handler(), eras[0], "tools/call", "list", `"name":"list","arguments":{}`)
			if !json.Valid(body) || !strings.Contains(string(body), `"structuredContent":{"answer":1}`) {
				t.Errorf("%s", body)
			}
		})
	}
	for n.Load() == 0 {
		continue
	}
	close(release)
	timebox.Done(t, wg.Wait)
	if n.Load() != 1 {
		t.Errorf("%d requests", n.Load())
	}
}
