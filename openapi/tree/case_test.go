package tree_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/openapi/tree"
	"drawbridge/test/cases"
)

var update = flag.Bool("update", false, "write what the code does into the cases")

// TestCases runs testdata/*.txtar. The first file of a case is the root document, the others can be referred to. The
// expected results follow:
//
//	want/FILE  the tree of FILE after Load, indented
//	refs       the target of each reference of the root file
//	warnings   every warning
//	error      the error of Load
func TestCases(t *testing.T) {
	cases.Run(t, "testdata/*.txtar", func(t *testing.T, name string, archive *txtar.Archive) {
		got := runCase(t, archive)
		if *update {
			archive.Files = got
			cases.Write(t, name, archive)
			return
		}
		want := string(txtar.Format(archive))
		if diff := cmp.Diff(want, string(txtar.Format(&txtar.Archive{Comment: archive.Comment, Files: got}))); diff != "" {
			t.Error("-want +got:\n" + diff)
		}
	})
}

// runCase returns the files of the case with the current outputs.
func runCase(t *testing.T, archive *txtar.Archive) []txtar.File {
	var files []txtar.File
	sources := map[string][]byte{}
	for _, f := range archive.Files {
		switch {
		case f.Name == "refs" || f.Name == "warnings" || f.Name == "error" || strings.HasPrefix(f.Name, "want/"):
		default:
			files = append(files, f)
			sources[f.Name] = f.Data
		}
	}
	root := files[0]
	set, warnings, err := tree.Load(context.Background(), root.Name, bytes.Clone(root.Data), openFrom(sources), tree.Limits{})
	add := func(name, text string) {
		if text != "" {
			files = append(files, txtar.File{Name: name, Data: []byte(text)})
		}
	}
	if err != nil {
		add("error", err.Error()+"\n")
	} else {
		for _, name := range set.Files() {
			n := set.Root()
			if name != root.Name {
				n = fileRoot(set, name)
			}
			add("want/"+name, indent(t, n))
		}
		for _, f := range archive.Files {
			if f.Name == "refs" {
				var refs strings.Builder
				writeRefs(&refs, set, set.Root())
				add("refs", refs.String())
			}
		}
	}
	var lines strings.Builder
	for _, w := range warnings {
		fmt.Fprintf(&lines, "%s [%s]\n", w, w.Code)
	}
	add("warnings", lines.String())
	return files
}

func openFrom(sources map[string][]byte) tree.Opener {
	return func(_ context.Context, location, _ string, _ int) ([]byte, error) {
		data, ok := sources[location]
		if !ok {
			return nil, os.ErrNotExist
		}
		return bytes.Clone(data), nil
	}
}

// fileRoot resolves a made-up reference to the whole file.
func fileRoot(set *tree.Set, name string) *tree.Node {
	up := strings.Repeat("../", strings.Count(set.Root().Position().File, "/"))
	n, err := set.Resolve(tree.NewString(set.Root(), up+name))
	if err != nil {
		return nil
	}
	return n
}

func indent(t *testing.T, n *tree.Node) string {
	var out bytes.Buffer
	if err := json.Indent(&out, n.AppendJSON(nil), "", "  "); err != nil {
		t.Errorf("the tree is no JSON: %v", err)
	}
	return out.String() + "\n"
}

func writeRefs(out *strings.Builder, set *tree.Set, n *tree.Node) {
	for _, key := range []string{"$ref", "$dynamicRef"} {
		ref := n.Get(key)
		if ref.Kind() != tree.String {
			continue
		}
		target, err := set.Resolve(ref)
		if err != nil {
			fmt.Fprintf(out, "%s: %v\n", ref.Pointer(), err)
			continue
		}
		fmt.Fprintf(out, "%s: %s -> %s#%s\n", ref.Pointer(), ref.Text(), target.Position().File, target.Pointer())
	}
	for _, k := range n.Members() {
		writeRefs(out, set, k)
	}
	for _, k := range n.Items() {
		writeRefs(out, set, k)
	}
}
