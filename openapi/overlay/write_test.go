package overlay

import (
	"encoding/json"
	"strings"
	"testing"

	"drawbridge/openapi/tree"
)

// What is written is read as it was given, whatever characters it has: no text ends its place, and each path selects the
// value that it was made for.
func TestWrite(t *testing.T) {
	const nasty = "a'b\"c\\d\n- target: $\r\u0085\u2028\u2029\ufeff\x00\x1f#{}[]: é𝒳"
	name, err := json.Marshal(nasty)
	if err != nil {
		t.Fatal(err)
	}
	document := `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{},"x-a":{` + string(name) + `:[{"n":1},{"n":2}]}}`
	root, err := tree.Parse("d.json", []byte(document), tree.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	path, ok := PathTo(root, root.Get("x-a").Get(nasty).At(1))
	if !ok {
		t.Fatal("the value has no path")
	}
	value, err := json.Marshal(map[string]string{"text": nasty})
	if err != nil {
		t.Fatal(err)
	}
	changes := []Change{{Target: path, Reason: nasty, Value: value, Draft: true}, {Target: "$['x-a']", Reason: "away", Optional: true}}
	w := Write(nasty, []string{nasty}, changes)
	read, err := tree.Parse("o.yaml", w.Data, tree.Limits{})
	if err != nil {
		t.Fatalf("%v\n%s", err, w.Data)
	}
	if _, err := parse(read); err != nil {
		t.Fatalf("%v\n%s", err, w.Data)
	}
	if title := read.Get("info").Get("title").Text(); title != nasty {
		t.Errorf("the title is %q", title)
	}
	for i, action := range read.Get("actions").Items() {
		if at := action.Position().Line; at != w.Lines[i] {
			t.Errorf("action %d is in line %d, told is %d", i, at, w.Lines[i])
		}
		if got := action.Get("description").Text(); got != changes[i].Reason {
			t.Errorf("the reason is %q", got)
		}
	}
	var selected []Action
	_, _, err = tree.LoadEdited(t.Context(), "d.json", []byte(document), nil, func(e *tree.Editor) error {
		var err error
		selected, err = Apply(e, "d.json", []File{{Location: "o.yaml", Data: w.Data}})
		return err
	}, tree.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range selected {
		if a.Matched != 1 {
			t.Errorf("%s selects %d values", strings.ToValidUTF8(a.Target, "?"), a.Matched)
		}
	}
}

// A value of another tree has no path.
func TestPathToElsewhere(t *testing.T) {
	roots := make([]*tree.Node, 2)
	for i := range roots {
		var err error
		if roots[i], err = tree.Parse("d.json", []byte(`{"a":[1]}`), tree.Limits{}); err != nil {
			t.Fatal(err)
		}
	}
	if path, ok := PathTo(roots[0], roots[1].Get("a")); ok {
		t.Errorf("the path is %s", path)
	}
}
