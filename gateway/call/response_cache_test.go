package call_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestKeptAnswers: a kept answer goes the way of a fresh one, each caller has their own, arguments and headers count, and a change
// makes answers stale (P8).
func TestKeptAnswers(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewCounting(t)
	g := gatewaytest.Start(t, gatewaytest.KeeperDocument, fmt.Sprintf(`server: {public_url: https://mcp.example.com}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
rules:
  - {match: {method: GET}, set: {cache: {ttl: 1h}, sensitive_fields: [secret], resource: true}}
  - {match: {operation: order}, set: {condition: "claims.sub != 'mallory'"}}
`, gatewaytest.Issuers(i)), service.URL)
	alice, bob := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, nil)), gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[1], i.Token(t, map[string]any{"sub": "bob"}))
	again := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[1], i.Token(t, map[string]any{"jti": "another token"}))
	for _, step := range []struct {
		c               *gatewaytest.Client
		tool, arguments string
		want            string
	}{
		{alice, "list", `{}`, "1"}, {alice, "list", `{}`, "1"}, {again, "list", `{}`, "1"}, {bob, "list", `{}`, "2"}, {bob, "list", `{}`, "2"},
		{alice, "list", `{"page":2}`, "3"}, {alice, "list", `{"X-Tag":"a"}`, "4"}, {alice, "list", `{"X-Tag":"b"}`, "5"}, {alice, "list", `{"X-Tag":"a"}`, "4"},
		{alice, "order", `{"id":7}`, "6"}, {alice, "order", `{"id":"7"}`, "6"}, {alice, "order", `{"id":8}`, "7"},
		{bob, "place", `{}`, "8"}, {alice, "list", `{}`, "9"}, {alice, "list", `{"page":2}`, "10"}, {alice, "order", `{"id":7}`, "6"},
		{bob, "remove", `{"id":7}`, ""}, {alice, "order", `{"id":7}`, "12"}, {alice, "order", `{"id":8}`, "7"}, {alice, "list", `{}`, "13"},
	} {
		w := step.c.Send("tools/call", step.tool, step.arguments)
		if step.want == "" {
			continue
		}
		if got := gatewaytest.AnswerOf(t, w); got != step.want || step.tool != "place" && strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s %s: answer %s, want %s: %s", step.tool, step.arguments, got, step.want, w.Body)
		}
	}
	if w := alice.Read("drawbridge://shop/orders/8"); !strings.Contains(w.Body.String(), `{\"answer\":7,`) {
		t.Errorf("a read is no call: %s", w.Body)
	}
	mallory := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, map[string]any{"sub": "mallory"}))
	if w := mallory.Send("tools/call", "order", `{"id":8}`); strings.Contains(w.Body.String(), `"answer"`) {
		t.Errorf("a condition was passed by: %s", w.Body)
	}
	if w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, map[string]any{"scope": "none"})).Send("tools/call", "list", `{}`); w.Code != http.StatusForbidden {
		t.Errorf("scopes were passed by: %d %s", w.Code, w.Body)
	}
	lines := strings.Join(gatewaytest.MetricLines(g, `{api="shop"`), "\n")
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
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewCounting(t)
	config := func(api, set string) string {
		return fmt.Sprintf("server: {public_url: https://mcp.example.com}\nauth: {issuers: [%s], default_scopes: [mcp:tools]}\napis: [{name: shop, spec: $SPEC, base_url: $BASE%s}]\nrules: [{match: {method: GET}, set: {cache: %s}}]\n", gatewaytest.Issuers(i), api, set)
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
			service.Header.Store(nil)
			if c.header != "" {
				service.Header.Store(&c.header)
			}
			g := gatewaytest.Start(t, gatewaytest.KeeperDocument, config(c.api, c.set), service.URL)
			alice, bob := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, nil)), gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, map[string]any{"sub": "bob"}))
			alice.Header.Set("X-Who", "a")
			first := gatewaytest.AnswerOf(t, alice.Call("list"))
			if got := gatewaytest.AnswerOf(t, alice.Call("list")); (got == first) != c.hit {
				t.Errorf("answer %s, then %s", first, got)
			}
			if got := gatewaytest.AnswerOf(t, bob.Call("list")); (got == first) != c.same {
				t.Errorf("answer %s, and %s for another", first, got)
			}
			alice.Header.Set("X-Who", "b")
			if got := gatewaytest.AnswerOf(t, alice.Call("list")); c.api != "" && got == first {
				t.Errorf("answer %s for another header", got)
			}
		})
	}
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
	g := gatewaytest.Start(t, gatewaytest.KeeperDocument, "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nrules: [{match: {method: GET}, set: {cache: {ttl: 1h}}}]\n", service.URL)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			_, body := gatewaytest.Ask(t, g.Handler(), gatewaytest.Eras[0], "tools/call", "list", `"name":"list","arguments":{}`)
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
