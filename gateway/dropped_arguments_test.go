package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/test/gatewaytest"
)

// TestDroppedInContinuation holds that a client may add other values when it makes a call again with the user's answer, and that the audit
// log says for each what was dropped, and hashes the call without it (pains row 121).
func TestDroppedInContinuation(t *testing.T) {
	service := gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.DroppedDocument, `apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
tools: {confirm: destructive, drop_arguments: [toolCallId, sessionId]}
`, service.URL)
	log := auditOf(t, g, func() {
		_, asked, _ := gatewaytest.Modern(t, g.Handler(), "", "change", `{"toolCallId":"c1","id":7,"sessionId":"s"}`, "", true)
		retry := fmt.Sprintf(`"requestState":%s,"inputResponses":{"confirm":{"action":"accept","content":{"go_ahead":true}}},`, asked["requestState"])
		_, result, body := gatewaytest.Modern(t, g.Handler(), "", "change", `{"toolCallId":"c2","id":7}`, retry, true)
		if len(service.Taken()) != 1 || !strings.Contains(string(result["_meta"]), `"drawbridge/droppedArguments":["/toolCallId"]`) {
			t.Errorf("the call that the user agreed to: %s", body)
		}
		_, asked, _ = gatewaytest.Modern(t, g.Handler(), "", "change", `{"id":7}`, "", true)
		retry = fmt.Sprintf(`"requestState":%s,"inputResponses":{"confirm":{"action":"decline"}},`, asked["requestState"])
		gatewaytest.Modern(t, g.Handler(), "", "change", `{"id":7}`, retry, true)
	})
	type line struct {
		Dropped []string
		Outcome string
		Hash    string `json:"arguments_hash"`
	}
	var got []line
	hashes := map[string]bool{}
	for text := range strings.Lines(log) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		hashes[l.Hash], l.Hash = true, ""
		got = append(got, l)
	}
	want := []line{{[]string{"/toolCallId"}, "ok", ""}, {nil, "not_confirmed", ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(hashes) != 1 {
		t.Errorf("one call has the hashes %v", hashes)
	}
}
