package gateway_test

import (
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestPlansOfSafeMethods holds that a plan takes a method for safe where the annotations of its tool do, QUERY with them.
func TestPlansOfSafeMethods(t *testing.T) {
	r := gatewaytest.Run(t, map[string]string{
		"a.yaml": "openapi: 3.2.0\ninfo: {title: A, version: '1'}\nservers: [{url: 'http://127.0.0.1:1'}]\npaths:\n" +
			"  /a: {query: {operationId: find, responses: {'200': {description: ok}}}, get: {operationId: read, responses: {'200': {description: ok}}}, patch: {operationId: change, responses: {'200': {description: ok}}}}\n",
		"drawbridge.yaml": "apis: [{spec: a.yaml, name: a}]\n",
	})
	r.Served()
	for name, safe := range map[string]bool{"find": true, "read": true, "change": false} {
		if p := r.Plan(name); p == nil || p.Safe != safe || p.Tool.Annotations.ReadOnly != safe {
			t.Errorf("%s: %+v, want safe %t", name, p, safe)
		}
	}
}
