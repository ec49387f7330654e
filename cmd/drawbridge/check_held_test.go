package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckHeld holds that serve quarantines a document that gives wider access, with a warning that says how to accept it, and that check
// tells of it before a start.
func TestCheckHeld(t *testing.T) {
	const document = "openapi: 3.1.0\ninfo: {title: A, version: '1'}\ncomponents: {securitySchemes: {oauth: {type: oauth2, flows: {}}}}\n" +
		"paths: {/orders: {get: {operationId: orders, security: [{oauth: [admin]}], responses: {'200': {description: ok}}}}}\n"
	s := serve(t, map[string]string{"a.yaml": document, "drawbridge.yaml": "server: {listen: '127.0.0.1:0', state_dir: state, shutdown_delay: 0s, public_url: 'http://localhost:1'}\nadmin: {listen: '127.0.0.1:0'}\n" +
		"auth: {issuers: [{issuer: 'http://127.0.0.1:1'}], default_scopes: [use]}\napis: [{name: a, spec: a.yaml, base_url: 'http://127.0.0.1:1', scopes_from_document: true}]\ntelemetry: {log_format: json}\n"})
	s.await("document read", 1)
	s.awaitStored(1) // check reads it
	check := func(args ...string) (code int, text string) {
		var out strings.Builder
		code = run(t.Context(), append([]string{"check", "--config", filepath.Join(s.dir, "drawbridge.yaml")}, args...), func(string) string { return "" }, &out, &out, nil)
		return code, out.String()
	}
	s.write(map[string]string{"a.yaml": strings.Replace(document, "security: [{oauth: [admin]}]", "security: []", 1)})
	line := s.await("a document would undo restrictions and is quarantined; correct the document or the configuration, or accept the document", 1)
	if line["accept"] != "POST /apis/a/accept" {
		t.Errorf("%v", line)
	}
	const want = "warning: serve would hold this document and keep using the one in server.state_dir until POST /apis/a/accept: " +
		"apis: a: fewer or other scopes suffice for calls of GET /orders\n"
	if code, text := check(); code != 0 || !strings.Contains(text, want) {
		t.Errorf("check = %d\n%s", code, text)
	}
	if code, text := check("--strict", "--json"); code != exitFail || !strings.Contains(text, `"restrictions"`) {
		t.Errorf("check --strict --json = %d\n%s", code, text)
	}
}
