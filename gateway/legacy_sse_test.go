package gateway_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"drawbridge/gateway/admission"
	"drawbridge/test/gatewaytest"
)

// TestOldTransportGivesRoomBack: a large answer, which goes out after the request that asked for it has ended, keeps no room.
func TestOldTransportGivesRoomBack(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "large600"),
		"server: {old_transport: true, allowed_hosts: [mcp.example.com]}\napis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nlimits: {max_result_tokens: 0}\n", largeService(t))
	withRoom(g, 16<<20)
	server := httptest.NewServer(g.Handler())
	t.Cleanup(server.Close) // after the stream has ended
	c := gatewaytest.OpenOld(t, server.URL, "/sse", "")
	c.Ask(gatewaytest.OldInitialize)
	for id := range 3 {
		if got := c.Ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"large600","arguments":{}}}`, id)); len(got) < 600<<10 {
			t.Fatalf("%.1000s", got)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a call gives its room back a moment after its answer is out
	defer cancel()
	if err := g.Responses().NewReservation(admission.Caller{}).Begin(ctx, g.Responses().Capacity(), 0); err != nil {
		t.Error("room was not given back")
	}
}
