package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestWatchHeaders holds that nobody hears of what another's headers get.
func TestWatchHeaders(t *testing.T) {
	service := newChangingService(t)
	g := gatewaytest.Start(t, shelfDocument, strings.Replace(shelfConfig, "base_url: $BASE", "base_url: $BASE, pass_headers: [X-Who]", 1), service.URL)
	l := newLooks(t, g)
	server := httptest.NewServer(g.Handler())
	defer server.Close()
	var both []*watching
	for _, who := range []string{"nobody", "ada"} {
		w := watchOver(t, server, "/mcp", "2026-07-28", http.Header{"X-Who": {who}}, "shelf:book")
		w.want("acknowledged [shelf:book]")
		l.looked()
		both = append(both, w)
	}
	if n := g.Subscriptions().Count(); n != 2 {
		t.Errorf("%d watches for two callers that are told apart by a header", n)
	}
	service.set(0, "two")
	l.again() // of one of them
	var told string
	select {
	case told = <-both[0].messages:
	case told = <-both[1].messages:
	case <-time.After(20 * time.Second):
	}
	if told != "updated shelf:book" {
		t.Errorf("told %q", told)
	}
	if err := g.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
	for _, w := range both {
		w.want("result") // and no change before it, which another's request has found
	}
}

// TestWatchPanics: a look that fails in a way that it should not is a failure of the look, and the watch goes on.
func TestWatchPanics(t *testing.T) {
	service := newChangingService(t)
	g := gatewaytest.Start(t, shelfDocument, shelfConfig, service.URL)
	server := httptest.NewServer(g.Handler())
	defer server.Close()
	l := newLooks(t, g)
	w := watchOver(t, server, "/mcp", "2025-11-25", http.Header{}, "shelf:book")
	l.looked()
	p, _ := g.Current().Main.Resources.Find("shelf:book")
	of := p.Source
	p.Source = nil
	l.again()
	if got := gatewaytest.MetricLines(g, "drawbridge_panics_total 1"); len(got) != 1 {
		t.Errorf("counted %q", gatewaytest.MetricLines(g, "drawbridge_panics_total"))
	}
	p.Source = of
	service.set(0, "new")
	l.again()
	w.want("updated shelf:book")
	if err := g.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
	w.want("end")
}

// TestWatchOnce holds that each listener is told of a change once, however many there are of one principal.
func TestWatchOnce(t *testing.T) {
	service := newChangingService(t)
	g := gatewaytest.Start(t, shelfDocument, shelfConfig, service.URL)
	l := newLooks(t, g)
	server := httptest.NewServer(g.Handler())
	defer server.Close()
	var all []*watching
	for range 5 {
		w := watchOver(t, server, "/mcp", "2026-07-28", http.Header{}, "shelf:book")
		w.want("acknowledged [shelf:book]")
		all = append(all, w)
	}
	l.looked()
	service.set(0, "new")
	l.again()
	for _, w := range all {
		w.want("updated shelf:book")
	}
	if err := g.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
	for _, w := range all {
		w.want("result") // and nothing before it
	}
}

// TestStreamsEndWithTheirIssuer holds that a stream does not outlive the trust in who issued its token.
func TestStreamsEndWithTheirIssuer(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), newChangingService(t)
	cfg := fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)) + `  - {match: {operation: book}, set: {resource: {uri: "shelf:book", poll: 10s}}}` + "\n"
	cfg = strings.NewReplacer("$SPEC", "a.yaml", "$BASE", service.URL).Replace(cfg)
	r := gatewaytest.RunWith(t, map[string]string{"drawbridge.yaml": cfg, "a.yaml": shelfDocument}, gateway.Options{})
	r.Served()
	l := newLooks(t, r.Gateway)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		q.Host = "mcp.example.com"
		r.Handler().ServeHTTP(w, q)
	}))
	defer server.Close()
	w := watchOver(t, server, "/mcp", "2026-07-28", http.Header{"Authorization": {"Bearer " + i.Token(t, nil)}}, "shelf:book")
	w.want("acknowledged [shelf:book]")
	l.looked()
	r.Write(map[string]string{"drawbridge.yaml": cfg + "  - {match: {operation: book}, set: {title: A book}}\n"})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	service.set(0, "new")
	l.again()
	w.want("updated shelf:book") // a reload that has nothing to do with tokens ends no stream
	r.Write(map[string]string{"drawbridge.yaml": strings.Replace(cfg, i.URL, "https://other.example.com", 1)})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.want("result")
}

// TestSubscriptionOutlivesItsToken: the subscriptions of a session go on by the token with which its client has come again, whether it
// has opened another stream with it or subscribed again.
func TestSubscriptionOutlivesItsToken(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), newChangingService(t)
	g := gatewaytest.Start(t, shelfDocument, fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i))+
		`  - {match: {operation: book}, set: {resource: {uri: "shelf:book", poll: 10s}}}`+"\n", service.URL)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		q.Host = "mcp.example.com"
		g.Handler().ServeHTTP(w, q)
	}))
	defer server.Close()
	l := newLooks(t, g)
	brief := func() http.Header { // the skew, a minute, is added
		return http.Header{"Authorization": {"Bearer " + i.Token(t, map[string]any{"exp": time.Now().Add(2*time.Second - time.Minute).Unix()})}}
	}
	fresh := "Bearer " + i.Token(t, nil)
	w := watchOver(t, server, "/mcp", "2025-11-25", brief(), "shelf:book")
	l.looked()
	w.want("end")
	w.header.Set("Authorization", fresh)
	w.follow(w.send(http.MethodGet, ""))
	service.set(0, "new")
	l.again()
	w.want("updated shelf:book")

	again := watchOver(t, server, "/mcp", "2025-11-25", brief(), "shelf:book")
	again.header.Set("Authorization", fresh)
	if answer := again.subscribe("shelf:book"); !strings.Contains(answer, `"result":{}`) {
		t.Error(answer)
	}
	again.want("end")
	again.follow(again.send(http.MethodGet, ""))
	service.set(0, "newer")
	l.again()
	w.want("updated shelf:book") // one by each, of which neither rests on a token that has ended
	again.want("updated shelf:book")
	if err := g.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
	w.want("end")
	again.want("end")
}

// TestForeignURIs holds that a document takes no place of another API's resources.
func TestForeignURIs(t *testing.T) {
	document := func(name, uri string) string {
		return fmt.Sprintf(`openapi: 3.1.0
info: {title: %s, version: "1"}
paths:
  /accounts/{id}:
    get:
      operationId: %s
      x-mcp-resource: %s
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: ok}}
`, name, name, uri)
	}
	r := gatewaytest.RunWith(t, map[string]string{
		"drawbridge.yaml": `apis:
  - {name: weather, spec: weather.yaml, base_url: "http://127.0.0.1:1", trust_extensions: true}
  - {name: bank, spec: bank.yaml, base_url: "http://127.0.0.1:1"}
  - {name: own, spec: own.yaml, base_url: "http://127.0.0.1:1", trust_extensions: true}
rules: [{match: {api: bank}, set: {resource: true}}]
`,
		"weather.yaml": document("steal", `{uri: "drawbridge://bank/accounts/{id}"}`),
		"bank.yaml":    document("account", `true`),
		"own.yaml":     document("mine", `{uri: "drawbridge://own/mine/{id}"}`),
	}, gateway.Options{})
	timebox.Wait(t, r.ReloadRunner().FirstAttempt())
	gen := r.Current()
	for uri, want := range map[string]string{"drawbridge://bank/accounts/1": "bank", "drawbridge://own/mine/1": "own"} {
		if p, _ := gen.Main.Resources.Find(uri); p == nil || p.Tool.API != want {
			t.Errorf("%s is read by %v, want %s", uri, p, want)
		}
	}
	report, _ := r.Report("weather")
	want := `a document's own URIs begin with "drawbridge://weather/": others are for rules`
	if len(report.Problems) != 1 || !strings.HasSuffix(report.Problems[0].Message, want) {
		t.Errorf("problems: %+v", report.Problems)
	}
}
