package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"drawbridge/auth"
	"drawbridge/gateway"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/task"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// auditOf is what the audit log tells of what runs.
func auditOf(t *testing.T, g *gateway.Gateway, run func()) string {
	t.Helper()
	out := &gatewaytest.Sink{}
	log, err := audit.New(audit.Options{Output: out})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- log.Run(ctx) }()
	g.SetAudit(log)
	run()
	cancel()
	if err := timebox.Receive(t, ended); err != nil {
		t.Error(err)
	}
	return out.String()
}

// outcomesIn runs what writes to an audit log, and returns of each line how the request came about, how it ended, the last status and how many
// requests it made, or what a request got that was refused before it was a call.
func outcomesIn(t *testing.T, g *gateway.Gateway, run func()) (told []string) {
	t.Helper()
	for line := range strings.Lines(auditOf(t, g, run)) {
		var l struct {
			RPC, Decision, Outcome string
			Status, Requests       int
			Answered               int
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Answered != 0 {
			told = append(told, fmt.Sprint(l.RPC, " ", l.Decision, " ", l.Outcome, " answered ", l.Answered))
			continue
		}
		told = append(told, fmt.Sprint(l.RPC, " ", l.Decision, " ", l.Outcome, " ", l.Status, " ", l.Requests))
	}
	return told
}

// TestAccountOfAFailedTask: what a service did not do, or say, about a job is not told as done, and is counted as a call's failure is.
func TestAccountOfAFailedTask(t *testing.T) {
	for _, tt := range []struct {
		name, method, answer, want, outcome string
	}{
		{"a look while the service has no time", "tasks/get", "503", "tasks/get allowed server_error 503 1", "server_error"},
		{"a look that nobody answers", "tasks/get", "break", "tasks/get allowed connect 0 0", "connect"},
		{"a look that the service forbids", "tasks/get", "403", "tasks/get allowed client_error 403 1", "client_error"},
		{"a job that is stopped", "tasks/cancel", "204", "tasks/cancel allowed ok 204 1", ""},
		{"a job that is not stopped by a fault", "tasks/cancel", "500", "tasks/cancel allowed server_error 500 1", "server_error"},
		{"a job that may not be stopped", "tasks/cancel", "403", "tasks/cancel allowed client_error 403 1", "client_error"},
		{"a job that nobody stops", "tasks/cancel", "break", "tasks/cancel allowed connect 0 0", "connect"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI, "apis: [{name: reports, spec: $SPEC, base_url: $BASE}]\n"+
					"rules: [{match: {operation: makeReport}, set: {job: {cancel: {method: DELETE}}}}]\n", gatewaytest.NewJobService(gatewaytest.AcceptedJob+"=== "+tt.answer+"\n"))
				_, messages := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Name: "makeReport", Tasks: true}, "")
				time.Sleep(2 * time.Second)
				told := outcomesIn(t, g, func() {
					if status, got := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Method: tt.method, Params: `"taskId":"$TASK"`, Tasks: true}, gatewaytest.TaskID(messages[0])); status != 200 {
						t.Errorf("%d %s", status, got)
					}
				})
				if diff := cmp.Diff([]string{tt.want}, told); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				if tt.outcome == "" {
					return
				}
				if lines := gatewaytest.MetricLines(g, "drawbridge_tool_calls_total", fmt.Sprintf("outcome=%q", tt.outcome), "} 1"); len(lines) != 1 {
					t.Errorf("counted: %q", gatewaytest.MetricLines(g, "drawbridge_tool_calls_total"))
				}
			})
		})
	}
}

// TestAccountOfATaskThatIsNotPermitted has a line for a look that the rule's condition refuses.
func TestAccountOfATaskThatIsNotPermitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI, "", gatewaytest.NewJobService(gatewaytest.AcceptedJob))
		for name, arguments := range map[string]json.RawMessage{"with the arguments of the call": json.RawMessage(`{}`), "of a call before there was a condition": nil} {
			p := task.Payload{Key: "k", Tool: "makeReport", URL: "http://jobs.test/v1/jobs/7", Created: time.Now().UnixMilli(), Arguments: arguments}
			opened, err := openAs(g, "", "", sealTask(t, g, p, time.Now().Add(time.Hour), "", ""))
			if err != nil {
				t.Fatal(err)
			}
			opened.Call.Method = "tasks/get"
			plan := *opened.Call.Plan
			if plan.Condition, err = auth.NewCondition("1 == 2"); err != nil {
				t.Fatal(err)
			}
			opened.Call.Plan = &plan
			told := outcomesIn(t, g, func() {
				if err := opened.Call.Authorize(opened.ctx, g.CallRunner(), opened.Payload.Arguments); err == nil {
					t.Errorf("%s: it is permitted", name)
				}
			})
			if diff := cmp.Diff([]string{"tasks/get refused not_permitted 0 0"}, told); diff != "" {
				t.Errorf("%s: -want +got:\n%s", name, diff)
			}
		}
	})
}

// TestAccountOfAnAnswerToAJob: what a service says of the answer that it is brought is told as it is.
func TestAccountOfAnAnswerToAJob(t *testing.T) {
	const api = `openapi: 3.1.0
info: {title: Reports, version: "1"}
paths:
  /reports: {post: {operationId: makeReport, responses: {"202": {description: Taken}}}}
  /jobs/{id}/answers:
    post:
      operationId: answerJob
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {question: {type: string}, action: {type: string}, form: {type: object}}}}}}
      responses: {"204": {description: Thanks}}
`
	const config = `apis: [{name: reports, spec: $SPEC, base_url: $BASE}]
rules:
  - match: {operation: makeReport}
    set: {job: {questions: {list: /asks, answer: {operation: answerJob, bind: {id: /id}, key: question, action: action, content: form}}}}
`
	const accepted = "HTTP/1.1 202 Accepted\nLocation: /v1/jobs/7\nContent-Type: application/json\n\n" + `{"id":"7"}` + "\n"
	const asks = "===\nHTTP/1.1 200 OK\nContent-Type: application/json\n\n" + `{"id":"7","status":"waiting","asks":[{"id":"size","message":"Which?"}]}` + "\n"
	for _, tt := range []struct{ name, answer, want string }{
		{"taken", "204", "tasks/update allowed ok 204 1"},
		{"not understood", "400", "tasks/update allowed client_error 400 1"},
		{"a fault", "500", "tasks/update allowed server_error 500 1"},
		{"nobody there", "break", "tasks/update allowed connect 0 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gatewaytest.StartJobs(t, api, config, gatewaytest.NewJobService(accepted+asks+"=== "+tt.answer+"\n"))
				_, messages := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Name: "makeReport", Tasks: true, Elicitation: true}, "")
				time.Sleep(2 * time.Second)
				id := gatewaytest.TaskID(messages[0])
				gatewaytest.CallJob(t, g, gatewaytest.JobCall{Method: "tasks/get", Params: `"taskId":"$TASK"`, Tasks: true, Elicitation: true}, id)
				told := outcomesIn(t, g, func() {
					gatewaytest.CallJob(t, g, gatewaytest.JobCall{Method: "tasks/update", Params: `"taskId":"$TASK","inputResponses":{"size":{"action":"decline"}}`, Tasks: true}, id)
				})
				if diff := cmp.Diff([]string{tt.want}, told); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		})
	}
}
