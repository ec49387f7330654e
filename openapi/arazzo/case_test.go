package arazzo

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/openapi/jsonscan"
	"drawbridge/test/cases"
)

var update = flag.Bool("update", false, "write what the code does into the cases")

// values is a Scope whose values are the members of a JSON object, each under its expression without a JSON Pointer.
type values json.RawMessage

func (v values) Value(e Expression) (json.RawMessage, bool) {
	e.Pointer = ""
	value := jsonscan.Lookup(v, e.String())
	return value, value != nil
}

// TestCases runs testdata/*.txtar. The file "scope" has the values of expressions, and each other file but "result" has the JSON of one
// expression, template, criterion or selector on each line. The result has a line for each of them.
func TestCases(t *testing.T) {
	cases.Run(t, "testdata/*.txtar", func(t *testing.T, name string, archive *txtar.Archive) {
		got := &txtar.Archive{Comment: archive.Comment}
		var scope values
		var result strings.Builder
		for _, f := range archive.Files {
			if f.Name == "result" {
				continue
			}
			got.Files = append(got.Files, f)
			if f.Name == "scope" {
				scope = values(f.Data)
				continue
			}
			for line := range strings.Lines(string(f.Data)) {
				line = strings.TrimSpace(line)
				fmt.Fprintf(&result, "%s\n\t%s\n", line, strings.ReplaceAll(outcome(t, f.Name, line, scope), "\n", "\n\t"))
			}
		}
		got.Files = append(got.Files, txtar.File{Name: "result", Data: []byte(result.String())})
		if *update {
			cases.Write(t, name, got)
			return
		}
		if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" {
			t.Error("-want +got:\n" + diff)
		}
	})
}

// outcome parses and evaluates one line.
func outcome(t *testing.T, kind, line string, scope values) string {
	object := struct {
		Context, Condition, Selector, Version string
		Type                                  QueryType
	}{Condition: line}
	if strings.HasPrefix(line, "{\"") {
		object.Condition = ""
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatal(err)
		}
	}
	switch kind {
	case "expressions":
		e, err := ParseExpression(line)
		if err != nil {
			return "error: " + err.Error()
		}
		if bound, ok := e.Bind(func(name string) bool { o := e; o.Name, o.Pointer = name, ""; _, ok := scope.Value(o); return ok }); ok {
			e = bound
		}
		value, ok := e.Evaluate(scope)
		if !ok {
			return fmt.Sprintf("%s: no value", e)
		}
		return fmt.Sprintf("%s: %s", e, value)
	case "templates":
		tpl, err := ParseTemplate(line)
		if err != nil {
			return "error: " + err.Error()
		}
		text, err := tpl.Text(scope)
		return fmt.Sprint(text, " ", err)
	case "criteria":
		c, err := ParseCriterion(object.Context, object.Condition, object.Type, object.Version)
		if err != nil {
			return "error: " + err.Error()
		}
		holds, err := c.Holds(scope)
		return fmt.Sprint(holds, " ", err)
	case "selectors":
		s, err := ParseSelector(object.Context, object.Selector, object.Type, object.Version)
		if err != nil {
			return "error: " + err.Error()
		}
		value, err := s.Select(scope)
		return fmt.Sprint(string(value), " ", err)
	}
	t.Fatalf("the file %q is unknown", kind)
	return ""
}
