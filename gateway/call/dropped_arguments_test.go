package call_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"drawbridge/test/gatewaytest"
)

// TestDroppedIsNotInTheCall holds that what follows a call does not depend on arguments that were dropped, in either era: its condition does not see them
// (pains row 121).
func TestDroppedIsNotInTheCall(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.DroppedDocument, fmt.Sprintf(`server: {public_url: https://mcp.example.com}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
tools: {drop_arguments: [ticket]}
rules: [{match: {operation: change}, set: {condition: 'has(args.ticket) || has(args.reason)'}}]
`, gatewaytest.Issuers(i)), service.URL)
	for _, revision := range gatewaytest.Eras {
		c := gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, nil))
		if w := c.Send("tools/call", "change", `{"id":7,"ticket":"T-1"}`); !strings.Contains(w.Body.String(), "policy does not permit this call") || len(service.Taken()) != 0 {
			t.Errorf("%s: the condition has seen a dropped argument: %s", revision, w.Body)
		}
		if w := c.Send("tools/call", "change", `{"id":7,"ticket":"T-1","reason":"r"}`); !gatewaytest.Delivered(w) || len(service.Taken()) != 1 {
			t.Errorf("%s: %s", revision, w.Body)
		}
	}
}

// TestDroppedOfTask holds that a client that gets a task is told in the answer to its call what was dropped (pains row 121).
func TestDroppedOfTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := gatewaytest.NewJobService(gatewaytest.AcceptedJob)
		g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI, `apis: [{name: reports, spec: $SPEC, base_url: $BASE, drop_arguments: [toolCallId]}]
rules: [{match: {operation: makeReport}, set: {job: {}}}]
`, service)
		_, messages := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Name: "makeReport", Arguments: json.RawMessage(`{"toolCallId":"c1"}`), Tasks: true}, "")
		for _, want := range []string{`"resultType":"task"`, `"drawbridge/droppedArguments":["/toolCallId"]`} {
			if !strings.Contains(string(messages[0]), want) {
				t.Errorf("no %s in %s", want, messages[0])
			}
		}
	})
}

// TestDroppedAfterReload holds that a reload applies both lists. The general one leaves the APIs as they are, and the last good document of an API
// outlives a change of its own (pains row 121).
func TestDroppedAfterReload(t *testing.T) {
	const api, general = "apis: [{spec: a.yaml, name: shop, base_url: 'http://127.0.0.1:1'%s}]\n", "tools: {drop_arguments: [%s]}\n"
	r := gatewaytest.Run(t, map[string]string{"a.yaml": gatewaytest.DroppedDocument, "drawbridge.yaml": fmt.Sprintf(api, "")})
	r.Served()
	source := r.Plan("change").Source
	for _, tt := range []struct {
		file, want string
		same       bool
	}{
		{fmt.Sprintf(api, "") + fmt.Sprintf(general, "a, b"), "/a /b", true},
		{fmt.Sprintf(api, "") + fmt.Sprintf(general, "c"), "/c", true},
		{fmt.Sprintf(api, ", drop_arguments: [b]") + fmt.Sprintf(general, "c"), "/b", false},
		{fmt.Sprintf(api, ", drop_arguments: []") + fmt.Sprintf(general, "c"), "", false},
	} {
		files := map[string]string{"drawbridge.yaml": tt.file}
		if !tt.same {
			files["a.yaml"] = "openapi: ["
		}
		r.Write(files)
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		plan := r.Plan("change")
		if _, dropped := plan.Drop(json.RawMessage(`{"id":7,"c":1,"b":1,"a":1}`)); strings.Join(dropped, " ") != tt.want {
			t.Errorf("%s: dropped %q, want %q", tt.file, dropped, tt.want)
		}
		if tt.same != (plan.Source == source) {
			t.Errorf("%s: the API is the same: %t", tt.file, plan.Source == source)
		}
	}
}
