package overlay

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/openapi/tree"
	"drawbridge/test/cases"
)

var update = flag.Bool("update", false, "write what the code does into the cases")

// TestCases runs testdata/*.txtar. The first file of a case is the document; those whose names begin with "overlay" are
// applied to it in their order. The expected results follow:
//
//	result     the document, before it is repaired
//	report     the result of each action, then the warnings, then the origins of values from other files
//	error      the reason why the overlays can't be applied
func TestCases(t *testing.T) {
	cases.Run(t, "testdata/*.txtar", func(t *testing.T, name string, archive *txtar.Archive) {
		got := runCase(t, archive)
		if *update {
			cases.Write(t, name, got)
			return
		}
		if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" {
			t.Error("-want +got:\n" + diff)
		}
	})
}

// runCase returns the case with the current outputs.
func runCase(t *testing.T, archive *txtar.Archive) *txtar.Archive {
	got := &txtar.Archive{Comment: archive.Comment}
	var overlays []File
	for _, f := range archive.Files {
		switch {
		case f.Name == "result", f.Name == "report", f.Name == "error":
			continue
		case strings.HasPrefix(f.Name, "overlay"):
			overlays = append(overlays, File{Location: f.Name, Data: bytes.Clone(f.Data)})
		}
		got.Files = append(got.Files, f)
	}
	result, report, err := apply(archive.Files[0], overlays, tree.Limits{})
	if err != nil {
		got.Files = append(got.Files, txtar.File{Name: "error", Data: []byte(err.Error() + "\n")})
		return got
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, result, "", "  "); err != nil {
		t.Fatal(err)
	}
	indented.WriteByte('\n')
	got.Files = append(got.Files, txtar.File{Name: "result", Data: indented.Bytes()}, txtar.File{Name: "report", Data: []byte(report)})
	return got
}

// apply applies overlays to a document and returns the result as JSON, before it is repaired, and the report.
func apply(document txtar.File, overlays []File, limits tree.Limits) (result []byte, report string, err error) {
	var b strings.Builder
	_, warnings, err := tree.LoadEdited(context.Background(), document.Name, bytes.Clone(document.Data), nil, func(e *tree.Editor) error {
		actions, err := Apply(e, document.Name, overlays)
		if err != nil {
			return err
		}
		result = e.Root().AppendJSON(nil)
		for _, a := range actions {
			fmt.Fprintf(&b, "%s: %s %s: %d\n", a.Position, a.Kind, a.Target, a.Matched)
		}
		for _, n := range origins(e.Root(), document.Name, nil) {
			defer fmt.Fprintf(&b, "%s %s\n", n.Pointer(), n.Position())
		}
		return nil
	}, limits)
	if err != nil {
		return nil, "", err
	}
	for _, w := range warnings {
		if strings.HasPrefix(w.Code, "overlay") {
			fmt.Fprintf(&b, "%s (%s)\n", w, w.Code)
		}
	}
	return result, b.String(), nil
}

// origins collects, last first, the nodes that come from another file than their containers.
func origins(n *tree.Node, file string, found []*tree.Node) []*tree.Node {
	if at := n.Position().File; at != file {
		file, found = at, append([]*tree.Node{n}, found...)
	}
	for i := range n.Len() {
		found = origins(n.At(i), file, found)
	}
	return found
}
