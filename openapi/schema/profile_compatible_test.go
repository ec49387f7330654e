package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"drawbridge/test/race"

	"drawbridge/openapi/jsonschema"
)

// TestCompatible runs testdata/compatible: cases as for TestConvert, with the compatible form of the root schema (pains rows 170 and 171).
func TestCompatible(t *testing.T) {
	runCases(t, "compatible", func(t *testing.T, files map[string]string) func(string) (string, bool) {
		c, n := document(t, files["openapi.yaml"], Limits{}, nil)
		return func(name string) (string, bool) {
			if name != "compatible.json" {
				return "", false
			}
			full, err := c.Root(n, nil)
			if err != nil {
				t.Fatal(err)
			}
			limit := 0
			fmt.Sscan(files["limit"], &limit)
			s := compatible(t, full, limit)
			checkCompatible(t, s)
			return indented(t, s), true
		}
	})
}

// compatible returns the compatible form of a schema. One that is said to be compatible already differs from it at the root alone.
func compatible(t testing.TB, full []byte, limit int) json.RawMessage {
	t.Helper()
	parsed := jsonschema.Parse(full)
	made := Compatible(parsed, limit)
	if opened := Open(full); IsCompatible(parsed, limit) && !bytes.Equal(made, opened) {
		t.Errorf("IsCompatible of %s: %s, which is\n%s", full, opened, made)
	}
	return made
}

// TestIsCompatible: common schemas are recognized without writing them.
func TestIsCompatible(t *testing.T) {
	for text, want := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]}},"required":["a"],"additionalProperties":false}`: true,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"d"}},"$defs":{"A":{"items":{"type":"string"}}}}`: true,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"not":{"minLength":1}}}}`:              true,
		`{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"properties":{"a":{"$ref":"#/$defs/A"}}}}}`:                     true,
		`{"properties":{"a":{"$ref":"#/$defs/A","title":"t"}},"$defs":{"A":{"properties":{"a":{"$ref":"#/$defs/A"}}}}}`:         false,
		`{"properties":{"a":{"$ref":"#/$defs/B"},"b":{"$ref":"#/$defs/A"}},"$defs":{"A":{},"B":{}}}`:                            false,
		`{"properties":{},"$defs":{"A":{}}}`:                                                                 false,
		`{"properties":{"a":{"enum":["x"]}}}`:                                                                false,
		`{"properties":{"a":{"type":"integer","enum":[1]}}}`:                                                 false,
		`{"properties":{"a":{"const":"x"}}}`:                                                                 false,
		`{"properties":{"a":true}}`:                                                                          false,
		`{"properties":{"a":{"items":{}}}}`:                                                                  false,
		`{"properties":{"a":{"allOf":[{"type":"string"}]}}}`:                                                 false,
		`{"properties":{"a":{"additionalProperties":false}}}`:                                                false,
		`{"properties":{"a":{"$ref":"#/$defs/A","minLength":1}},"$defs":{"A":{}}}`:                           false,
		`{"properties":{"a":{"type":"object"}},"required":["a","a"]}`:                                        false,
		`{"properties":{"$ref":{"type":"string"}}}`:                                                          false,
		`{"anyOf":[{"type":"object"},{"minProperties":1}]}`:                                                  false,
		`{"properties":` + strings.Repeat(`{"a":{"properties":`, 41) + `{}` + strings.Repeat(`}}`, 41) + `}`: false,
	} {
		if got := IsCompatible(jsonschema.Parse([]byte(text)), 0); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
		compatible(t, []byte(text), 0)
	}
}

// TestCompatibleRandom: whatever a document composes, its compatible form keeps the rules of converters.
func TestCompatibleRandom(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(7, 7))}
	for range race.Fewer(300, 60) {
		c, n := document(t, g.document("3.1.0"), Limits{}, nil)
		full, err := c.Object([]Property{{Name: "a", Schema: n, Required: true}})
		if err != nil {
			t.Fatal(err)
		}
		made := compatible(t, full, 0)
		checkCompatible(t, made)
		if body, err := c.Root(n, nil); err == nil {
			checkCompatible(t, compatible(t, body, 0))
		}
		if t.Failed() {
			t.Fatalf("full: %s\ncompatible: %s", full, made)
		}
	}
}

// checkCompatible holds an input schema to what converters and the APIs behind them take.
func checkCompatible(t testing.TB, s json.RawMessage) {
	t.Helper()
	checkSchema(t, s)
	var root map[string]any
	if err := json.Unmarshal(s, &root); err != nil {
		t.Fatal(err)
	}
	var faults []string
	claudeRules(root, &faults)
	for _, word := range []string{"not", "if", "then", "else", "enum", "const", "$ref", "additionalProperties", "unevaluatedProperties"} {
		if root[word] != nil {
			faults = append(faults, word+" at the top level")
		}
	}
	converterRules(root, "", 0, &faults)
	defs, _ := root["$defs"].(map[string]any)
	for name, sub := range defs {
		converterRules(sub, "/$defs/"+name, 2, &faults)
		if !strings.Contains(string(s), `"#/$defs/`+name+`"`) {
			faults = append(faults, "$defs/"+name+" is not used")
		}
	}
	for _, f := range faults {
		t.Errorf("%s\n%.3000s", f, s)
	}
}

// converterRules: google-genai reads the members of each schema in properties, items, anyOf and additionalProperties ("'bool' object
// has no attribute 'items'"), and its Schema has enum of texts and no oneOf; openai-agents refuses additionalProperties, assertions beside
// a $ref and 100 levels of nesting; the TypeScript SDK wants an object for each property.
func converterRules(s any, at string, depth int, faults *[]string) {
	fault := func(format string, args ...any) { *faults = append(*faults, at+": "+fmt.Sprintf(format, args...)) }
	schema, ok := s.(map[string]any)
	if !ok {
		fault("the schema %v is no object", s)
		return
	}
	if depth++; depth > 98 {
		fault("nested too deeply")
	}
	for _, word := range []string{"additionalProperties", "unevaluatedProperties", "oneOf"} {
		if schema[word] != nil {
			fault("has %s", word)
		}
	}
	values, _ := schema["enum"].([]any)
	for _, v := range values {
		if text, _ := v.(string); text == "" {
			fault("enum has %v", v)
		}
	}
	if schema["$ref"] != nil {
		for word := range schema {
			if !slices.Contains([]string{"$ref", "description", "title", "default", "examples", "deprecated"}, word) {
				fault("%s beside $ref", word)
			}
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, sub := range properties {
		converterRules(sub, at+"/"+name, depth+1, faults)
	}
	required, _ := schema["required"].([]any)
	for i, name := range required {
		if slices.Contains(required[:i], name) {
			fault("%v is required twice", name)
		}
	}
	if items, ok := schema["items"]; ok {
		converterRules(items, at+"/items", depth, faults)
	}
	alternatives, _ := schema["anyOf"].([]any)
	for _, sub := range alternatives {
		converterRules(sub, at+"/anyOf", depth+1, faults)
	}
	parts, _ := schema["allOf"].([]any)
	for _, sub := range parts {
		converterRules(sub, at+"/allOf", depth+1, faults)
	}
}

// TestCompatibleIsBounded: bases that are merged into one another, and alternatives of alternatives, take a bounded amount of work, and
// the result keeps to the limit.
func TestCompatibleIsBounded(t *testing.T) {
	const n = 400
	var chain, fan strings.Builder
	for i := range n {
		fmt.Fprintf(&chain, `,"D%d":{"allOf":[{"$ref":"#/$defs/D%d"},{"$ref":"#/$defs/D%d"},{"type":"object","properties":{"p%d":{"type":"string"}}}]}`, i, (i+1)%n, (i+2)%n, i)
		fmt.Fprintf(&fan, `,{"type":"object","properties":{"p":{"type":"string","maxLength":%d}}}`, i)
	}
	for _, s := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/D0"}},"$defs":{` + chain.String()[1:] + `}}`,
		`{"type":"object","allOf":[{"$ref":"#/$defs/D0"}],"properties":{},"$defs":{` + chain.String()[1:] + `}}`,
		`{"type":"object","oneOf":[` + fan.String()[1:] + `],"properties":{}}`,
	} {
		w := compatibleWriter{most: 64 << 10}
		out := compatible(t, []byte(s), 0)
		if len(out) > 64<<10 || w.steps < 0 {
			t.Errorf("%d bytes of %d", len(out), len(s))
		}
		checkSchema(t, out)
	}
}

// TestOpen takes away what closes the root, and nothing else.
func TestOpen(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"object","properties":{},"additionalProperties":false}`:                                                                     `{"type":"object","properties":{}}`,
		`{"type":"object","properties":{"a":{"additionalProperties":false}},"required":["a"],"additionalProperties":false,"$defs":{"A":{}}}`: `{"type":"object","properties":{"a":{"additionalProperties":false}},"required":["a"],"$defs":{"A":{}}}`,
		`{"type":"object","additionalProperties":{"type":"string"}}`:                                                                         `{"type":"object","additionalProperties":{"type":"string"}}`,
	} {
		if got := string(Open(json.RawMessage(in))); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}
