package gateway_test

import (
	"strings"
	"testing"

	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
)

// TestArgumentsAfterARefresh holds that a newer document without an argument that a rule fixes is held in quarantine, and
// that one in which the value no longer fits takes the operation away.
func TestArgumentsAfterARefresh(t *testing.T) {
	doc := func(parameter string) string {
		return "openapi: 3.1.0\ninfo: {title: A, version: '1'}\npaths:\n  /orders: {get: {operationId: list, parameters: [" + parameter +
			"], responses: {'200': {description: ok}}}}\n  /health: {get: {operationId: health, responses: {'200': {description: ok}}}}\n"
	}
	for name, tt := range map[string]struct{ parameter, held, tools string }{
		"gone":     {"{name: tenant_id, in: query, schema: {type: string}}", `fits GET /orders no more, since the argument "tenant" is gone`, "health list"},
		"another":  {"{name: tenant, in: query, schema: {type: string}}, {name: page, in: query, schema: {type: integer}}", "", "health list"},
		"no value": {"{name: tenant, in: query, schema: {type: string, enum: [other]}}", "", "health"},
	} {
		t.Run(name, func(t *testing.T) {
			o := gatewaytest.NewChanging(t, doc("{name: tenant, in: query, schema: {type: string}}"))
			r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "apis: [{spec: " + o.URL + "/a.yaml, name: a, refresh: 0s}]\nrules:\n  - {match: {api: a}, set: {arguments: {tenant: {value: acme}}}}\n"})
			r.Served()
			o.Set(doc(tt.parameter))
			poke(r)
			r.Eventually("the document is read again", func() bool {
				return r.State(0).State == admin.Held || r.State(0).LoadedAt != nil && loads(r, "changed") == 2
			})
			s := r.State(0)
			if (s.Held != nil) != (tt.held != "") || s.Held != nil && (len(s.Held.Restrictions) != 1 || !strings.Contains(s.Held.Restrictions[0], tt.held)) {
				t.Errorf("state %s, held %+v", s.State, s.Held)
			}
			r.Eventually("the tools are those of the document", func() bool { return strings.Join(r.Tools(), " ") == tt.tools })
		})
	}
}
