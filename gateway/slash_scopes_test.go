package gateway_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"drawbridge/gateway/call"
	"drawbridge/gateway/endpoint"
	"drawbridge/test/gatewaytest"
)

// TestSlashScopes holds that a value whose slashes are sent because its parameter seems to be a path can't lead below the path of an
// operation whose scopes the caller may not have, or that is excluded, even if the slashes are decoded on the way (ADR 0069).
func TestSlashScopes(t *testing.T) {
	const document = `openapi: 3.0.3
info: {title: Files, version: "1"}
paths:
  /files/{path}:
    parameters: [{name: path, in: path, required: true, schema: {type: string}}]
    get: {operationId: read, responses: {"200": {description: OK}}}
    delete: {operationId: remove, responses: {"204": {description: OK}}}
  /files/{folder}/keys/{name}:
    parameters: [{name: folder, in: path, required: true, schema: {type: string}}, {name: name, in: path, required: true, schema: {type: string}}]
    post: {operationId: addKey, responses: {"204": {description: OK}}}
  /files/{folder}/trash:
    parameters: [{name: folder, in: path, required: true, schema: {type: string}}]
    put: {operationId: empty, responses: {"204": {description: OK}}}
`
	issuer := gatewaytest.NewIDP(t)
	for _, c := range []struct {
		name, rules, more string
		// sent tells which values the main endpoint and that of the API send.
		main, other map[string]bool
	}{
		{
			name:  "default scopes",
			rules: `[]`,
			main:  map[string]bool{"a/b": true, "a/keys/b": false, "a/keys/b/c": true, "a/trash": false, "a/trash/1": true},
			other: map[string]bool{"a/b": true, "a/keys/b": false, "a/keys/b/c": true, "a/trash/1": true},
		},
		{
			name:  "scopes of another operation",
			rules: `[{match: {operation: addKey}, set: {scopes: [keys]}}]`,
			main:  map[string]bool{"a/b": true, "a/keys/b/c": false, "a/KEYS/b/c": false, "a/keys": true, "a/trash/1": true},
			other: map[string]bool{"a/b": true, "a/keys/b/c": true},
		},
		{
			name:  "scopes of its own that suffice",
			rules: `[{match: {operation: addKey}, set: {scopes: [keys]}}, {match: {operation: read}, set: {scopes: [keys, tools]}}]`,
			main:  map[string]bool{"a/keys/b/c": true, "a/keys/b": false, "a/trash/1": true},
			other: map[string]bool{"a/keys/b/c": true, "a/trash/1": true},
		},
		{
			name:  "scopes of its own that do not",
			rules: `[{match: {operation: read}, set: {scopes: [files]}}]`,
			main:  map[string]bool{"a/b": true, "a/keys/b/c": false, "a/trash/1": false},
			other: map[string]bool{"a/b": true, "a/keys/b/c": false},
		},
		{
			name:  "another operation that is excluded",
			rules: `[]`, more: `, tools: {exclude: [{operation: addKey}]}`,
			main:  map[string]bool{"a/b": true, "a/keys/b/c": false, "a/trash/1": true},
			other: map[string]bool{"a/keys/b/c": false},
		},
		{
			name:  "the operator allows slashes",
			rules: `[{match: {operation: addKey}, set: {scopes: [keys]}}]`, more: `, slash_parameters: [{name: path, as: encoded}]`,
			main:  map[string]bool{"a/b": true, "a/keys/b/c": true, "a/keys/b": true},
			other: map[string]bool{"a/keys/b/c": true},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := fmt.Sprintf(`server: {public_url: https://mcp.example.com}
auth: {issuers: [{issuer: %q}], default_scopes: [tools]}
apis: [{name: files, spec: $SPEC, base_url: $BASE%s}]
endpoints: [{name: files, default_scopes: [keys]}]
rules: %s
`, issuer.URL, c.more, c.rules)
			gen := gatewaytest.Start(t, document, config, "http://files.example").Current()
			for e, values := range map[*endpoint.Endpoint]map[string]bool{gen.Main: c.main, gen.Named["files"]: c.other} {
				p := call.PlanOf(e.Tools["read"])
				for value, want := range values {
					args, _ := json.Marshal(map[string]string{"path": value})
					if _, err := p.Requests.NewRequest(t.Context(), p.Base, args); (err == nil) != want {
						t.Errorf("endpoint %q, %s: %v", e.Name, value, err)
					}
				}
			}
		})
	}
}
