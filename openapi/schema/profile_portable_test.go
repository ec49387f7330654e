package schema

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"drawbridge/test/race"

	"drawbridge/openapi/jsonschema"
)

// TestPortable runs testdata/portable: cases as for TestConvert, with the portable form of the root schema.
func TestPortable(t *testing.T) {
	runCases(t, "portable", func(t *testing.T, files map[string]string) func(string) (string, bool) {
		c, n := document(t, files["openapi.yaml"], Limits{}, nil)
		return func(name string) (string, bool) {
			if name != "portable.json" && name != "output.json" {
				return "", false
			}
			if name == "output.json" {
				out := c.Output(n)
				s := PortableOutput(out.Schema)
				checkPortableOutput(t, s)
				return indented(t, s), true
			}
			full, err := c.Root(n, nil)
			if err != nil {
				t.Fatal(err)
			}
			limit := 0
			fmt.Sscan(files["limit"], &limit)
			s := Portable(jsonschema.Parse(full), limit)
			checkPortable(t, s)
			return indented(t, s), true
		}
	})
}

// TestPortableRandom: whatever a document composes, its portable form keeps every client's rules.
func TestPortableRandom(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(6, 6))}
	for range race.Fewer(200, 50) {
		c, n := document(t, g.document("3.1.0"), Limits{}, nil)
		full, err := c.Object([]Property{{Name: "a", Schema: n, Required: true}})
		if err != nil {
			t.Fatal(err)
		}
		checkPortable(t, Portable(jsonschema.Parse(full), 0))
		if out := c.Output(n); out != nil {
			checkPortableOutput(t, PortableOutput(out.Schema))
		}
		if t.Failed() {
			t.Fatalf("%s", full)
		}
	}
}

// checkPortable holds an input schema to the rules of each client.
func checkPortable(t testing.TB, s json.RawMessage) {
	t.Helper()
	checkSchema(t, s) // JSON Schema 2020-12 and a root of type object, as MCP has it
	checkClients(t, s)
}

func checkClients(t testing.TB, s json.RawMessage) {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(s, &root); err != nil {
		t.Fatal(err)
	}
	var faults []string
	claudeRules(root, &faults)
	openAIRules(root, &faults)
	geminiRules(root, "", true, &faults)
	for _, f := range faults {
		t.Errorf("%s\n%.3000s", f, s)
	}
}

// claudeRules: "tools.N.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"
// (claude-code#95504). The names of arguments are made fit in every profile, not here.
func claudeRules(root map[string]any, faults *[]string) {
	for _, word := range []string{"oneOf", "allOf", "anyOf"} {
		if root[word] != nil {
			*faults = append(*faults, "Claude: "+word+" at the top level")
		}
	}
	if root["type"] != "object" {
		*faults = append(*faults, "Claude: the top level is no object")
	}
}

// openAIRules: "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level",
// "object schema missing properties", "array schema missing items" (notion-mcp-server#341, spring-ai#2561).
func openAIRules(root map[string]any, faults *[]string) {
	for _, word := range []string{"oneOf", "anyOf", "allOf", "enum", "not"} {
		if root[word] != nil {
			*faults = append(*faults, "OpenAI: "+word+" at the top level")
		}
	}
	var walk func(s map[string]any, at string)
	walk = func(s map[string]any, at string) {
		switch s["type"] {
		case "object":
			if _, ok := s["properties"].(map[string]any); !ok {
				*faults = append(*faults, "OpenAI: object schema missing properties at "+at)
			}
		case "array":
			if _, ok := s["items"].(map[string]any); !ok {
				*faults = append(*faults, "OpenAI: array schema missing items at "+at)
			}
		}
		each(s, func(name string, sub map[string]any) { walk(sub, at+"/"+name) })
	}
	walk(root, "")
}

// geminiRules: the fields of Schema (ai.google.dev/api/caching#Schema) that every front end of Gemini knows, the type
// being one word ("Proto field is not repeating, cannot start list"), enum "only allowed for STRING type", format "only
// 'enum' and 'date-time' are supported for STRING type", properties "only allowed for OBJECT type" and "should be
// non-empty for OBJECT type", required naming properties (gemini-cli#6948, #3178, promptfoo#6902, opencode#11889,
// mcp-obsidian#21).
func geminiRules(s map[string]any, at string, root bool, faults *[]string) {
	fault := func(format string, args ...any) {
		*faults = append(*faults, fmt.Sprintf("Gemini: %s: ", at)+fmt.Sprintf(format, args...))
	}
	known := []string{"type", "description", "properties", "required", "items", "enum", "format"}
	for word := range s {
		if !slices.Contains(known, word) {
			fault("unknown name %q", word)
		}
	}
	kind, _ := s["type"].(string)
	if !slices.Contains([]string{"object", "array", "string", "number", "integer", "boolean"}, kind) {
		fault("type %v", s["type"])
	}
	properties, _ := s["properties"].(map[string]any)
	if (s["properties"] != nil || s["required"] != nil) && kind != "object" {
		fault("properties: only allowed for OBJECT type")
	}
	if kind == "object" && len(properties) == 0 && !root {
		fault("properties: should be non-empty for OBJECT type")
	}
	if (s["items"] != nil) != (kind == "array") {
		fault("items: missing, or only allowed for ARRAY type")
	}
	required, _ := s["required"].([]any)
	for _, name := range required {
		if text, _ := name.(string); properties[text] == nil {
			fault("required[%v]: property is not defined", name)
		}
	}
	values, _ := s["enum"].([]any)
	if s["enum"] != nil && (kind != "string" || len(values) == 0) {
		fault("enum: only allowed for STRING type")
	}
	for _, v := range values {
		if text, _ := v.(string); text == "" {
			fault("enum: %v cannot be empty, or is no text", v)
		}
	}
	formats := map[string][]string{"string": {"date-time"}, "integer": {"int32", "int64"}, "number": {"float", "double"}}
	if format, _ := s["format"].(string); s["format"] != nil && !slices.Contains(formats[kind], format) {
		fault("format %q of type %s", format, kind)
	}
	each(s, func(name string, sub map[string]any) { geminiRules(sub, at+"/"+name, false, faults) })
}

// each calls f for each schema below s in the portable profile.
func each(s map[string]any, f func(name string, sub map[string]any)) {
	properties, _ := s["properties"].(map[string]any)
	for name, sub := range properties {
		if sub, ok := sub.(map[string]any); ok {
			f(name, sub)
		}
	}
	if items, ok := s["items"].(map[string]any); ok {
		f("items", items)
	}
}

// checkPortableOutput: an output schema has no list of types and no composition; its root is an object.
func checkPortableOutput(t testing.TB, s json.RawMessage) {
	t.Helper()
	checkSchema(t, s)
	var root map[string]any
	if err := json.Unmarshal(s, &root); err != nil {
		t.Fatal(err)
	}
	var walk func(s map[string]any)
	walk = func(s map[string]any) {
		for word, v := range s {
			if _, plain := v.(string); word == "type" && !plain || strings.HasSuffix(word, "Of") || word == "$ref" {
				t.Errorf("%s: %v", word, v)
			}
		}
		each(s, func(_ string, sub map[string]any) { walk(sub) })
	}
	walk(root)
}
