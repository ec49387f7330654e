package console

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"drawbridge/gateway/admin"
	"drawbridge/gateway/discovery"
	"drawbridge/openapi/drift"
)

// large is a gateway with an API of 1,200 operations, of which every tenth is skipped, found by discovery.
func large() fixed {
	f := fixed{status: admin.Status{APIs: []admin.API{{Name: "orders", State: admin.Held, Held: &admin.HeldDocument{Digest: "d1gest", Lost: 3, Of: 9},
		Service: &admin.Service{Provider: "consul", Name: "orders-v2"}}}}}
	f.status.Discovery = &admin.Discovery{Services: []discovery.ServiceStatus{
		{Provider: "consul", Name: "orders-v2", API: "orders", State: discovery.Served},
		{Provider: "consul", Name: "billing", State: discovery.Held, Reason: "it waits for approval"},
	}}
	f.report = admin.Report{API: f.status.APIs[0], Problems: []admin.Problem{{Code: "c", Message: "a type was guessed"}}}
	for n := range 1200 {
		o := admin.Operation{Method: "GET", Path: fmt.Sprintf("/things/%d", n), Fate: admin.Exposed, Place: admin.Place{File: "https://example.com/a/openapi.json", Line: 1, Column: n + 1}}
		switch {
		case n%10 == 0:
			o.Fate, o.Reasons = admin.Skipped, []admin.Reason{{Code: "r", Message: "it has no path"}}
		case n == 7:
			o.Fate, o.Tool, o.Problems = admin.Changed, "get_seven", []int{0}
		}
		f.report.API.Operations.Add(o.Fate)
		f.report.Operations = append(f.report.Operations, o)
	}
	return f
}

// TestDrift shows how calls and answers of an API differ from its document; without a difference there is no section.
func TestDrift(t *testing.T) {
	f := large()
	if page := signedIn(t, newTestConsole(t, func(o *Options) { o.Gateway = f }), operateToken).get("/console/apis/orders").Body.String(); strings.Contains(page, `id="drift"`) {
		t.Error("a page without drift has a section about it")
	}
	f.report.API.Drift = &admin.Drift{Total: 1213, Places: 1, Uncounted: 1, Differences: []admin.Difference{{
		Method: "POST", Path: "/notes", Difference: drift.Difference{Kind: drift.ArgumentType, Pointer: "/owner/id", Declared: "string", Got: "object"}, Count: 1212,
	}}}
	page := signedIn(t, newTestConsole(t, func(o *Options) { o.Gateway = f }), operateToken).get("/console/apis/orders").Body.String()
	for _, want := range []string{`<h2 id="drift">Drift</h2>`, "1,213 differences", "1 of them at places that are not kept", "POST /notes", "owner/id: declared string, refused as object", "1,212"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	b := signedIn(t, newTestConsole(t, func(o *Options) { o.Gateway = f }), viewToken)
	if page := b.get("/console/drift").Body.String(); !strings.Contains(page, "No call or answer has differed") {
		t.Errorf("no drift: %s", page)
	}
	f.status.APIs = append(f.status.APIs, admin.API{Name: "users", Drift: &admin.Drift{Total: 1214, Places: 2}})
	f.status.APIs[0].Drift = f.report.API.Drift
	b = signedIn(t, newTestConsole(t, func(o *Options) { o.Gateway = f }), viewToken)
	page = b.get("/console/drift").Body.String()
	users, orders := strings.Index(page, `href="/console/apis/users#drift">1,214<`), strings.Index(page, `href="/console/apis/orders#drift">1,213<`)
	if users < 0 || orders < users {
		t.Errorf("all drift: %s", page)
	}
}

func TestAPIs(t *testing.T) {
	b := signedIn(t, newTestConsole(t, func(o *Options) { o.Gateway = large() }), operateToken)
	page := b.get("/console/apis").Body.String()
	for _, want := range []string{"consul: orders-v2", "it waits for approval", "held"} {
		if !strings.Contains(page, want) {
			t.Errorf("the list lacks %q: %s", want, page)
		}
	}
	for _, tt := range []struct {
		name, query string
		rows        int
		want, lacks []string
	}{
		{"first page", "", 100, []string{"/things/0<", "/things/99<", "1 to 100 of 1,200", "page=2", `value="d1gest"`, "openapi.json:1:100", "column=100"}, []string{"/things/100<"}},
		{"last page", "?page=12", 100, []string{"/things/1199<", "1,101 to 1,200 of 1,200"}, []string{"page=13"}},
		{"page beyond the last", "?page=99999999999999999999", 100, nil, nil},
		{"negative page", "?page=-1", 100, []string{"/things/0<"}, nil},
		{"fate", "?fate=skipped", 100, []string{"it has no path", "120 of 1,200 operations"}, []string{"/things/1<"}},
		{"unknown fate", "?fate=lost", 0, []string{"0 of 1,200 operations"}, nil},
		{"path", "?q=THINGS/119", 11, nil, []string{"/things/118<"}},
		{"reason and fate", "?fate=exposed&q=no+path", 0, nil, nil},
		{"problem", "?q=guessed", 1, []string{`href="/console/tools/get_seven"`}, nil},
		{"search over pages", "?q=things&page=2", 100, []string{"page=3&amp;q=things", `fate=skipped&amp;q=things`}, nil},
	} {
		w := b.get("/console/apis/orders" + tt.query)
		page := w.Body.String()
		if rows := strings.Count(page, `<th scope="row" class="mono">GET /things/`); w.Code != http.StatusOK || tt.rows != rows {
			t.Errorf("%s: %d, %d rows, want %d", tt.name, w.Code, rows, tt.rows)
		}
		for _, want := range tt.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %q", tt.name, want)
			}
		}
		for _, lacks := range tt.lacks {
			if strings.Contains(page, lacks) {
				t.Errorf("%s: the page has %q", tt.name, lacks)
			}
		}
	}
	if w := b.get("/console/apis/nothing"); w.Code != http.StatusNotFound {
		t.Errorf("an unknown API: %d", w.Code)
	}
	for _, query := range []string{"", "?file=x", "?file=x&line=0", "?file=x&line=one"} {
		if w := b.get("/console/apis/orders/document" + query); w.Code != http.StatusBadRequest {
			t.Errorf("a position %q: %d", query, w.Code)
		}
	}
}

// TestViewerForms holds that a person who may not change anything is not offered to.
func TestViewerForms(t *testing.T) {
	c := newTestConsole(t, func(o *Options) { o.Gateway = large() })
	for token, want := range map[string]bool{viewToken: false, operateToken: true} {
		b := signedIn(t, c, token)
		for _, path := range []string{"/console", "/console/apis/orders"} {
			if got := strings.Contains(b.get(path).Body.String(), "/accept\""); got != want {
				t.Errorf("%s: a form to accept is shown: %t, want %t", path, got, want)
			}
		}
	}
}

// TestAcceptDigest holds that a document is accepted by its digest alone, as with If-Match.
func TestAcceptDigest(t *testing.T) {
	var did []string
	b := signedIn(t, newTestConsole(t, func(o *Options) { f := large(); f.done = &did; o.Gateway = f }), operateToken)
	if w := b.post("/console/apis/orders/accept", map[string][]string{"csrf": {b.csrf()}}); w.Code != http.StatusBadRequest || did != nil {
		t.Errorf("without a digest: %d %q", w.Code, did)
	}
}

// The page of a score has the kinds of findings, and each finding with a link to its place in the document.
func TestReadiness(t *testing.T) {
	b := signedIn(t, newTestConsole(t, func(o *Options) { o.Gateway = large() }), operateToken)
	page := b.get("/console/apis/orders/readiness").Body.String()
	for _, want := range []string{"readiness 92.5 of 100", "near-twin", "&lt;script&gt;alert(1)&lt;/script&gt;", `href="/console/apis/orders/document?column=1&amp;file=openapi.yaml&amp;line=2"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if w := b.get("/console/apis/none/readiness"); w.Code != http.StatusNotFound {
		t.Errorf("the page of an unknown API has the status %d", w.Code)
	}
}
