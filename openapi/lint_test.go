package openapi

import (
	"strings"
	"testing"
)

// TestReport checks that violations of the standard are reported, and that they don't affect what is served.
func TestReport(t *testing.T) {
	name := writeFile(t, `{"openapi":"3.0.3","info":{"title":"","version":"1"},"paths":{"/a/{b}":{"get":{"responses":{"200":{}}}}}}`)
	doc, err := Load(t.Context(), name, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, p := range doc.Report(t.Context()) {
		all.WriteString(p.Message + "\n")
	}
	for _, want := range []string{"title", "path parameters"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("the report says nothing of %q:\n%s", want, all.String())
		}
	}
	api, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil || len(api.Operations) != 1 {
		t.Errorf("%v, %+v", err, api)
	}

	for _, text := range []string{
		`{"swagger":"2.0","info":{"title":"T","version":"1"},"paths":{"/a":{"get":{"responses":{"200":{"description":"OK"}}}}}}`,
		`{"openapi":"3.1.0","info":{"title":"T","version":"1"},"paths":{"/a":{"get":{"responses":{"200":{"description":"OK"}}}}}}`,
	} {
		doc, err := Load(t.Context(), writeFile(t, text), LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if found := doc.Report(t.Context()); len(found) != 0 {
			t.Errorf("a good document has problems: %v", found)
		}
	}
}
