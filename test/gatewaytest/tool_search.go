package gatewaytest

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
)

// AllRevisions are those that the gateway serves.
var AllRevisions = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// TextOf returns the texts of a result, and whether it is an error.
func TextOf(t *testing.T, w *httptest.ResponseRecorder) (text string, isError bool) {
	t.Helper()
	var answer struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	for _, block := range answer.Result.Content {
		text += block.Text + "\n"
	}
	return text, answer.Result.IsError
}

// SearchConfig is a configuration in search mode.
const SearchConfig = `apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
tools: {presentation: search%s}
rules:
  - {match: {operation: repeated, optional: true}, set: {param_headers: {id: Id}}}
`

// SearchDocument is its document.
const SearchDocument = `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /orders:
    get: {operationId: listOrders, summary: List orders, tags: [orders], responses: {"200": {description: ok, content: {application/json: {schema: {type: object}}}}}}
    post: {operationId: createOrder, summary: Create an order, tags: [orders], responses: {"200": {description: ok, content: {application/json: {schema: {type: object}}}}}}
  /orders/{id}:
    delete:
      operationId: cancelOrder
      summary: Cancel an order
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {"200": {description: ok}}
  /stock/{id}:
    get:
      operationId: repeated
      summary: Show the stock of an article
      tags: [stock]
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: ok}}
`
