package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/call"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
	"drawbridge/test/gatewaytest"
)

// errand is a tool of three calls, of which the user must confirm the second.
type errand struct {
	definition *catalog.Tool
	metrics    *telemetry.CallMetrics
	steps      []call.Tool
}

func (e *errand) Definition() *catalog.Tool              { return e.definition }
func (e *errand) Scopes() (sets [][]string, needed bool) { return nil, false }
func (e *errand) Rates() []*admission.RateLimit          { return nil }
func (e *errand) AsksUser() bool                         { return true }
func (e *errand) Metrics() *telemetry.CallMetrics        { return e.metrics }
func (e *errand) Redaction() call.Redaction              { return call.Redaction{} }

// Run implements [call.Tool]: what the steps have answered is kept while the user is asked.
func (e *errand) Run(ctx context.Context, c *call.Call) error {
	ctx, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	var kept struct {
		Done []string
		Step json.RawMessage // the state of the step that has asked
	}
	if state := c.Kept(); state != nil {
		if err := json.Unmarshal(state, &kept); err != nil {
			return err
		}
	}
	for _, step := range e.steps[len(kept.Done):] {
		args := json.RawMessage(`{}`)
		if step.Definition().Name == "cancel" {
			args = c.Arguments
		}
		said, err := e.step(ctx, c, step, args, kept.Step)
		kept.Step = nil
		var need *mcp.InputRequired
		if errors.As(err, &need) {
			kept.Step = need.State
			state, err := json.Marshal(&kept)
			if err != nil {
				return err
			}
			c.Keep(state)
			return need
		}
		if err != nil {
			return err
		}
		kept.Done = append(kept.Done, said)
	}
	c.Answer([][]byte{[]byte(strings.Join(kept.Done, ", "))})
	c.Done(ctx, telemetry.OutcomeOK, nil)
	return nil
}

func (e *errand) step(ctx context.Context, c *call.Call, t call.Tool, args, state json.RawMessage) (said string, err error) {
	out, err := c.Step(ctx, call.Step{Tool: t, Arguments: args, State: state})
	if err != nil {
		return "", err
	}
	defer out.Close()
	if out.Failure != nil {
		failed := *out.Failure
		return "", &failed
	}
	return fmt.Sprintf("%s %d", t.Definition().Name, out.Usage.Status), nil
}

// errandIn adds the tool to a gateway.
func errandIn(g *gateway.Gateway) {
	tools := g.Current().Main.Tools
	tools["errand"] = &errand{
		definition: catalog.NewTool(catalog.Definition{Name: "errand", Description: "Runs an errand.", Input: []byte(`{"type":"object"}`)}),
		metrics:    g.Counters().OwnCall("errand"), steps: []call.Tool{tools["harmless"], tools["cancel"], tools["list"]},
	}
}

const errandConfig = `server: {seal_keys: ["the-key-of-all-replicas-0123456789"]}
apis: [{name: shop, rate: {rate: 1/h, burst: 3}, spec: $SPEC, base_url: $BASE}]
tools: {confirm: destructive}
rules: [{match: {operation: harmless}, set: {confirm: false}}]
state: {redis: {url: "$REDIS", timeout: 1s}}
`

// TestQuestionBetweenSteps: a call of three steps asks its user before the second. Wherever it goes on, no step is repeated, and each call is
// one in the service, the limits and the records, which name the call that it is a step of.
func TestQuestionBetweenSteps(t *testing.T) {
	for _, revision := range gatewaytest.AllRevisions[:2] {
		for action, want := range map[string]struct {
			said    string
			sent    []string
			records []string
		}{
			"accept": {
				"result: harmless 200, cancel 200, list 200\n", []string{"POST /ping", "DELETE /orders/7", "GET /orders"},
				[]string{"cancel allowed ok 1 of errand", "errand allowed ok 1", "harmless allowed ok 0 of errand", "list allowed ok 0 of errand"},
			},
			"decline": {
				"failed: The user did not agree to this call.", []string{"POST /ping"},
				[]string{"cancel refused not_confirmed 1 of errand", "errand refused not_confirmed 1", "harmless allowed ok 0 of errand"},
			},
		} {
			t.Run(revision+" "+action, func(t *testing.T) {
				service, redis := gatewaytest.NewRecordingService(t), miniredis.RunT(t)
				all := replicas(t, redis, 2, gatewaytest.ConfirmDocument, errandConfig, service.URL)
				for _, g := range all {
					errandIn(g)
				}
				var n atomic.Int64
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					at := 0 // where the request of a legacy client waits
					if revision == gatewaytest.AllRevisions[0] {
						at = int(n.Add(1) % 2)
					}
					all[at].Handler().ServeHTTP(w, r)
				}))
				defer server.Close()
				c := &gatewaytest.Answering{T: t, URL: server.URL + "/mcp", Revision: revision}
				if err := json.Unmarshal(fmt.Appendf(nil, `{"name":"errand","arguments":{"id":7},"capabilities":{"elicitation":{"form":{}}},"answers":{"confirm":[{"action":%q,"content":{"go_ahead":true}}]}}`, action), &c.Call); err != nil {
					t.Fatal(err)
				}
				var other string
				lines := auditOf(t, all[0], func() {
					other = auditOf(t, all[1], func() {
						c.Run()
						server.Close() // the last record is written after the response
					})
				})
				if said := c.Log.String(); !strings.Contains(said, want.said) {
					t.Errorf("%s", said)
				}
				var sent []string
				for _, r := range service.Taken() {
					sent = append(sent, r.Method+" "+r.URL.Path)
				}
				if diff := cmp.Diff(want.sent, sent); diff != "" {
					t.Errorf("the service (-want +got)\n%s", diff)
				}
				if diff := cmp.Diff(want.records, stepsIn(t, lines+other)); diff != "" {
					t.Errorf("the audit log (-want +got)\n%s\n%s", diff, lines+other)
				}
				for _, g := range all {
					if n := g.Overload().InFlight(); n != 0 {
						t.Errorf("%d calls still run", n)
					}
				}
			})
		}
	}
}

// stepsIn returns of each audit record its tool, decision, outcome, how often the user was asked, and the tool of the call that it is a step of.
func stepsIn(t *testing.T, lines string) (records []string) {
	t.Helper()
	type record struct {
		Tool, Decision, Outcome, Request, Call, Parent string
		Asked                                          int
	}
	var all []record
	calls := map[string]string{}
	for line := range strings.Lines(lines) {
		var l record
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if all = append(all, l); l.Parent == "" {
			if l.Call == "" {
				l.Call = l.Request
			}
			calls[l.Call] = l.Tool
		}
	}
	for _, l := range all {
		text := fmt.Sprintf("%s %s %s %d", l.Tool, l.Decision, l.Outcome, l.Asked)
		if l.Parent != "" {
			text += " of " + calls[l.Parent]
		}
		records = append(records, text)
	}
	slices.Sort(records)
	return records
}

// TestQuestionsCountOnce: a call with a question is one in the rates, the audit log and the history. Answers that are sent again begin another
// call, which counts.
func TestQuestionsCountOnce(t *testing.T) {
	service := gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.ConfirmDocument, `apis: [{name: shop, rate: {rate: 1/h, burst: 2}, spec: $SPEC, base_url: $BASE}]
rules: [{match: {operation: cancel}, set: {inputs: [{key: which, arguments: [id]}]}}]
`, service.URL)
	var told []string
	lines := auditOf(t, g, func() {
		_, asked, _ := gatewaytest.Modern(t, g.Handler(), "", "cancel", `{}`, "", true)
		answer := fmt.Sprintf(`"requestState":%s,"inputResponses":{"which":{"action":"accept","content":{"id":7}}},`, asked["requestState"])
		for range 3 {
			status, result, body := gatewaytest.Modern(t, g.Handler(), "", "cancel", `{}`, answer, true)
			told = append(told, fmt.Sprintf("%d %s", status, result["resultType"]))
			if status != http.StatusOK && !strings.Contains(body, "too many") {
				t.Errorf("%s", body)
			}
		}
	})
	if diff := cmp.Diff([]string{`200 "complete"`, `200 "complete"`, "429 "}, told); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"cancel allowed ok 1", "cancel allowed ok 1", "cancel refused limited 1"}, stepsIn(t, lines)); diff != "" {
		t.Errorf("the audit log (-want +got)\n%s\n%s", diff, lines)
	}
	if n := len(service.Taken()); n != 2 {
		t.Errorf("the service got %d requests", n)
	}
}

// TestQuestionsAskedAgain: a state that a client gets because it has not answered stands for the same call. However many there are, one of
// them goes on with it: of those that count once, no other is accepted, and the rates count each other one.
func TestQuestionsAskedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		rules, arguments, response string
		want                       []string
	}{
		"arguments": {`{inputs: [{key: which, arguments: [id]}]}`, `{}`, `"which":{"action":"accept","content":{"id":7}}`, []string{`200 "complete"`, `200 "complete"`, "429 ", "429 "}},
		"consent":   {`{confirm: true}`, `{"id":7}`, `"confirm":{"action":"accept","content":{"go_ahead":true}}`, []string{`200 "complete"`, "400 ", "400 ", "400 "}},
	} {
		t.Run(name, func(t *testing.T) {
			service := gatewaytest.NewRecordingService(t)
			g := gatewaytest.Start(t, gatewaytest.ConfirmDocument, fmt.Sprintf(`apis: [{name: shop, rate: {rate: 1/h, burst: 2}, spec: $SPEC, base_url: $BASE}]
rules: [{match: {operation: cancel}, set: %s}]
`, c.rules), service.URL)
			send := func(more string) (told string, state json.RawMessage) {
				status, result, _ := gatewaytest.Modern(t, g.Handler(), "", "cancel", c.arguments, more, true)
				return fmt.Sprintf("%d %s", status, result["resultType"]), result["requestState"]
			}
			_, state := send("")
			states := []json.RawMessage{state}
			for len(states) < len(c.want) {
				_, state = send(fmt.Sprintf(`"requestState":%s,`, state))
				states = append(states, state)
			}
			var told []string
			for _, state := range states {
				got, _ := send(fmt.Sprintf(`"requestState":%s,"inputResponses":{%s},`, state, c.response))
				told = append(told, got)
			}
			if diff := cmp.Diff(c.want, told); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestWorkflowAsksOnce: the user of a workflow agrees once, before anything is sent, to the steps whose arguments follow from the inputs; a
// step whose arguments come from an earlier answer asks in the middle, and nothing runs twice. Each step has a record that names the workflow's.
func TestWorkflowAsksOnce(t *testing.T) {
	const yes, no = `{"action":"accept","content":{"go_ahead":true}}`, `{"action":"decline"}`
	for _, revision := range gatewaytest.AllRevisions[:2] {
		for name, c := range map[string]struct {
			tool, answers string
			sent, records []string
		}{
			"agreed":          {"ahead", yes, []string{"DELETE /orders/7", "DELETE /orders/7", "GET /orders"}, []string{"ahead allowed ok 1", "cancel allowed ok 0 of ahead", "cancel allowed ok 0 of ahead", "list allowed ok 0 of ahead"}},
			"declined":        {"ahead", no, nil, []string{"ahead refused not_confirmed 1"}},
			"midway":          {"midway", yes, []string{"POST /ping", "DELETE /orders/200", "GET /orders"}, []string{"cancel allowed ok 1 of midway", "harmless allowed ok 0 of midway", "list allowed ok 0 of midway", "midway allowed ok 1"}},
			"declined midway": {"midway", no, []string{"POST /ping"}, []string{"cancel refused not_confirmed 1 of midway", "harmless allowed ok 0 of midway", "midway refused not_confirmed 1"}},
		} {
			t.Run(revision+" "+name, func(t *testing.T) {
				service, redis := gatewaytest.NewRecordingService(t), miniredis.RunT(t)
				description := filepath.Join(t.TempDir(), "w.arazzo.yaml")
				if err := os.WriteFile(description, []byte(askingWorkflows), 0o600); err != nil {
					t.Fatal(err)
				}
				g := replicas(t, redis, 1, gatewaytest.ConfirmDocument, errandConfig+"workflows: ["+description+"]\n", service.URL)[0]
				server := httptest.NewServer(g.Handler())
				defer server.Close()
				a := &gatewaytest.Answering{T: t, URL: server.URL + "/mcp", Revision: revision}
				if err := json.Unmarshal(fmt.Appendf(nil, `{"name":%q,"arguments":{"id":7},"capabilities":{"elicitation":{"form":{}}},"answers":{"confirm":[%s]}}`, c.tool, c.answers), &a.Call); err != nil {
					t.Fatal(err)
				}
				lines := auditOf(t, g, func() {
					a.Run()
					server.Close() // the last record is written after the response
				})
				var sent []string
				for _, r := range service.Taken() {
					sent = append(sent, r.Method+" "+r.URL.Path)
				}
				if diff := cmp.Diff(c.sent, sent); diff != "" {
					t.Errorf("the service (-want +got)\n%s\n%s", diff, a.Log.String())
				}
				if diff := cmp.Diff(c.records, stepsIn(t, lines)); diff != "" {
					t.Errorf("the audit log (-want +got)\n%s\n%s", diff, lines)
				}
			})
		}
	}
}

const askingWorkflows = `arazzo: 1.0.1
info: {title: t, version: "1"}
sourceDescriptions: [{name: shop, url: api.yaml}]
workflows:
  - workflowId: ahead
    inputs: {type: object, properties: {id: {type: integer}}, required: [id]}
    steps:
      - {stepId: a, operationId: cancel, parameters: [{name: id, in: path, value: $inputs.id}]}
      - {stepId: b, operationId: cancel, parameters: [{name: id, in: path, value: $inputs.id}]}
      - {stepId: c, operationId: list}
  - workflowId: midway
    inputs: {type: object, properties: {id: {type: integer}}}
    steps:
      - {stepId: a, operationId: harmless, outputs: {status: $statusCode}}
      - {stepId: b, operationId: cancel, parameters: [{name: id, in: path, value: $steps.a.outputs.status}]}
      - {stepId: c, operationId: list}
`
