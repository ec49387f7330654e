package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

const droppedDocument = `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /orders/{id}:
    patch:
      operationId: change
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}, {name: reason, in: query, schema: {type: string}}]
      responses: {"200": {description: ok}}
`

// TestDroppedIsNotInTheCall holds that what follows a call does not depend on arguments that were dropped, in either era: its condition does not see them
// (pains row 121).
func TestDroppedIsNotInTheCall(t *testing.T) {
	i, service := newIDP(t), newRecordingService(t)
	g := start(t, droppedDocument, fmt.Sprintf(`server: {public_url: https://mcp.example.com}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
tools: {drop_arguments: [ticket]}
rules: [{match: {operation: change}, set: {condition: 'has(args.ticket) || has(args.reason)'}}]
`, issuers(i)), service.URL)
	for _, revision := range eras {
		c := newClient(t, g.Handler(), revision, i.token(t, nil))
		if w := c.send("tools/call", "change", `{"id":7,"ticket":"T-1"}`); !strings.Contains(w.Body.String(), "policy does not permit this call") || len(service.taken()) != 0 {
			t.Errorf("%s: the condition has seen a dropped argument: %s", revision, w.Body)
		}
		if w := c.send("tools/call", "change", `{"id":7,"ticket":"T-1","reason":"r"}`); !delivered(w) || len(service.taken()) != 1 {
			t.Errorf("%s: %s", revision, w.Body)
		}
	}
}

// TestDroppedInContinuation holds that a client may add other values when it makes a call again with the user's answer, and that the audit
// log says for each what was dropped, and hashes the call without it (pains row 121).
func TestDroppedInContinuation(t *testing.T) {
	service := newRecordingService(t)
	g := start(t, droppedDocument, `apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
tools: {confirm: destructive, drop_arguments: [toolCallId, sessionId]}
`, service.URL)
	log := auditOf(t, g, func() {
		_, asked, _ := modern(t, g.Handler(), "", "change", `{"toolCallId":"c1","id":7,"sessionId":"s"}`, "", true)
		retry := fmt.Sprintf(`"requestState":%s,"inputResponses":{"confirm":{"action":"accept","content":{"go_ahead":true}}},`, asked["requestState"])
		_, result, body := modern(t, g.Handler(), "", "change", `{"toolCallId":"c2","id":7}`, retry, true)
		if len(service.taken()) != 1 || !strings.Contains(string(result["_meta"]), `"drawbridge/droppedArguments":["/toolCallId"]`) {
			t.Errorf("the call that the user agreed to: %s", body)
		}
		modern(t, g.Handler(), "", "change", `{"id":7}`, "", true)
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
	want := []line{{[]string{"/sessionId", "/toolCallId"}, "asked", ""}, {[]string{"/toolCallId"}, "ok", ""}, {nil, "asked", ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(hashes) != 1 {
		t.Errorf("one call has the hashes %v", hashes)
	}
}

// TestDroppedOfTask holds that a client that gets a task is told in the answer to its call what was dropped (pains row 121).
func TestDroppedOfTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := newJobService(acceptedJob)
		g := startJobs(t, reportsAPI(t), `apis: [{name: reports, spec: $SPEC, base_url: $BASE, drop_arguments: [toolCallId]}]
rules: [{match: {operation: makeReport}, set: {job: {}}}]
`, service)
		_, messages := callJob(t, g, jobCall{Name: "makeReport", Arguments: json.RawMessage(`{"toolCallId":"c1"}`), Tasks: true}, "")
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
	r := run(t, map[string]string{"a.yaml": droppedDocument, "drawbridge.yaml": fmt.Sprintf(api, "")})
	r.served()
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
		r.write(files)
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
