package overlay

import (
	"path"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/openapi/tree"
)

// TestOfficialSchemaTests runs the parser on the tests of the official schemas: files in pass are overlays, those in
// fail are not.
func TestOfficialSchemaTests(t *testing.T) {
	for _, version := range []string{"1.0", "1.1"} {
		archive, err := txtar.ParseFile("testdata/official/schema-v" + version + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			t.Run(version+"/"+f.Name, func(t *testing.T) {
				root, err := tree.Parse(f.Name, f.Data, tree.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				_, err = parse(root)
				if kept := notRFC9535[version+"/"+f.Name]; kept != "" {
					if err == nil || !strings.Contains(err.Error(), kept) {
						t.Errorf("got %v, want an error about %q", err, kept)
					}
					return
				}
				if path.Dir(f.Name) == "pass" != (err == nil) {
					t.Error(err)
				}
			})
		}
	}
}

// notRFC9535 are overlays that pass the schema, which does not cover JSONPath, but whose targets violate RFC 9535.
var notRFC9535 = map[string]string{
	"1.0/pass/actions-traits-example.yaml": "is not a JSONPath query of RFC 9535", // .x-oai-traits: a shorthand has no hyphen
	"1.1/pass/actions-traits-example.yaml": "is not a JSONPath query of RFC 9535",
}

// TestOfficialCompliantSets applies the official examples, whose results are given.
func TestOfficialCompliantSets(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/official/compliant-sets.txtar")
	if err != nil {
		t.Fatal(err)
	}
	sets := map[string]map[string][]byte{}
	for _, f := range archive.Files {
		dir, name := path.Split(f.Name)
		if sets[dir] == nil {
			sets[dir] = map[string][]byte{}
		}
		sets[dir][name] = f.Data
	}
	for name, files := range sets {
		t.Run(path.Clean(name), func(t *testing.T) {
			got, _, err := apply(txtar.File{Name: "openapi.yaml", Data: files["openapi.yaml"]}, []File{{Location: "overlay.yaml", Data: files["overlay.yaml"]}}, tree.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := tree.Parse("output.yaml", files["output.yaml"], tree.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			result, err := tree.Parse("result.json", got, tree.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if !same(result, want) {
				t.Errorf("got  %s\nwant %s", got, want.AppendJSON(nil))
			}
		})
	}
}

// same reports whether two values are equal, ignoring the order of members.
func same(a, b *tree.Node) bool {
	if a.Kind() != b.Kind() || a.Text() != b.Text() || a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		other := b.At(i)
		if a.Kind() == tree.Object {
			other = b.Get(a.At(i).Key())
		}
		if !same(a.At(i), other) {
			return false
		}
	}
	return true
}
