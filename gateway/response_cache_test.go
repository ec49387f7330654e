package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestKeptAndWatched: who watches a resource asks the service, whatever is kept, and who hears of a change reads what is new.
func TestKeptAndWatched(t *testing.T) {
	service := gatewaytest.NewCounting(t)
	g := gatewaytest.Start(t, gatewaytest.KeeperDocument, "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nrules: [{match: {method: GET}, set: {cache: {ttl: 1h}, resource: {poll: 1s}}}]\n", service.URL)
	l := newLooks(t, g)
	server := httptest.NewServer(g.Handler())
	defer server.Close()
	c := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], "")
	before := gatewaytest.AnswerOf(t, c.Call("list"))
	w := watchOver(t, server, "/mcp", gatewaytest.Eras[0], http.Header{}, "drawbridge://shop/orders")
	defer w.end()
	l.looked()
	l.again() // each answer is another one
	if got := gatewaytest.AnswerOf(t, c.Call("list")); got == before {
		t.Errorf("answer %s as before the change", got)
	}
	g.Subscriptions().End()
}
