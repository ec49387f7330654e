package jsonschema_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// TestTree: keywords keep the author's order and spelling, and schemas are found wherever a keyword holds them.
func TestTree(t *testing.T) {
	const text = ` { "type" : ["object","null"], "properties":{"a":{"items":{"type":"string"}},"a\/b":true}, "allOf":[{"not":{}},false],
		"x-own":{"type":"integer"}, "required":["a","\u0062"], "minimum":1.50, "items":[1]} `
	s := jsonschema.Parse([]byte(text))
	var names []string
	for _, k := range s.Keywords() {
		names = append(names, k.Name)
	}
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"source", string(s.Source()), strings.TrimSpace(text)},
		{"keywords", names, []string{"type", "properties", "allOf", "x-own", "required", "minimum", "items"}},
		{"types", s.Types(), []string{"object", "null"}},
		{"required", s.Required(), []string{"a", "b"}},
		{"value", string(s.Value("minimum")), "1.50"},
		{"no value", s.Value("maximum"), []byte(nil)},
		{"parts of another keyword", len(s.Parts("x-own")), 0},
		{"list for a schema", len(s.Schema("items").Keywords()), 0},
		{"items", s.Property("a").Schema("items").Text("type"), "string"},
		{"escaped name", s.Property("a/b").IsObject(), false},
		{"pointer", s.At("/properties/a~1b") == s.Property("a/b"), true},
		{"pointer into a list", s.At("/allOf/0").Never(), true},
		{"false", s.At("/allOf/1").Never(), true},
		{"pointer to nothing", s.At("/allOf/2") == nil, true},
		{"a schema that is not there", s.Property("c").Schema("items").Text("type"), ""},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
	}
}

// TestReferences: a reference leads to a definition, to the whole text or to any place in it, and one that leads nowhere or in a circle
// resolves to nothing.
func TestReferences(t *testing.T) {
	root := jsonschema.Parse([]byte(`{"properties":{"p":{"$ref":"#/$defs/A"}},"$defs":{
		"A":{"$ref":"#/$defs/a~1b"},"a/b":{"const":1},"c d":{"const":2},"Loop":{"$ref":"#/$defs/Back"},"Back":{"$ref":"#/$defs/Loop"}}}`))
	for ref, want := range map[string]string{
		"#/$defs/A": `{"const":1}`, "#/$defs/c%20d": `{"const":2}`, "#/properties/p": `{"const":1}`, "#/$defs/Loop": "", "#/$defs/None": "",
		"#anchor": "", "https://example.com/s": "", "#/$defs/%zz": "",
	} {
		s := root.Read(jsonscan.AppendString([]byte(`{"$ref":`), ref))
		if got := string(s.Resolve().Source()); got != want || !s.HasReference() {
			t.Errorf("%s leads to %q, want %q", ref, got, want)
		}
	}
	if s := root.Read([]byte(`{"$ref":"#"}`)); s.Target() != root || s.Resolve() != root {
		t.Error("# does not lead to the root")
	}
	for _, name := range []string{"A", "a/b", "a~b", "~1"} {
		if got, ok := jsonschema.DefinitionName(jsonschema.ReferenceTo(name)); !ok || got != name {
			t.Errorf("%q became %q", name, got)
		}
	}
}

// TestMembers: the members of a schema are found as deep as compositions and references lead, those of alternatives are optional, and circles
// end.
func TestMembers(t *testing.T) {
	const n = 30
	composed, defs := "{}", ""
	for i := n; i >= 0; i-- {
		composed = fmt.Sprintf(`{"properties":{"p%d":{}},"required":["p%d"],"allOf":[%s]}`, i, i, composed)
		defs += fmt.Sprintf(`,"d%d":{"$ref":"#/$defs/d%d","properties":{"p%d":{}},"required":["p%d"]}`, i, (i+1)%(n+1), i, i)
	}
	root := jsonschema.Parse([]byte(`{"$defs":{` + defs[1:] + `}}`))
	for name, text := range map[string]string{"compositions": composed, "references": `{"$ref":"#/$defs/d0"}`} {
		all := root.Read([]byte(text)).Members()
		required := 0
		for _, m := range all {
			if m.Required {
				required++
			}
		}
		if len(all) != n+1 || required != n+1 {
			t.Errorf("%s: %d members, %d of them required", name, len(all), required)
		}
	}
	s := jsonschema.Parse([]byte(`{"oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"a":{},"b":{}}}],
		"allOf":[{"properties":{"c":{}}},{"required":["c","z"]}],"then":{"properties":{"d":{}}}}`))
	var got []string
	for _, m := range s.Members() {
		got = append(got, fmt.Sprint(m.Name, m.Required))
	}
	if diff := cmp.Diff([]string{"ctrue", "afalse", "bfalse"}, got); diff != "" {
		t.Errorf("alternatives (-want +got):\n%s", diff)
	}
}

// TestMerge: allOf and references become one list of keywords, the words beside a reference count first, and alternatives stay.
func TestMerge(t *testing.T) {
	s := jsonschema.Parse([]byte(`{"$ref":"#/$defs/A","title":"own","allOf":[{"type":"object","title":"part"},{"$ref":"#/$defs/A"}],
		"oneOf":[false,{"minLength":1}],"$defs":{"A":{"title":"A","type":["object","null"],"allOf":[{"$ref":"#/$defs/A"}],"anyOf":[{},{"const":1}]}}}`))
	c := jsonschema.Merge(s)
	if diff := cmp.Diff([]string{"title", "type", "anyOf", "minLength"}, c.Names()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := c.First("title").Text() + " " + c.Nearest("title").Text(); got != "A own" {
		t.Error(got)
	}
	if got := len(c.Values("type")); got != 2 || c.Count() != 6 {
		t.Errorf("%d types of %d schemas", got, c.Count())
	}
}

// FuzzParse: no text crashes the parser or a walk, and what is read is a slice of the text.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		`{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#","allOf":[{"$ref":"#/$defs/A"}]}}}`, `{"properties":{"a":{"items":{"anyOf":[true,{}]}}}}`,
		`{"allOf":[`, `{"properties":{"a"`, `[`, ``, ` `, `{"items":}`, `{"allOf":[}]}`, `{"$ref":"#/allOf/0/items","allOf":[{"items":{}}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := jsonschema.Parse(text)
		if !bytes.Contains(text, s.Source()) {
			t.Errorf("%q", s.Source())
		}
		for part := range s.Applied() {
			part.Allowed()
		}
		s.Members()
		jsonschema.Merge(s)
	})
}
