package tokenreport

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi"
)

// Only keywords are edited: names of properties and values of examples stay.
func TestSchemaEdit(t *testing.T) {
	none := schemaEdit{description: func([]byte) []byte { return nil }, dropEnums: true}
	for schema, want := range map[string]string{
		`true`: `true`,
		`{}`:   `{}`,
		`{"type":"string","description":"d","enum":["a"]}`:                                             `{"type":"string"}`,
		`{"properties":{"enum":{"enum":[1]},"description":{"description":"d","type":"string"}}}`:       `{"properties":{"enum":{},"description":{"type":"string"}}}`,
		`{"$defs":{"description":{"description":"d"}},"items":{"description":"d"}}`:                    `{"$defs":{"description":{}},"items":{}}`,
		`{"anyOf":[{"enum":[1]},true,{"not":{"description":"d"}}],"prefixItems":[{"description":""}]}`: `{"anyOf":[{},true,{"not":{}}],"prefixItems":[{}]}`,
		`{"default":{"description":"d","enum":[1]},"examples":[{"enum":1}],"const":{"enum":2}}`:        `{"default":{"description":"d","enum":[1]},"examples":[{"enum":1}],"const":{"enum":2}}`,
		`{"additionalProperties":{"description":"d"},"patternProperties":{"^enum":{"enum":[]}}}`:       `{"additionalProperties":{},"patternProperties":{"^enum":{}}}`,
		`{"description":{"not":"a string"},"properties":[]}`:                                           `{"description":{"not":"a string"},"properties":[]}`,
	} {
		if got := string(none.apply([]byte(schema))); got != want {
			t.Errorf("%s: %s, want %s", schema, got, want)
		}
		if got := string(schemaEdit{}.apply([]byte(schema))); got != schema {
			t.Errorf("%s without an edit: %s", schema, got)
		}
	}
}

// demo returns the tools of the demo's document, with the choices that change makes.
func demo(t *testing.T, change func(*openapi.Operation, *catalog.Choice) bool) []*catalog.Tool {
	t.Helper()
	d, err := openapi.Load(t.Context(), filepath.Join("..", "..", "cmd", "drawbridge", "demo", "openapi.yaml"), openapi.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := d.Compile(t.Context(), openapi.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Build([]catalog.API{{Name: "shop", Operations: api.Operations, Choose: func(op *openapi.Operation) (c catalog.Choice, kept bool) {
		kept = change(op, &c)
		return c, kept
	}}}, catalog.Options{}).All()
}

func asIs(*openapi.Operation, *catalog.Choice) bool { return true }

func (r *Report) saving(t *testing.T, m Measure, tag string) Advice {
	t.Helper()
	for _, a := range r.Advice {
		if a.Measure == m && a.Tag == tag {
			return a
		}
	}
	t.Fatalf("no advice %s %s in %+v", m, tag, r.Advice)
	return Advice{}
}

// A saving is what the list costs less when the advice is followed.
func TestSavingsAreReal(t *testing.T) {
	tools := demo(t, asIs)
	list := []byte(`[{"name":"search_tools","description":"Finds tools.","inputSchema":{"type":"object"}}]`)
	r := New(tools, Options{SearchList: list})
	tag := *r.Tags[0].Tag
	for _, c := range []struct {
		measure Measure
		tag     string
		change  func(*openapi.Operation, *catalog.Choice) bool
	}{
		{OutputSchemasOff, "", func(_ *openapi.Operation, c *catalog.Choice) bool { c.Shapeless = true; return true }},
		{ExcludeTag, tag, func(op *openapi.Operation, _ *catalog.Choice) bool { return !slices.Contains(op.Tags, tag) }},
	} {
		a := r.saving(t, c.measure, c.tag)
		if now := New(demo(t, c.change), Options{}); r.Tokens-now.Tokens != a.Saves {
			t.Errorf("%s: from %d to %d tokens, which saves %d, and %d was said", c.measure, r.Tokens, now.Tokens, r.Tokens-now.Tokens, a.Saves)
		}
	}
	if a := r.saving(t, SearchMode, ""); a.Saves != r.Tokens-tokenizer.Count(list) || a.Tools != len(tools) {
		t.Errorf("search mode: %+v", a)
	}
}

// The sums of a report are those of its tools, and the parts of a tool don't have more than the whole.
func TestSums(t *testing.T) {
	tools := demo(t, asIs)
	r := New(tools, Options{})
	var byTool, byAPI Weights
	for i, tool := range r.ByTool {
		byTool.add(tool.Weights)
		if i > 0 && tool.Tokens > r.ByTool[i-1].Tokens {
			t.Errorf("%s is not in its place", tool.Name)
		}
		if parts := tool.Description + tool.InputSchema + tool.OutputSchema; parts >= tool.Tokens || tool.SchemaDescriptions+tool.Enums >= tool.InputSchema+tool.OutputSchema+1 {
			t.Errorf("%s: %+v", tool.Name, tool.Weights)
		}
	}
	for _, api := range r.APIs {
		byAPI.add(api.Weights)
	}
	if byTool != r.Weights || byAPI != r.Weights || r.Tools != len(tools) {
		t.Errorf("%+v by tool, %+v by API, %+v in all", byTool, byAPI, r.Weights)
	}
	if r.Description == 0 || r.InputSchema == 0 || r.OutputSchema == 0 || r.SchemaDescriptions == 0 || r.Enums == 0 {
		t.Errorf("a weight is missing: %+v", r.Weights)
	}
}

// Each variant of a definition that is counted is JSON, and without a change it is the definition.
func TestVariantsAreDefinitions(t *testing.T) {
	for _, tool := range demo(t, asIs) {
		text := tool.Definition(catalog.AllFeatures)
		if same := appendMembers(nil, text, func(_ string, v []byte) []byte { return schemaEdit{}.apply(v) }); string(same) != string(text) {
			t.Errorf("%s: %s became %s", tool.Name, text, same)
		}
		edit := schemaEdit{description: func(str []byte) []byte { return shortened(str, 10) }, dropEnums: true}
		if variant := appendMembers(nil, text, func(_ string, v []byte) []byte { return edit.apply(v) }); !json.Valid(variant) {
			t.Errorf("%s: %s", tool.Name, variant)
		}
	}
}

func FuzzSchemaEdit(f *testing.F) {
	f.Add([]byte(`{"properties":{"a":{"enum":["x"],"description":"d\u00e9 and more than ten"}},"items":[true]}`))
	f.Fuzz(func(t *testing.T, schema []byte) {
		if !json.Valid(schema) {
			t.Skip()
		}
		e := schemaEdit{description: func(str []byte) []byte { return shortened(str, 10) }, dropEnums: true}
		if got := e.apply(schema); !json.Valid(got) {
			t.Errorf("%s became %s", schema, got)
		}
	})
}
