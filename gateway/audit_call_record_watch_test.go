package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/test/gatewaytest"
)

// TestAccountOfAWatch: a look at a resource ends as the service says, as a read does; what it does not have is no fault of the gateway's.
func TestAccountOfAWatch(t *testing.T) {
	service := newChangingService(t)
	g := gatewaytest.Start(t, shelfDocument, shelfConfig, service.URL)
	told := outcomesIn(t, g, func() {
		l := newLooks(t, g)
		server := httptest.NewServer(g.Handler())
		defer server.Close()
		watchOver(t, server, "/mcp", "2026-07-28", http.Header{}, "shelf:book").want("acknowledged [shelf:book]")
		l.looked()
		for _, status := range []int{503, 403, 404, 410} {
			service.set(status, "no")
			l.again()
		}
		if err := g.EndStreams(t.Context()); err != nil {
			t.Error(err)
		}
		g.Subscriptions().End()
	})
	if diff := cmp.Diff([]string{
		"watch allowed ok 200 1", "watch allowed server_error 503 3", "watch allowed client_error 403 1", "watch allowed client_error 404 1", "watch allowed client_error 410 1",
	}, told); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
