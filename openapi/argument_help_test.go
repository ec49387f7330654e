package openapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestPhrases: how a model is told what an argument takes, as deep as schemas are followed.
func TestPhrases(t *testing.T) {
	nested := func(key string, levels int) string {
		return strings.Repeat(`{"`+key+`":[`, levels) + `{"type":"string"}` + strings.Repeat("]}", levels)
	}
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
		nested("anyOf", maxNested):                                                       "string",
		nested("anyOf", maxNested+1):                                                     "see the schema",
		nested("allOf", maxNested):                                                       "string",
		nested("allOf", maxNested+1):                                                     "see the schema",
	} {
		root := []byte(`{"$defs":{"E":{"enum":["a",1]},"S":{"type":"string"}}}`)
		if got := (published{root, []byte(text)}).phrase(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestTakenMembers: the members of a schema are found as deep as compositions and references are followed.
func TestTakenMembers(t *testing.T) {
	composed, defs := "{}", ""
	for n := maxNested + 2; n >= 0; n-- {
		composed = fmt.Sprintf(`{"properties":{"p%d":{}},"required":["p%d"],"allOf":[%s]}`, n, n, composed)
		defs += fmt.Sprintf(`,"d%d":{"$ref":"#/$defs/d%d","properties":{"p%d":{}},"required":["p%d"]}`, n, n+1, n, n)
	}
	root := []byte(`{"$defs":{` + defs[1:] + `}}`)
	for name, text := range map[string]string{"compositions": composed, "references": `{"$ref":"#/$defs/d1","properties":{"p0":{}},"required":["p0"]}`} {
		all := (published{root, []byte(text)}).arguments()
		found := map[string]bool{}
		for _, d := range all {
			found[d.name] = d.required
		}
		if len(all) != maxNested+1 || !found["p0"] || !found[fmt.Sprint("p", maxNested)] {
			t.Errorf("%s: %v", name, found)
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
