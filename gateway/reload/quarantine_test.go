package reload_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"drawbridge/gateway/admin"
	"drawbridge/gateway/signal"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestHold: a document that loses most of its operations at once is held; the tools stay until it recovers or an operator
// accepts it (O2).
func TestHold(t *testing.T) {
	o := gatewaytest.NewChanging(t, gatewaytest.Document("A", gatewaytest.Operations(10)...))
	cfg := "admin: {token: 0123456789abcdef}\napis: [{spec: " + o.URL + "/a.yaml, name: a, refresh: 0s%s}]\n"
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": fmt.Sprintf(cfg, "")})
	r.Served()
	reload := func() {
		t.Helper()
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := func(what string, state admin.State, tools int) {
		t.Helper()
		if s := r.State(0); s.State != state || len(r.Tools()) != tools {
			t.Errorf("%s: %s with %d tools, want %s with %d: %+v", what, s.State, len(r.Tools()), state, tools, s)
		}
	}
	accept := func(name string, match ...string) (int, string) {
		h := http.Header{"Authorization": {"Bearer 0123456789abcdef"}}
		if len(match) > 0 {
			h["If-Match"] = match
		}
		w := gatewaytest.Do(r.Admin(), http.MethodPost, "/apis/"+name+"/accept", h)
		return w.Code, w.Body.String()
	}
	want("at first", admin.Ready, 10)

	o.Set(gatewaytest.Document("A", gatewaytest.Operations(5)...)) // as many as may be lost
	reload()
	want("half is lost", admin.Ready, 5)
	o.Set(gatewaytest.Document("A", gatewaytest.Operations(10)...))
	reload()

	o.Set(gatewaytest.Document("A", gatewaytest.Operations(4)...))
	reload()
	want("more is lost", admin.Held, 10)
	held := r.State(0).Held
	if held == nil || held.Lost != 6 || held.Of != 10 || !slices.Equal(held.Operations[:2], []string{"GET /op04", "GET /op05"}) {
		t.Fatalf("held = %+v", held)
	}
	for _, line := range []string{`drawbridge_api_state{api="a",state="held"} 1`, `drawbridge_lost_operations{api="a"} 6`, `drawbridge_api_loads_total{api="a",outcome="held"} 1`} {
		if got := gatewaytest.MetricLines(r.Gateway, line); len(got) != 1 {
			t.Errorf("no series %s", line)
		}
	}
	if body := gatewaytest.Do(r.Admin(), http.MethodGet, "/readyz?verbose", nil).Body.String(); !strings.Contains(body, "api a: held: 10 tools, 0 operations skipped, 0 problems: a newer document lacks 6 of 10 operations") {
		t.Errorf("/readyz?verbose = %s", body)
	}
	reload() // which reads the same again
	want("again", admin.Held, 10)
	r.Write(map[string]string{"drawbridge.yaml": fmt.Sprintf(cfg, ", timeout: 9s")})
	reload()
	want("with another configuration", admin.Held, 10)

	o.Set("")
	reload()
	want("and then it is down", admin.Held, 10)
	o.Set(gatewaytest.Document("A", gatewaytest.Operations(8)...))
	reload()
	want("most are back", admin.Ready, 8)
	if got := gatewaytest.MetricLines(r.Gateway, "drawbridge_lost_operations{"); len(got) > 0 {
		t.Errorf("it still lacks operations: %q", got)
	}

	o.Set(gatewaytest.Document("A", gatewaytest.Operations(2)...))
	reload()
	want("lost again", admin.Held, 8)
	seen := `"` + r.State(0).Held.Digest + `"`
	o.Set(gatewaytest.Document("A", gatewaytest.Operations(1)...)) // behind the back of who looks at it
	reload()
	want("even more is lost", admin.Held, 8)
	const changed = "another document is held than the one that If-Match names; look at /apis/NAME again, whose held.digest it wants\n"
	const malformed = "If-Match must be one digest in quotation marks, the held.digest of /apis/NAME, or *\n"
	if status, body := accept("a", seen); status != 412 || body != changed {
		t.Errorf("accept what is not held any more = %d %q", status, body)
	}
	want("refused", admin.Held, 8)
	o.Set(gatewaytest.Document("A", gatewaytest.Operations(2)...))
	reload()
	if again := `"` + r.State(0).Held.Digest + `"`; again != seen || len(seen) != 66 {
		t.Errorf("the same document has the digest %s, and had %s", again, seen)
	}
	for _, tt := range []struct {
		name   string
		match  []string
		status int
		body   string
	}{
		{"b", nil, 404, "there is no API of that name; /apis lists them\n"},
		{"a", []string{`"0"`}, 412, changed},
		{"a", []string{strings.Trim(seen, `"`)}, 400, malformed},
		{"a", []string{seen, seen}, 400, malformed},
		{"a", []string{`"0", ` + seen}, 400, malformed},
		{"a", []string{`""`}, 400, malformed},
		{"a", []string{seen}, 200, "accepted\n"},
		{"a", nil, 409, "no document of this API is held\n"},
		{"a", []string{"*"}, 409, "no document of this API is held\n"},
	} {
		if status, body := accept(tt.name, tt.match...); status != tt.status || body != tt.body {
			t.Errorf("accept %s = %d %q, want %d %q", tt.name, status, body, tt.status, tt.body)
		}
	}
	want("accepted", admin.Ready, 2)
	o.Set(gatewaytest.Document("A", "another"))
	reload()
	want("few operations change as they like", admin.Ready, 1)
	o.Set("openapi: 3.1.0\ninfo: {title: A, version: '1'}\npaths: {}\n")
	reload()
	want("but none is never right", admin.Held, 1)
}

// TestNoHold: what the configuration takes away is no loss, and who wants no hold has none.
func TestNoHold(t *testing.T) {
	o := gatewaytest.NewChanging(t, gatewaytest.Document("A", gatewaytest.Operations(10)...))
	cfg := "apis: [{spec: " + o.URL + "/a.yaml, name: a, refresh: 0s%s}]\n"
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": fmt.Sprintf(cfg, "")})
	r.Served()
	for _, tt := range []struct {
		keys, text string
		state      admin.State
		tools      int
	}{
		{", tools: {include: [{operation: op00}, {operation: op01}, {operation: op02}, {operation: op03}, {operation: op04}]}", gatewaytest.Document("A", gatewaytest.Operations(10)...), admin.Ready, 5},
		{", tools: {exclude: [{operation: 'op*'}]}", gatewaytest.Document("A", gatewaytest.Operations(10)...), admin.Ready, 0},
		{", max_loss: 100", gatewaytest.Document("A", gatewaytest.Operations(1)...), admin.Ready, 1},
		{", max_loss: 10", gatewaytest.Document("A", gatewaytest.Operations(20)...), admin.Ready, 20},
		{", max_loss: 10", gatewaytest.Document("A", gatewaytest.Operations(17)...), admin.Ready, 17},
		{", max_loss: 10", gatewaytest.Document("A", gatewaytest.Operations(13)...), admin.Held, 17},
		{", max_loss: 50", gatewaytest.Document("A", gatewaytest.Operations(13)...), admin.Ready, 13},
	} {
		o.Set(tt.text)
		r.Write(map[string]string{"drawbridge.yaml": fmt.Sprintf(cfg, tt.keys)})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := r.State(0); s.State != tt.state || len(r.Tools()) != tt.tools {
			t.Errorf("%s: %s with %d tools, want %s with %d", tt.keys, s.State, len(r.Tools()), tt.state, tt.tools)
		}
	}
}

// TestAcceptDuringAReload: what an operator accepts while a reload is under way is not held when it ends.
func TestAcceptDuringAReload(t *testing.T) {
	for name, answered := range map[string]bool{"the reload has read it": true, "the reload reads it later": false} {
		t.Run(name, func(t *testing.T) {
			var text atomic.Pointer[string]
			set := func(s string) { text.Store(&s) }
			set(gatewaytest.Document("A", gatewaytest.Operations(10)...))
			arrived, release := make(chan struct{}, 1), make(chan struct{})
			var hang atomic.Bool
			o := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if hang.Load() && !(answered && r.URL.Path == "/a.yaml") {
					signal.Raise(arrived)
					<-release
				}
				if r.URL.Path == "/a.yaml" {
					_, _ = w.Write([]byte(*text.Load()))
					return
				}
				_, _ = w.Write([]byte(gatewaytest.Document("B", "b")))
			}))
			t.Cleanup(o.Close)
			cfg := strings.ReplaceAll("apis: [{spec: 'ORIGIN/a.yaml', name: a, refresh: 0s, timeout: 9s}, {spec: 'ORIGIN/b.yaml', name: b, refresh: 0s, timeout: 9s}]\n", "ORIGIN", o.URL)
			r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": cfg})
			r.Eventually("both are served", func() bool { return len(r.Tools()) == 11 })
			set(gatewaytest.Document("A", gatewaytest.Operations(2)...))
			if err := r.Reload(t.Context()); err != nil || r.State(0).State != admin.Held {
				t.Fatalf("%v, %+v", err, r.State(0))
			}
			hang.Store(true)
			r.Write(map[string]string{"drawbridge.yaml": strings.ReplaceAll(cfg, "9s", "8s")})
			ended := make(chan error, 1)
			go func() { ended <- r.Reload(t.Context()) }()
			timebox.Wait(t, arrived)
			if answered {
				r.Eventually("it is held again", func() bool {
					return len(gatewaytest.MetricLines(r.Gateway, `drawbridge_api_loads_total{api="a",outcome="held"} 1`)) == 0 // it was held once before
				})
			}
			err := r.Accept(t.Context(), "a", "")
			close(release)
			if err != nil {
				t.Fatal(err)
			}
			if err := timebox.Receive(t, ended); err != nil {
				t.Fatal(err)
			}
			if s := r.State(0); s.State != admin.Ready || len(r.Tools()) != 3 {
				t.Errorf("after the reload: %s with %d tools", s.State, len(r.Tools()))
			}
		})
	}
}
