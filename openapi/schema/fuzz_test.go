package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/tree"

	"drawbridge/openapi/jsonschema"
)

// FuzzConvert: whatever stands where a schema belongs, what is emitted is valid and compiles.
func FuzzConvert(f *testing.F) {
	names, _ := filepath.Glob("testdata/convert/*.txtar")
	for _, name := range names {
		if archive, err := txtar.ParseFile(name); err == nil {
			if n, err := tree.Parse(name, archive.Files[0].Data, tree.Limits{}); err == nil {
				for _, s := range n.Get("components").Get("schemas").Members() {
					f.Add(s.AppendJSON(nil), uint8(1))
				}
			}
		}
	}
	f.Add([]byte(`{"allOf":[{"$ref":"#/components/schemas/Case"}],"oneOf":[{"$ref":"#"}]}`), uint8(2))
	f.Add([]byte(`{"$ref":"#/components/schemas/Other","type":"object","nullable":true,"required":["a"]}`), uint8(2))
	f.Fuzz(func(t *testing.T, schema []byte, dialect uint8) {
		if _, err := jsonscan.Scan(schema, jsonscan.Options{MaxDepth: 60}); err != nil {
			return
		}
		d := Dialect(dialect % 3)
		text := fmt.Sprintf(`{"openapi":%q,"info":{"title":"t","version":"1"},"paths":{},"components":{"schemas":{"Case":%s,"Other":{"anyOf":[{"$ref":"#/components/schemas/Case"}]}}}}`,
			[]string{"3.0.0", "3.0.0", "3.1.0"}[d], schema)
		set, _, err := tree.Load(t.Context(), "openapi.json", []byte(text), nil, tree.Limits{})
		if err != nil {
			return
		}
		n := set.Root().Get("components").Get("schemas").Get("Case")
		c := NewConverter(set, d, nil, Limits{MaxBytes: 64<<10 + len(schema)/8})
		if s, err := c.Object([]Property{{Name: "a", Schema: n, Required: true, Description: "d"}, {Name: "b", Schema: n, Example: n}}); err == nil {
			checkSchema(t, s)
			checkPortable(t, Portable(jsonschema.Parse(s), 0))
			if text, ok := Example(jsonschema.Parse(s), ExampleOptions{Documented: true}); ok {
				if v, err := Compile(s); err != nil || len(v.explain(decoded(t, text), MaxFaults)) > 0 {
					t.Errorf("%s is no example of %s", text, s)
				}
			}
		}
		rename := map[string]string{}
		for i, name := range c.Names(n) {
			if i%2 == 0 {
				rename[name] = fmt.Sprintf("argument_%d", i)
			}
		}
		if s, err := c.Root(n, rename); err == nil {
			checkSchema(t, s)
			checkPortable(t, Portable(jsonschema.Parse(s), 0))
		}
		if out := c.Output(n); out != nil {
			checkSchema(t, out.Schema)
			checkPortableOutput(t, PortableOutput(out.Schema))
		}
		c.Plain(n)
		c.IsObject(n)
		if s := c.Summary(n); unclean(s) || strings.Contains(s, "\n") {
			t.Errorf("summary %q", s)
		}
	})
}

// FuzzValidate: no value and no schema can crash a validator, and the quick check agrees with the library.
func FuzzValidate(f *testing.F) {
	names, _ := filepath.Glob("testdata/faults/*.txtar")
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil || archive.Files[0].Name != "schema.json" {
			continue
		}
		for _, line := range bytes.Split(archive.Files[1].Data, []byte("\n")) {
			f.Add(archive.Files[0].Data, line)
		}
	}
	f.Fuzz(func(t *testing.T, schema, value []byte) {
		for _, text := range [][]byte{schema, value} {
			if _, err := jsonscan.Scan(text, jsonscan.Options{MaxDepth: 60, Unique: true}); err != nil {
				return
			}
		}
		if !saneNumbers(schema) {
			return
		}
		v, err := Compile(schema)
		if err != nil {
			return
		}
		given := decoded(t, value)
		for _, fault := range v.Validate(given) {
			if fault.Message == "" {
				t.Errorf("a fault without a message: %+v", fault)
			}
		}
		if _, wild := wildNumber(given, ""); wild {
			return
		}
		q := &quickValidator{steps: maxSteps}
		switch verdict := q.validate(v.program, given); {
		case q.steps < 0 || verdict == unsure:
		case (verdict == valid) != (len(v.explain(given, MaxFaults)) == 0):
			t.Errorf("quick check says %d, the library finds %v", verdict, v.explain(given, MaxFaults))
		}
	})
}

// saneNumbers reports whether a schema has only numbers that the converter would emit: the library works with the others
// for ever.
func saneNumbers(value []byte) bool {
	ok := true
	switch jsonscan.KindOf(value) {
	case jsonscan.Number:
		return saneNumber(string(bytes.TrimSpace(value)))
	case jsonscan.Object:
		for _, v := range jsonscan.Members(value) {
			ok = ok && saneNumbers(v)
		}
	case jsonscan.Array:
		for v := range jsonscan.Elements(value) {
			ok = ok && saneNumbers(v)
		}
	default:
	}
	return ok
}

// FuzzClean: cleaning what is clean changes nothing, and nothing hidden is left (S8).
func FuzzClean(f *testing.F) {
	f.Add("a\u200bb<!-- x --> \x1b[31mred\x1b[0m", 10)
	f.Add("<!<!-- -->-- hidden -->", 0)
	f.Add("\x1b]0;title\x07text \x9b1m", 3)
	f.Fuzz(func(t *testing.T, text string, max int) {
		once := Clean(text, max)
		if unclean(once) {
			t.Errorf("Clean(%q) = %q, which is not clean", text, once)
		}
		if again := Clean(once, max); again != once {
			t.Errorf("Clean(%q) = %q, and again %q", text, once, again)
		}
		if max > 0 && len([]rune(once)) > max {
			t.Errorf("Clean(%q, %d) = %q", text, max, once)
		}
		if _, err := json.Marshal(once); err != nil {
			t.Error(err)
		}
	})
}

// TestSchemaDump writes the schemas of the cases for other validators, if SCHEMA_CASES names a file.
func TestSchemaDump(t *testing.T) {
	name := os.Getenv("SCHEMA_CASES")
	if name == "" {
		t.Skip("SCHEMA_CASES is not set")
	}
	var all []json.RawMessage
	names, _ := filepath.Glob("testdata/convert/*.txtar")
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		c, n := document(t, string(archive.Files[0].Data), Limits{}, nil)
		if s, err := c.Object([]Property{{Name: "value", Schema: n}}); err == nil {
			all = append(all, s)
		}
		if s, err := c.Root(n, nil); err == nil {
			all = append(all, s)
		}
	}
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
