package console

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"drawbridge/gateway/admin"
	"drawbridge/gateway/history"
)

var listedAPI = regexp.MustCompile(`<th scope="row"><a href="/console/apis/([a-z0-9-]+)">`)

// TestAPIList holds the order, filters and pages of the list of APIs.
func TestAPIList(t *testing.T) {
	var apis []admin.API
	for i := range 45 {
		apis = append(apis, admin.API{Name: fmt.Sprintf("a%02d", i), State: admin.Ready, Tools: i % 7})
	}
	apis[44].State, apis[30].State, apis[31].Title = admin.Failed, admin.Stale, "Payments"
	h := history.New(history.Options{On: func() bool { return true }, Bodies: func() bool { return false }})
	h.Add(&history.Call{API: "a05", Outcome: "timeout"})
	h.Add(&history.Call{API: "a06", OK: true, Outcome: "ok"})
	b := signedIn(t, newTestConsole(t, func(o *Options) { o.Gateway, o.History = fixed{status: admin.Status{APIs: apis}}, h }), viewToken)
	for _, tt := range []struct{ query, first, want string }{
		{"", "a44 a30 a00", "1 to 20 of 45"},
		{"?page=3", "a39 a40", "41 to 45 of 45"},
		{"?sort=name", "a00 a01", "sort=-name"},
		{"?sort=-name", "a44 a43", `aria-sort="descending"`},
		{"?sort=-tools", "a06 a13", "sort=tools"},
		{"?sort=-errors", "a05 a00", `href="/console/live?api=a05&amp;outcome=failed">1</a>`},
		{"?sort=-calls", "a05 a06", ""},
		{"?sort=nothing", "a44 a30", ""},
		{"?q=payM", "a31", "1 of 45 APIs"},
		{"?state=stale", "a30", `aria-current="true">stale 1<`},
		{"?state=nothing", "", "No API fits"},
		{"?sort=name&q=a&page=2", "a20 a21", "page=1&amp;q=a&amp;sort=name"},
	} {
		page := b.get("/console/apis" + tt.query).Body.String()
		var names []string
		for _, m := range listedAPI.FindAllStringSubmatch(page, -1) {
			names = append(names, m[1])
		}
		if got := strings.Join(names, " "); !strings.HasPrefix(got, tt.first) || (tt.first == "") != (got == "") || len(names) > apisPerPage {
			t.Errorf("%s: %s, want %s first", tt.query, got, tt.first)
		}
		if !strings.Contains(page, tt.want) {
			t.Errorf("%s: no %q in\n%s", tt.query, tt.want, page)
		}
	}
}

// TestSortedByKeepsTheRest: another order begins at the first page, and keeps the filters.
func TestSortedByKeepsTheRest(t *testing.T) {
	u, err := url.Parse("/console/apis?q=a+b&page=4&sort=-name")
	if err != nil {
		t.Fatal(err)
	}
	s := sortedBy(u, []int{1, 3, 2}, "name", map[string]func(a, b int) int{"name": func(a, b int) int { return a - b }})
	if got, want := s.by("-name"), "/console/apis?q=a+b&sort=name"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := s.by("other"), "/console/apis?q=a+b&sort=other"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
