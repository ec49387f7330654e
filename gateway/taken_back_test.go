package gateway_test

import (
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestTakenBack holds that a rule can take back what earlier rules and the document say: the tool is then as if nothing had been said.
func TestTakenBack(t *testing.T) {
	const api = `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /orders:
    post:
      operationId: order
      x-mcp-inputs: [{key: who, arguments: [name]}]
      x-mcp-progress: {result: /r}
      x-mcp-job: {state: /phase}
      parameters: [{name: name, in: query, schema: {type: string}}]
      responses: {"200": {description: ok}}
`
	const rules = "apis: [{name: shop, spec: $SPEC, base_url: $BASE, trust_extensions: true}]\nrules:\n" +
		"  - {match: {method: POST}, set: {param_headers: {name: Name}}}\n"
	for _, taken := range []bool{false, true} {
		cfg := rules
		if taken {
			cfg += "  - {match: {operation: order}, set: {inputs: [], progress: false, job: false, param_headers: {}}}\n"
		}
		p := gatewaytest.Start(t, api, cfg, "http://127.0.0.1:1").Current().Main.Plan("order")
		for what, said := range map[string]bool{
			"questions": p.Elicitation != nil, "progress": p.Progress != nil, "a job": p.Job.Declared, "headers": len(p.Repeated) > 0,
			"an answer that may be a job": p.Job.MayBegin(202),
		} {
			if said == taken {
				t.Errorf("taken back: %t, and there are %s: %t", taken, what, said)
			}
		}
	}
}
