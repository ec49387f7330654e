package openapi

import (
	"encoding/json"
	"os"
	"testing"
)

// TestCorpusProperties checks that every published object schema has properties: a client drops its whole list of tools
// for one without (pains row 129). The only exception are parts of an output schema that would be too large with them.
func TestCorpusProperties(t *testing.T) {
	documents := corpus(t, "testdata/corpus")
	if dir := os.Getenv("OPENAPI_CORPUS"); dir != "" {
		documents = append(documents, corpus(t, dir)...)
	}
	for _, name := range documents {
		doc, err := Load(t.Context(), name, LoadOptions{})
		if err != nil {
			continue // checked by TestCorpus
		}
		api, err := doc.Compile(t.Context(), CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range api.Operations {
			for _, p := range []Profile{ProfileFull, ProfilePortable} {
				input, output := op.Published(p)
				if at, bare := bareObject(t, input, true); bare {
					t.Fatalf("%s: %s %s, profile %d: no properties at %q of the input: %.300s", name, op.Method, op.Path, p, at, input)
				}
				if at, bare := bareObject(t, output, false); bare {
					t.Fatalf("%s: %s %s, profile %d: no properties at %q of the output: %.300s", name, op.Method, op.Path, p, at, output)
				}
			}
		}
	}
}

// bareObject finds an object schema without properties, only at the root unless deep is set.
func bareObject(t *testing.T, schema json.RawMessage, deep bool) (pointer string, found bool) {
	t.Helper()
	if schema == nil {
		return "", false
	}
	var root any
	if err := json.Unmarshal(schema, &root); err != nil {
		t.Fatal(err)
	}
	var walk func(v any, pointer string) (string, bool)
	each := func(v any, pointer string) (string, bool) {
		switch v := v.(type) {
		case map[string]any:
			for name, s := range v {
				if at, found := walk(s, pointer+"/"+name); found {
					return at, true
				}
			}
		case []any:
			for _, s := range v {
				if at, found := walk(s, pointer+"/-"); found {
					return at, true
				}
			}
		}
		return "", false
	}
	walk = func(v any, pointer string) (string, bool) {
		s, ok := v.(map[string]any)
		if !ok {
			return "", false
		}
		if s["type"] == "object" && s["properties"] == nil {
			return pointer, true
		}
		if !deep {
			return "", false
		}
		for _, key := range []string{"properties", "patternProperties", "$defs", "allOf", "anyOf", "oneOf", "prefixItems"} {
			if at, found := each(s[key], pointer+"/"+key); found {
				return at, true
			}
		}
		for _, key := range []string{"items", "additionalProperties", "if", "then", "else"} {
			if at, found := walk(s[key], pointer+"/"+key); found {
				return at, true
			}
		}
		return "", false
	}
	return walk(root, "")
}
