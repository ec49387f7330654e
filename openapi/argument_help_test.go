package openapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestListedArguments: however many arguments there are, that which a fault is about is listed with its type, and the text stays short.
func TestListedArguments(t *testing.T) {
	var parameters strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&parameters, "        - {name: p%d, in: query, schema: {type: integer}}\n", i)
	}
	document := strings.Replace(limitsDocument, "        - {name: p, in: path, required: true, schema: {type: string}}\n", parameters.String(), 1)
	document = document[:strings.Index(document, "        - {name: q,")] + "      responses: {\"200\": {description: OK}}\n"
	op := find(t, compiled(t, strings.Replace(document, "/x/{p}", "/x", 1)), "limits")
	_, err := op.NewRequest(t.Context(), nil, json.RawMessage(`{"p999":true}`))
	m, ok := err.(interface{ ToolMessage() string })
	if !ok {
		t.Fatal(err)
	}
	text := m.ToolMessage()
	if !strings.Contains(text, "It takes (p999?: integer, p0?, ") || !strings.Contains(text, ", …+") || !strings.Contains(text, `{"p999":1}`) || len(text) > 2000 {
		t.Error(text)
	}
}
