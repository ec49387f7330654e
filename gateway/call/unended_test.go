package call_test

import (
	"maps"
	"strings"
	"testing"

	"drawbridge/gateway/render"
	"drawbridge/test/gatewaytest"
)

// TestUnendedAnswers: wherever an answer goes that has no length and ends with its connection, it is said beside it that nobody can tell
// whether it is whole (P2, P5); and of no other.
func TestUnendedAnswers(t *testing.T) {
	service := newCutService(t)
	document := strings.Replace(gatewaytest.AnswerDocument, "paths:", `paths:
  /export:
    get: {operationId: export, responses: {"200": {description: Rows.}}}`, 1)
	g := gatewaytest.Start(t, document, `apis: [{name: shop, spec: $SPEC, base_url: $BASE, retries: off, breaker: off}]
rules:
  - {match: {operation: watch}, set: {resource: true, progress: {result: /result}}}
  - {match: {operation: export}, set: {job: {}}}
prompts:
  - {name: rows, messages: [{tool: watch}]}
  - {name: held, messages: [{resource: "drawbridge://shop/watch"}]}
`, service.url)
	bodies := maps.Clone(faultBodies)
	bodies["text/csv"] = ""
	const snapshots = "text/event-stream; of=snapshots"
	bodies[snapshots] = "data: {\"result\":\"a\"}\n\ndata: {\"result\":\"ab\"}\n\n"
	for form, write := range faultForms {
		for media, body := range bodies {
			for _, c := range []struct{ status, method, name, params string }{
				{"200 OK", "tools/call", "watch", `"name":"watch","arguments":{}`},
				{"202 Accepted", "tools/call", "watch", `"name":"watch","arguments":{}`},
				{"200 OK", "tools/call", "export", `"name":"export","arguments":{}`},
				{"200 OK", "resources/read", "drawbridge://shop/watch", `"uri":"drawbridge://shop/watch"`},
				{"200 OK", "prompts/get", "rows", `"name":"rows"`},
				{"200 OK", "prompts/get", "held", `"name":"held"`},
			} {
				service.set("HTTP/1.1 "+c.status+"\r\nContent-Type: "+media+"\r\n"+write(body), false)
				_, answer := gatewaytest.Ask(t, g.Handler(), gatewaytest.Eras[0], c.method, c.name, c.params)
				text := string(answer)
				if want := form == "close" && media != "application/json"; strings.Contains(text, render.Unended) != want || strings.Contains(text, `"error"`) || strings.Contains(text, `"isError":true`) {
					t.Errorf("%s: %s of %s by %s of %s: %.300s", c.status, form, media, c.method, c.name, text)
				}
			}
		}
	}
}
