package overlay

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/openapi/tree"
)

// FuzzApply checks that Apply returns for any document and overlay, and that the same input gives the same result,
// which is valid JSON, with each value at a position of one of the two files.
func FuzzApply(f *testing.F) {
	document := `{"openapi":"3.1.0","info":{"title":"A","version":"1"},"paths":{"/a":{"get":{"tags":["x","y"]}}}}`
	f.Add(document, "overlay: 1.1.0\ninfo: {title: T, version: '1'}\nactions: [{target: '$..tags', update: [z]}, {target: '$.paths[?@.get].get', copy: $.info}]\n")
	f.Add(document, "overlay: 1.0.0\ninfo: {title: T, version: '1'}\nactions: [{target: '$.paths.*.*', remove: true}]\n")
	f.Add("swagger: '2.0'\ninfo: &i {title: A}\nx: *i\n", "overlay: 1.1.3\ninfo: {title: T, version: '1'}\nactions: [{target: '$', copy: $.info}, {target: '$..[-1:0:-1]', remove: true}]\n")
	f.Fuzz(func(t *testing.T, document, overlay string) {
		if len(document)+len(overlay) > 1<<14 {
			return
		}
		limits := tree.Limits{Nodes: 10_000, Depth: 50}
		root, files := txtar.File{Name: "document", Data: []byte(document)}, []File{{Location: "overlay", Data: []byte(overlay)}}
		result, report, err := apply(root, files, limits)
		if err != nil {
			return
		}
		again, reportAgain, err := apply(root, []File{{Location: "overlay", Data: []byte(overlay)}}, limits)
		if err != nil || string(again) != string(result) {
			t.Fatalf("another result: %v\n%s\n%s", err, result, again)
		}
		if diff := cmp.Diff(report, reportAgain); diff != "" {
			t.Fatal("another report\n" + diff)
		}
		read, err := tree.Parse("result", result, tree.Limits{})
		if err != nil {
			t.Fatalf("%v: %s", err, result)
		}
		if text := string(read.AppendJSON(nil)); text != string(result) {
			t.Fatalf("reads as another\n%s\n%s", result, text)
		}
		for line := range strings.Lines(report) {
			if strings.HasSuffix(strings.TrimSpace(line), ":0:0") {
				t.Fatal(report)
			}
		}
	})
}
