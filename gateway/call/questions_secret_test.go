package call_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

const questionsDocument = `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /orders:
    get:
      operationId: order
      parameters: [{name: name, in: query, required: true, schema: {type: string, maxLength: 30}}]
      responses: {"200": {description: ok}}
`

const questionsConfig = `apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
rules: [{match: {operation: order}, set: {inputs: [{key: who, arguments: [name], when: %s}]}}]
`

// answered are the members of params with which a modern client answers the question who.
func answered(result map[string]json.RawMessage, answer string) string {
	return fmt.Sprintf(`"requestState":%s,"inputResponses":{"who":%s},`, result["requestState"], answer)
}

// TestAnswersAreGoodOnce holds that what is always asked for is asked for each call, and that an answer to it counts for
// nothing before. What is missing is an argument, which a client may give as it likes.
func TestAnswersAreGoodOnce(t *testing.T) {
	const ann = `{"action":"accept","content":{"name":"Ann"}}`
	for when, again := range map[string]int{"always": 0, "missing": 1} { // how many requests are sent for what was not asked, or was asked before
		service := gatewaytest.NewRecordingService(t)
		g := gatewaytest.Start(t, questionsDocument, fmt.Sprintf(questionsConfig, when), service.URL)
		_, asked, body := gatewaytest.Modern(t, g.Handler(), "", "order", `{}`, "", true)
		if asked["inputRequests"] == nil {
			t.Fatalf("%s: %s", when, body)
		}
		for _, tt := range []struct {
			name, retry string
			sent        int
		}{
			{"without its state", `"inputResponses":{"who":` + ann + `},`, again},
			{"another key", fmt.Sprintf(`"requestState":%s,"inputResponses":{"whom":%s},`, asked["requestState"], ann), 0},
			{"answered", answered(asked, ann), 1},
			{"again", answered(asked, ann), again},
		} {
			_, _, body := gatewaytest.Modern(t, g.Handler(), "", "order", `{}`, tt.retry, true)
			if sent := len(service.Taken()); sent != tt.sent {
				t.Errorf("%s, %s: %d requests, %s", when, tt.name, sent, body)
			}
		}
	}
}

// TestAnswersStayHere holds that no answer, good or bad, is in a log, a metric or the state that the client carries.
func TestAnswersStayHere(t *testing.T) {
	secrets := gatewaytest.Canaries{"good answer": "good-answer-canary-0123456789", "bad answer": "bad-answer-canary-" + strings.Repeat("0123456789", 3), "declined": "declined-answer-canary-01234"}
	log := &gatewaytest.Sink{}
	service := gatewaytest.NewRecordingService(t)
	g, err := gateway.New(gateway.Options{Config: gatewaytest.Configure(t, t.TempDir(), questionsDocument, fmt.Sprintf(questionsConfig, "missing"), service.URL), Version: "1",
		Logger: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, asked, _ := gatewaytest.Modern(t, g.Handler(), "", "order", `{}`, "", true)
	form := func(name string) string {
		return fmt.Sprintf(`{"action":"accept","content":{"name":%q}}`, secrets[name])
	}
	for range 3 {
		var body string
		if _, asked, body = gatewaytest.Modern(t, g.Handler(), "", "order", `{}`, answered(asked, form("bad answer")), true); asked["requestState"] == nil {
			break
		}
		if found := secrets.Found(string(asked["requestState"])); len(found) > 0 {
			t.Errorf("the state has %v: %s", found, body)
		}
	}
	for _, answer := range []string{form("good answer"), fmt.Sprintf(`{"action":"decline","content":{"name":%q}}`, secrets["declined"])} {
		_, asked, _ := gatewaytest.Modern(t, g.Handler(), "", "order", `{}`, "", true)
		gatewaytest.Modern(t, g.Handler(), "", "order", `{}`, answered(asked, answer), true)
	}
	if sent := len(service.Taken()); sent != 1 {
		t.Errorf("%d requests, want that of the good answer", sent)
	}
	told := log.String() + strings.Join(gatewaytest.MetricLines(g, "drawbridge_tool_calls_total"), "\n")
	if found := secrets.Found(told); len(found) > 0 {
		t.Errorf("%v came out: %s", found, told)
	}
	for _, outcome := range []string{`outcome="not_answered"`, `outcome="asked"`, `outcome="ok"`} {
		if len(gatewaytest.MetricLines(g, "drawbridge_tool_calls_total", outcome)) == 0 {
			t.Errorf("no call has %s", outcome)
		}
	}
}
