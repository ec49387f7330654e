package openapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"drawbridge/openapi/jsonschema"
)

// TestPhrases: how a model is told what an argument takes, as deep as schemas are followed.
func TestPhrases(t *testing.T) {
	nested := func(key string, levels int) string {
		return strings.Repeat(`{"`+key+`":[`, levels) + `{"type":"string"}` + strings.Repeat("]}", levels)
	}
	root := jsonschema.Parse([]byte(`{"$defs":{"E":{"enum":["a",1]},"S":{"type":"string"}}}`))
	enum := func(n int) string { return `["` + strings.Repeat("e", n-4) + `"]` }
	for text, want := range map[string]string{
		`{"$ref":"#/$defs/E"}`:                          `one of "a", 1`,
		`{"enum":` + enum(120) + `}`:                    "one of " + enum(120)[1:119],
		`{"type":"x","enum":` + enum(121) + `}`:         "x",
		`{"type":["integer","null"]}`:                   "integer or null",
		`{"type":"array","items":{"$ref":"#/$defs/S"}}`: "array of string",
		`{"type":"array"}`:                              "array",
		`{"type":"object","items":{"type":"string"}}`:   "object",
		`{"anyOf":[{"$ref":"#/$defs/S"},{"type":["integer","null"]},{"type":"string"}]}`: "string or integer or null",
		`{"anyOf":[{"type":"string"},{}]}`:                                               "see the schema",
		`{"allOf":[{},{"$ref":"#/$defs/S"},{"type":"null"}]}`:                            "string",
		nested("anyOf", jsonschema.MaxDepth):                                             "string",
		nested("anyOf", jsonschema.MaxDepth+1):                                           "see the schema",
		nested("allOf", jsonschema.MaxDepth):                                             "string",
		nested("allOf", jsonschema.MaxDepth+1):                                           "see the schema",
	} {
		if got := phrase(root.Read([]byte(text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestListedArguments: as many arguments are listed as a list may have, in their own order, and of more those that a fault is about.
func TestListedArguments(t *testing.T) {
	for _, n := range []int{maxListed, maxListed + 1} {
		var parameters strings.Builder
		for i := range n {
			fmt.Fprintf(&parameters, "        - {name: p%d, in: query, schema: {type: integer}}\n", i)
		}
		document := strings.Replace(limitsDocument, "        - {name: p, in: path, required: true, schema: {type: string}}\n", parameters.String(), 1)
		document = document[:strings.Index(document, "        - {name: q,")] + "      responses: {\"200\": {description: OK}}\n"
		op := find(t, compiled(t, strings.Replace(document, "/x/{p}", "/x", 1)), "limits")
		last := fmt.Sprintf("p%d", n-1)
		_, err := op.NewRequest(t.Context(), nil, json.RawMessage(`{"`+last+`":true}`))
		m, ok := err.(interface{ ToolMessage() string })
		if !ok {
			t.Fatal(err)
		}
		first, cut := "It takes: p0 (integer)", false
		if n > maxListed {
			first, cut = "It takes: "+last+" (integer), p0 (integer)", true
		}
		if text := m.ToolMessage(); !strings.Contains(text, first) || strings.Contains(text, "…") != cut || !strings.Contains(text, last+" (integer)") {
			t.Errorf("%d arguments: %s", n, text)
		}
	}
}
