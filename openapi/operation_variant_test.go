package openapi

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// askedOperation compiles an operation whose body has the schema.
func askedOperation(t *testing.T, schema string, options CompileOptions) *Operation {
	t.Helper()
	doc, err := Load(t.Context(), writeFile(t, `{"openapi":"3.1.0","info":{"title":"A","version":"1"},"servers":[{"url":"https://api.example"}],
		"components":{"schemas":{"Base":{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}}},
		"paths":{"/x":{"post":{"operationId":"x","requestBody":{"required":true,"content":{"application/json":{"schema":`+schema+`}}},"responses":{"204":{"description":"ok"}}}}}}`), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := doc.Compile(t.Context(), options)
	if err != nil || len(api.Operations) != 1 {
		t.Fatal(err, api.Skipped)
	}
	return api.Operations[0]
}

// TestVariant checks that elicited arguments may be missing for every way in which a schema requires them, that the
// rest is checked, and that the operation itself does not change.
func TestVariant(t *testing.T) {
	const properties = `"properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{"type":"boolean"}}`
	for name, tt := range map[string]struct {
		schema             string
		optional, withheld []string
		input              string // published; "" is not compared
		good, bad          []string
	}{
		"plain": {
			schema: `{"type":"object","required":["a","b"],` + properties + `}`, optional: []string{"a"},
			input: `{"type":"object","required":["b"],` + properties + `,"additionalProperties":false}`,
			good:  []string{`{"b":1}`, `{"b":"1"}`, `{"a":"x","b":1}`}, bad: []string{`{}`, `{"a":1,"b":1}`, `{"b":1,"d":1}`},
		},
		"all": {
			schema: `{"type":"object","required":["a","b"],"minProperties":3,` + properties + `}`, optional: []string{"a", "b"},
			input: `{"type":"object","minProperties":1,` + properties + `,"additionalProperties":false}`,
			good:  []string{`{"c":true}`}, bad: []string{`{}`, `{"c":1}`},
		},
		"withheld": {
			schema: `{"type":"object","required":["a","b"],` + properties + `}`, withheld: []string{"a"},
			input: `{"type":"object","required":["b"],"properties":{"b":{"type":"integer"},"c":{"type":"boolean"}},"additionalProperties":false}`,
			good:  []string{`{"b":1}`}, bad: []string{`{"a":"x","b":1}`, `{"a":null,"b":1}`, `{"b":"x"}`},
		},
		"withheld where others are allowed": {
			schema: `{"type":"object","required":["a"],` + properties + `,"additionalProperties":true}`, withheld: []string{"a"},
			good: []string{`{}`, `{"d":1}`}, bad: []string{`{"a":"x"}`},
		},
		"composed": {
			schema:   `{"allOf":[{"$ref":"#/components/schemas/Base"},{"type":"object","required":["b"],"properties":{"b":{"type":"integer"},"nested":{"$ref":"#/components/schemas/Base"}}}]}`,
			optional: []string{"a"},
			good:     []string{`{"b":1}`, `{"b":1,"nested":{"a":"x"}}`}, bad: []string{`{}`, `{"b":1,"nested":{}}`, `{"a":1,"b":1}`},
		},
		"alternatives that fit both": {
			schema:   `{"type":"object",` + properties + `,"oneOf":[{"required":["a"]},{"required":["b"]}]}`,
			optional: []string{"a", "b"}, good: []string{`{}`, `{"c":true}`, `{"a":"x"}`}, bad: []string{`{"c":1}`},
		},
		"conditions": {
			schema:   `{"type":"object",` + properties + `,"if":{"properties":{"a":{"const":"x"}},"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]},"dependentRequired":{"c":["a"]},"not":{"required":["a","b","c"]}}`,
			optional: []string{"a"}, good: []string{`{}`, `{"c":true}`}, bad: []string{`{"b":"x"}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			op := askedOperation(t, tt.schema, CompileOptions{})
			before := string(op.Input)
			asked := op.Variant(tt.optional, tt.withheld, "")
			if tt.input != "" && string(asked.Input) != tt.input {
				t.Errorf("input\n%s\nwant\n%s", asked.Input, tt.input)
			}
			for _, args := range tt.good {
				if _, _, err := asked.Check(json.RawMessage(args)); err != nil {
					t.Errorf("%s: %v\n%s", args, err, asked.Input)
				}
			}
			for _, args := range tt.bad {
				var wrong *ArgumentError
				if _, _, err := asked.Check(json.RawMessage(args)); !errors.As(err, &wrong) {
					t.Errorf("%s: %v\n%s", args, err, asked.Input)
				} else if len(tt.withheld) > 0 && strings.Contains(wrong.ToolMessage(), "a (string") {
					t.Errorf("%s: offers what is withheld: %s", args, wrong.ToolMessage())
				}
			}
			if string(op.Input) != before {
				t.Error("the operation has changed")
			}
			if noted := op.Variant(tt.optional, tt.withheld, "Asked.").Input; len(tt.optional) > 0 != strings.Contains(string(noted), `"description":"Asked."`) {
				t.Errorf("with a note: %s", noted)
			}
			portable := askedOperation(t, tt.schema, CompileOptions{Profile: ProfilePortable}).Variant(tt.optional, tt.withheld, "Asked.")
			if input, _ := portable.Published(ProfileFull); !json.Valid(input) || len(tt.withheld) > 0 && strings.Contains(string(input), `"a"`) {
				t.Errorf("portable: %s", input)
			}
		})
	}
}
