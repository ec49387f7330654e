package schema

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	validation "github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/tools/txtar"

	"drawbridge/openapi/tree"
	"drawbridge/test/cases"

	"drawbridge/openapi/jsonschema"
)

var update = flag.Bool("update", false, "write what the code does into the cases")

// runCases holds every archive of a folder against what run makes of it: run returns the text of a file by its name,
// ok is false for files that are input.
func runCases(t *testing.T, folder string, run func(t *testing.T, files map[string]string) func(name string) (text string, ok bool)) {
	cases.Run(t, filepath.Join("testdata", folder, "*.txtar"), func(t *testing.T, name string, archive *txtar.Archive) {
		files := map[string]string{}
		for _, f := range archive.Files {
			files[f.Name] = string(f.Data)
		}
		output := run(t, files)
		for i, f := range archive.Files {
			text, ok := output(f.Name)
			if !ok {
				continue
			}
			if diff := cmp.Diff(string(f.Data), text); diff != "" && !*update {
				t.Errorf("%s: -want +got:\n%s", f.Name, diff)
			}
			archive.Files[i].Data = []byte(text)
		}
		if text, _ := output("warnings"); text != "" && files["warnings"] == "" {
			if !*update {
				t.Errorf("there are warnings:\n%s", text)
			}
			if _, ok := files["warnings"]; !ok {
				archive.Files = append(archive.Files, txtar.File{Name: "warnings", Data: []byte(text)})
			}
		}
		if *update {
			cases.Write(t, name, archive)
		}
	})
}

// document loads a document from text and returns a converter for it and the schema named Case.
func document(t testing.TB, text string, l Limits, warn func(tree.Warning)) (*Converter, *tree.Node) {
	t.Helper()
	set, _, err := tree.Load(context.Background(), "openapi.yaml", []byte(text), nil, tree.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	dialect, ok := dialectOf(set.Root())
	if !ok {
		t.Fatal("the document has no version")
	}
	n := set.Root().Get("components").Get("schemas").Get("Case")
	if n == nil {
		n = set.Root().Get("definitions").Get("Case")
	}
	return NewConverter(set, dialect, warn, l), n
}

func indented(t testing.TB, text []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		t.Errorf("no JSON: %v: %s", err, text)
	}
	return out.String() + "\n"
}

// TestConvert runs testdata/convert. A case is a document, openapi.yaml, whose schema Case is converted; "rename" holds
// lines of wire=argument, "limit" the most bytes. The other files are what comes out: property.json, where Case is the
// schema of the argument "value", root.json, output.json, plain, summary, names and warnings.
func TestConvert(t *testing.T) {
	runCases(t, "convert", func(t *testing.T, files map[string]string) func(string) (string, bool) {
		var warnings strings.Builder
		seen := map[string]bool{}
		var limits Limits
		if text := files["limit"]; text != "" {
			if _, err := fmt.Sscan(text, &limits.MaxBytes); err != nil {
				t.Fatal(err)
			}
		}
		c, n := document(t, files["openapi.yaml"], limits, func(w tree.Warning) {
			if line := fmt.Sprintf("%s [%s]\n", w, w.Code); !seen[line] {
				seen[line] = true
				warnings.WriteString(line)
			}
		})
		rename := map[string]string{}
		for _, line := range strings.Split(strings.TrimSpace(files["rename"]), "\n") {
			if from, to, ok := strings.Cut(line, "="); ok {
				rename[from] = to
			}
		}
		emitted := func(s json.RawMessage, err error) (string, bool) {
			if err != nil {
				return err.Error() + "\n", true
			}
			checkSchema(t, s)
			checkPortable(t, Portable(jsonschema.Parse(s), 0))
			return indented(t, s), true
		}
		return func(name string) (string, bool) {
			switch name {
			case "property.json":
				return emitted(c.Object([]Property{{Name: "value", Schema: n}}))
			case "root.json":
				return emitted(c.Root(n, rename))
			case "output.json":
				out := c.Output(n)
				if out == nil {
					return "none\n", true
				}
				text, _ := emitted(out.Schema, nil)
				return fmt.Sprintf("wrapped: %v\n%s", out.Wrapped, text), true
			case "summary":
				return c.Summary(n) + "\n", true
			case "names":
				return strings.Join(c.Names(n), "\n") + "\n", true
			case "plain":
				members, ok := c.Plain(n)
				text := fmt.Sprintf("plain: %v, object: %v\n", ok, c.IsObject(n))
				for _, m := range members {
					text += fmt.Sprintf("%s required: %v\n", m.Name, m.Required)
				}
				return text, true
			case "warnings":
				return warnings.String(), true
			}
			return "", false
		}
	})
}

// checkSchema holds an emitted schema to the package's one rule.
func checkSchema(t testing.TB, s json.RawMessage) {
	t.Helper()
	if _, err := Compile(s); err != nil {
		t.Errorf("the schema does not compile: %v\n%s", err, s)
	}
	doc, err := validation.UnmarshalJSON(bytes.NewReader(s))
	if err != nil {
		t.Fatalf("the schema is no JSON: %v\n%s", err, s)
	}
	if root, ok := doc.(map[string]any); !ok || root["type"] != "object" {
		t.Errorf("the root's type is not object: %s", s)
	}
}

// TestFaults runs testdata/faults. A case has a schema, schema.json, or a document as in TestConvert, and values, one on
// a line; "faults" repeats each value with what is wrong with it.
func TestFaults(t *testing.T) {
	runCases(t, "faults", func(t *testing.T, files map[string]string) func(string) (string, bool) {
		schema := json.RawMessage(files["schema.json"])
		if text := files["openapi.yaml"]; text != "" {
			c, n := document(t, text, Limits{}, nil)
			var err error
			if schema, err = c.Root(n, nil); err != nil {
				t.Fatal(err)
			}
		}
		v, err := Compile(schema)
		return func(name string) (string, bool) {
			switch {
			case name == "error" && err != nil:
				return err.Error() + "\n", true
			case name != "faults":
				return "", false
			case err != nil:
				t.Fatal(err)
			}
			var out strings.Builder
			for _, line := range strings.Split(strings.TrimSpace(files["values"]), "\n") {
				fmt.Fprintln(&out, line)
				faults := v.Validate(decoded(t, []byte(line)))
				if len(faults) == 0 {
					fmt.Fprintln(&out, "\tvalid")
				}
				for _, f := range faults {
					fmt.Fprintf(&out, "\t%s: %s\n", f.Pointer, f.Message)
				}
			}
			return out.String(), true
		}
	})
}

func decoded(t testing.TB, text []byte) any {
	t.Helper()
	value, err := validation.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}
