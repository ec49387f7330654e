package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestSelectorsRefuseTheStart holds that a restriction that matches nothing ends Run, in whatever order the documents come,
// and that no tool of what it may have been written for is served before that. (pains row 101)
func TestSelectorsRefuseTheStart(t *testing.T) {
	for name, match := range map[string]string{
		"path": `path: "/order/**"`, "operation": "operation: listOrder", "tag": "tag: order", "api and path": `api: a, path: "/order/**"`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := &gatewaytest.Running{T: t, Dir: dir}
			r.Write(map[string]string{
				"a.yaml": gatewaytest.Tagged("A", "GET /orders listOrders orders"), "b.yaml": gatewaytest.Tagged("B", "GET /items listItems items"),
				"drawbridge.yaml": "apis: [{spec: a.yaml, name: a}, {spec: b.yaml, name: b}]\nrules:\n  - {match: {" + match + "}, set: {confirm: true}}\n",
			})
			c, problems := config.Load(filepath.Join(dir, "drawbridge.yaml"), func(string) string { return "" })
			if c == nil {
				t.Fatal(problems)
			}
			g, err := gateway.New(gateway.Options{Config: c})
			if err != nil {
				t.Fatal(err)
			}
			err = g.Run(t.Context())
			var refusal *config.Refusal
			if !errors.As(err, &refusal) || !strings.Contains(err.Error(), "drawbridge.yaml:3:") || !strings.Contains(err.Error(), "confirm would restrict nothing") {
				t.Errorf("Run = %v", err)
			}
			if gen := g.Current(); gen != nil && gen.Main.Tool("a_listOrders") != nil && name != "api and path" {
				t.Error("what the restriction may have been written for was served")
			}
		})
	}
}

// TestSelectorsRefuseAReload holds that a configuration with a restriction that matches nothing does not come into use, and
// that the last good one stays. (pains row 101)
func TestSelectorsRefuseAReload(t *testing.T) {
	const cfg = "apis: [{spec: a.yaml, name: a}]\nrules:\n  - {match: {path: \"/orders/**\"}, set: {confirm: true}}\n"
	r := gatewaytest.Run(t, map[string]string{"a.yaml": gatewaytest.Tagged("A", "GET /orders listOrders orders"), "drawbridge.yaml": cfg})
	r.Served()
	r.Write(map[string]string{"drawbridge.yaml": strings.Replace(cfg, "/orders/", "/order/", 1)})
	err := r.Reload(t.Context())
	const want = `drawbridge.yaml:3:20: rules[0].match.path: no operation has the path "/order/**"; "/orders/**" has 1; confirm would restrict nothing`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("Reload = %v", err)
	}
	if s := r.Status(); !strings.Contains(s.Config.Error, want) || !r.Plan("listOrders").Consent.Needed {
		t.Errorf("status %+v", s.Config)
	}
	r.Write(map[string]string{"drawbridge.yaml": cfg})
	if err := r.Reload(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestSelectorsOfAMissingDocument holds that an API that can't be read keeps no other from being served; when it can be, and a
// restriction that was undecided until then matches nothing, its operations are not served until that is corrected or
// accepted. (pains row 101)
func TestSelectorsOfAMissingDocument(t *testing.T) {
	for _, how := range []string{"matches", "corrected", "accepted"} {
		t.Run(how, func(t *testing.T) {
			b := gatewaytest.NewChanging(t, "")
			cfg := "admin: {token: 0123456789abcdef}\napis: [{spec: a.yaml, name: a}, {spec: " + b.URL + "/b.yaml, name: b, refresh: 0s}]\nrules:\n  - {match: {path: \"/invoice/**\"}, set: {confirm: true}}\n"
			r := gatewaytest.Run(t, map[string]string{"a.yaml": gatewaytest.Tagged("A", "GET /orders listOrders orders"), "drawbridge.yaml": cfg})
			r.Served()
			if s := r.Status().Config.Selectors; len(s) != 1 || !strings.Contains(s[0], "matches no operation so far; it is decided when the document of b can be read") {
				t.Errorf("undecided: %q", s)
			}
			path := "/invoices"
			if how == "matches" {
				path = "/invoice"
			}
			b.Set(gatewaytest.Tagged("B", "GET "+path+" listInvoices invoices"))
			r.Eventually("the document is read", func() bool { return r.State(1).State != admin.Failed && r.State(1).State != admin.Loading })
			if how == "matches" {
				if !slices.Equal(r.Tools(), []string{"a_listOrders", "b_listInvoices"}) {
					t.Errorf("tools %q", r.Tools())
				}
				return
			}
			held := r.State(1)
			if !slices.Equal(r.Tools(), []string{"a_listOrders"}) || held.State != admin.Held || held.Held == nil || len(held.Held.Restrictions) != 1 ||
				!strings.Contains(held.Held.Restrictions[0], `no operation has the path "/invoice/**"; "/invoices/**" has 1`) {
				t.Fatalf("tools %q, state %+v", r.Tools(), held)
			}
			if body := gatewaytest.Do(r.Admin(), http.MethodGet, "/readyz?verbose", nil).Body.String(); !strings.Contains(body, "api b: held: 0 tools, 0 operations skipped, 0 problems: a document is held because it would undo 1 restrictions") {
				t.Errorf("/readyz?verbose = %s", body)
			}
			if got := gatewaytest.MetricLines(r.Gateway, `drawbridge_undone_restrictions{api="b"} 1`); len(got) != 1 {
				t.Error("no series")
			}
			if how == "accepted" {
				if err := r.Accept(t.Context(), "b", held.Held.Digest); err != nil {
					t.Fatal(err)
				}
			} else {
				r.Write(map[string]string{"drawbridge.yaml": strings.Replace(cfg, "/invoice/", "/invoices/", 1)})
				if err := r.Reload(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(r.Tools(), []string{"a_listOrders", "b_listInvoices"}) || r.State(1).State != admin.Ready {
				t.Errorf("tools %q, state %+v", r.Tools(), r.State(1))
			}
			if confirmed := r.Plan("b_listInvoices").Consent.Needed; confirmed != (how == "corrected") {
				t.Errorf("confirmation: %v", confirmed)
			}
		})
	}
}

// TestSelectorsAfterARefresh holds that a newer document that undoes a restriction is held in quarantine: the operations that
// are new in it are not served, and those that were restricted stay so. (pains row 101)
func TestSelectorsAfterARefresh(t *testing.T) {
	const before = "GET /order/purge purge admin"
	tests := map[string]struct {
		match string
		after []string
		held  string // "": the document comes into use
	}{
		"renamed path":               {`path: "/order/**"`, []string{"GET /orders/purge purge admin"}, `no operation has the path "/order/**"; "/orders/**" has 1; confirm would restrict nothing: correct the selector, or give it optional: true; new operations: GET /orders/purge`},
		"renamed operation":          {"operation: purge", []string{"GET /order/purge purgeAll admin"}, "matches GET /order/purge no more"},
		"lost tag":                   {"tag: admin", []string{"GET /order/purge purge public"}, "matches GET /order/purge no more"},
		"lost tag, another has it":   {"tag: admin", []string{"GET /order/purge purge public", "GET /order/drop drop admin"}, "matches GET /order/purge no more"},
		"renamed path, not by path":  {"operation: purge", []string{"GET /orders/purge purge admin"}, ""},
		"new operations that match":  {`path: "/order/**"`, []string{before, "GET /order/drop drop admin"}, ""},
		"gone, and nothing is new":   {`path: "/order/**"`, nil, ""},
		"optional, gone":             {`optional: true, path: "/order/**"`, []string{"GET /orders/drop drop admin"}, ""},
		"optional, under its name":   {`optional: true, path: "/order/**"`, []string{"GET /orders/purge purge admin"}, "no consent is needed for calls of GET /orders/purge"},
		"method alone, gone":         {"method: GET", []string{"POST /orders/drop drop admin"}, ""},
		"method alone, same name":    {"method: GET", []string{"POST /orders/purge purge admin"}, "no consent is needed for calls of POST /orders/purge"},
		"new operations beside them": {"tag: admin", []string{before, "GET /orders/drop drop public"}, ""},
		"another title":              {"api: a", []string{"title B", before}, "matches GET /list, GET /order/purge no more"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := gatewaytest.NewChanging(t, gatewaytest.Tagged("A", before, "GET /list list public"))
			title := "A"
			if len(tt.after) > 0 && strings.HasPrefix(tt.after[0], "title ") {
				title, tt.after = strings.TrimPrefix(tt.after[0], "title "), tt.after[1:]
			}
			cfg := "apis: [{spec: " + o.URL + "/a.yaml, refresh: 0s}]\nrules:\n  - {match: {" + tt.match + "}, set: {confirm: true}}\n"
			r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": cfg})
			r.Served()
			o.Set(gatewaytest.Tagged(title, append(tt.after, "GET /list list public")...))
			// Without a change of the configuration: a document that comes by itself, as after its refresh.
			poke(r)
			r.Eventually("the document is read again", func() bool {
				return r.State(0).State == admin.Held || r.State(0).LoadedAt != nil && loads(r, "changed") == 2
			})
			s := r.State(0)
			switch {
			case tt.held == "" && (s.State != admin.Ready || s.Held != nil):
				t.Errorf("held: %+v", s.Held)
			case tt.held != "" && (s.Held == nil || len(s.Held.Restrictions) == 0 || !strings.Contains(s.Held.Restrictions[0], tt.held)):
				t.Errorf("state %s, held %+v", s.State, s.Held)
			case tt.held != "" && (!slices.Equal(r.Tools(), []string{"list", "purge"}) || !r.Plan("purge").Consent.Needed):
				t.Errorf("tools %q", r.Tools())
			}
		})
	}
}

// poke has every document read again.
func poke(r *gatewaytest.Running) {
	r.T.Helper()
	for s := range r.Current().Entries {
		s.LoadAgain()
	}
}

// loads returns how many attempts to read documents had an outcome.
func loads(r *gatewaytest.Running, outcome string) int {
	return len(gatewaytest.MetricLines(r.Gateway, `drawbridge_api_loads_total{api="a",outcome="`+outcome+`"} 2`)) * 2
}

// TestSelectorOfARefusedStartServesNothing holds that what waits for a document that hangs is not served meanwhile where a
// restriction may be meant for it.
func TestSelectorOfARefusedStartServesNothing(t *testing.T) {
	hang := make(chan struct{})
	o := newHanging(t, hang, gatewaytest.Tagged("B", "GET /orders listOrders orders"))
	r := &gatewaytest.Running{T: t, Dir: t.TempDir()}
	r.Write(map[string]string{"a.yaml": gatewaytest.Tagged("A", "GET /items listItems items"),
		"drawbridge.yaml": "apis: [{spec: a.yaml, name: a}, {spec: " + o.URL + "/b.yaml, name: b}]\nrules:\n  - {match: {path: \"/orders/**\"}, set: {confirm: true}}\n"})
	c, problems := config.Load(filepath.Join(r.Dir, "drawbridge.yaml"), func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	g, err := gateway.New(gateway.Options{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	r.Gateway = g
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	defer func() {
		cancel()
		if err := timebox.Receive(t, ended); err != nil {
			t.Error(err)
		}
	}()
	r.Eventually("the first document is read", func() bool { return r.State(0).State == admin.Ready })
	if g.Current() != nil {
		t.Error("it is served before the restriction is decided")
	}
	close(hang)
	r.Served()
	r.Eventually("both are served", func() bool { return slices.Equal(r.Tools(), []string{"a_listItems", "b_listOrders"}) })
	if !g.Plan("b_listOrders").Consent.Needed {
		t.Error("no confirmation")
	}
}

// newHanging serves a document when it may.
func newHanging(t *testing.T, may <-chan struct{}, text string) *gatewaytest.Changing {
	t.Helper()
	o := &gatewaytest.Changing{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-may:
			_, _ = w.Write([]byte(text))
		case <-r.Context().Done():
		}
	}))}
	t.Cleanup(o.Close)
	return o
}

// TestSelectorsAndTheTitleOfAnother holds that a document can't take the name from another API, and with it its restrictions.
func TestSelectorsAndTheTitleOfAnother(t *testing.T) {
	b := gatewaytest.NewChanging(t, gatewaytest.Tagged("B", "GET /items listItems items"))
	r := gatewaytest.Run(t, map[string]string{"a.yaml": gatewaytest.Tagged("A", "GET /orders listOrders orders"),
		"drawbridge.yaml": "apis: [{spec: a.yaml}, {spec: " + b.URL + "/b.yaml, refresh: 0s}]\nrules:\n  - {match: {api: a, path: /orders}, set: {confirm: true}}\n"})
	r.Served()
	r.Eventually("both are served", func() bool { return slices.Equal(r.Tools(), []string{"a_listOrders", "b_listItems"}) })
	b.Set(gatewaytest.Tagged("A", "GET /items listItems items"))
	poke(r)
	r.Eventually("the document is held", func() bool { return r.State(1).State == admin.Held })
	if held := r.State(1).Held; len(held.Restrictions) != 1 || !strings.Contains(held.Restrictions[0], "matches GET /orders no more") {
		t.Errorf("held: %+v", held)
	}
	if p := r.Plan("a_listOrders"); p == nil || !p.Consent.Needed {
		t.Errorf("tools %q", r.Tools())
	}
}

// TestSelectorsAndTwoRefreshes holds that a document can't take away what a selector matches and bring it back under another
// name, and that another name of a path variable makes no other operation.
func TestSelectorsAndTwoRefreshes(t *testing.T) {
	for name, tt := range map[string]struct {
		match        string
		before, then []string
		last         string
		tools        []string
	}{
		"gone, and back elsewhere": {"operation: purge", []string{"GET /order/purge purge admin"}, nil, "GET /order/purge purgeAll admin", []string{"list"}},
		"another variable": {"tag: admin", []string{"GET /order/{id} purge admin", "GET /drop drop admin"},
			[]string{"GET /order/{id} purge admin", "GET /drop drop admin"}, "GET /order/{order} purge public", nil},
	} {
		t.Run(name, func(t *testing.T) {
			const list = "GET /list list public"
			o := gatewaytest.NewChanging(t, gatewaytest.Tagged("A", append(tt.before, list)...))
			r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "apis: [{spec: " + o.URL + "/a.yaml, refresh: 0s}]\nrules:\n  - {match: {" + tt.match + "}, set: {confirm: true}}\n"})
			r.Served()
			if tt.then == nil {
				o.Set(gatewaytest.Tagged("A", list))
				poke(r)
				r.Eventually("the operation is gone", func() bool { return slices.Equal(r.Tools(), tt.tools) })
				o.Set(gatewaytest.Tagged("A", tt.last, list))
			} else {
				o.Set(gatewaytest.Tagged("A", tt.last, tt.then[1], list))
			}
			poke(r)
			r.Eventually("the document is held", func() bool { return r.State(0).State == admin.Held })
			if held := r.State(0).Held; len(held.Restrictions) == 0 {
				t.Errorf("held: %+v", held)
			}
		})
	}
}
