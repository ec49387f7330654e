package gatewaytest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
)

// Modern sends a tools/call of a modern client that can be asked with a form, or not; retry are members of params that an
// answer consists of.
func Modern(t *testing.T, h http.Handler, token, tool, arguments, retry string, form bool) (status int, result map[string]json.RawMessage, body string) {
	t.Helper()
	capabilities := `{}`
	if form {
		capabilities = `{"elicitation":{"form":{}}}`
	}
	header := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool},
	}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	w := Post(h, header, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,%s"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}}}`, tool, arguments, retry, capabilities))
	var answer struct{ Result map[string]json.RawMessage }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return w.Code, answer.Result, w.Body.String()
}

// ConfirmConfig is a configuration with an operation that the user must confirm.
const ConfirmConfig = `apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
tools: {confirm: destructive%s}
rules:
  - {match: {operation: harmless}, set: {confirm: false}}
  - {match: {operation: look}, set: {confirm: true}}
`

// ConfirmDocument is the document of [ConfirmConfig].
const ConfirmDocument = `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /orders/{id}:
    delete:
      operationId: cancel
      summary: Cancel an order
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {"200": {description: ok}}
  /ping: {post: {operationId: harmless, responses: {"200": {description: ok}}}}
  /orders: {get: {operationId: list, responses: {"200": {description: ok}}}}
  /secret: {get: {operationId: look, responses: {"200": {description: ok}}}}
`
