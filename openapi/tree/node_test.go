package tree_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"drawbridge/openapi/tree"
	"drawbridge/test/timebox"
)

func parse(t *testing.T, doc string) *tree.Node {
	t.Helper()
	n, err := tree.Parse("f.json", []byte(doc), tree.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestAbsent calls every reading method on an absent node.
func TestAbsent(t *testing.T) {
	var n *tree.Node
	for range n.Members() {
		t.Error("nil has members")
	}
	for range n.Items() {
		t.Error("nil has items")
	}
	if n.Kind() != tree.Invalid || n.Get("a") != nil || n.At(0) != nil || n.Len() != 0 || n.Key() != "" || n.Text() != "" ||
		n.Bool() || n.Parent() != nil || n.Pointer() != "" || n.Position() != (tree.Position{}) ||
		string(n.AppendJSON(nil)) != "null" || tree.Copy(n) != nil {
		t.Error("nil is something")
	}
	if n := parse(t, `{"a": 1}`); n.Get("a").Get("b").Get("c") != nil || n.Get("a").At(0) != nil || n.At(-1) != nil || n.At(1) != nil {
		t.Error("a number has members")
	}
}

// TestBuild builds new values around parsed ones, which do not change.
func TestBuild(t *testing.T) {
	const doc = `{"a":{"b":[1,2],"c":"x"},"d":true}`
	root := parse(t, doc)
	a := root.Get("a")

	object := tree.NewObject(a)
	object.Set("first", a)
	object.Set("second", a)
	object.Set("gone", tree.NewBool(a, true))
	object.Set("gone", nil)
	object.Set("never", nil)
	inner := tree.NewArray(a)
	object.Set("list", inner)
	inner.Append(a.Get("b")) // after it got a parent: still the same array
	inner.Append(tree.NewNumber(nil, "1.50"))
	inner.Append(tree.NewNull(a))
	inner.Append(inner.At(1))
	changed := tree.Copy(a)
	changed.Set("c", tree.NewString(a, "y\x00\xff"))
	changed.Set("e", tree.NewBool(a, false))
	object.Set("changed", changed)
	object.Set("first", tree.NewString(nil, "replaced"))

	const want = `{"first":"replaced","second":{"b":[1,2],"c":"x"},"list":[[1,2],1.50,null,1.50],` +
		`"changed":{"b":[1,2],"c":"y\u0000` + "\uFFFD" + `","e":false}}`
	if got := string(object.AppendJSON(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(root.AppendJSON(nil)); got != doc {
		t.Errorf("the document became %s", got)
	}
	for _, n := range []*tree.Node{object, object.Get("second"), object.Get("list"), changed, changed.Get("e"), tree.Copy(changed)} {
		if n.Pointer() != "/a" || n.Position() != a.Position() || n.Parent() != root {
			t.Errorf("%s stands at %s %s", n.AppendJSON(nil), n.Position(), n.Pointer())
		}
	}
	if key := object.Get("second").Key(); key != "second" {
		t.Errorf("the key is %q", key)
	}
	if c := tree.Copy(root); c.Key() != "" || c.Pointer() != "" || c.Position().File != "f.json" {
		t.Errorf("the copy of a root stands at %q %s", c.Key(), c.Position())
	}
}

// TestBuildWide adds and removes members beyond the size from which objects have an index.
func TestBuildWide(t *testing.T) {
	n := tree.NewObject(nil)
	for i := range 100 {
		n.Set(fmt.Sprint(i), tree.NewNumber(nil, fmt.Sprint(i)))
	}
	for i := range 95 {
		n.Set(fmt.Sprint(i), nil)
	}
	n.Set("95", tree.NewNull(nil))
	if got := string(n.AppendJSON(nil)); got != `{"95":null,"96":96,"97":97,"98":98,"99":99}` {
		t.Error(got)
	}
}

// TestParsedIsReadOnly checks that writing to a parsed node panics.
func TestParsedIsReadOnly(t *testing.T) {
	root := parse(t, `{"a": []}`)
	for name, write := range map[string]func(){
		"Set":             func() { root.Set("a", nil) },
		"Append":          func() { root.Get("a").Append(tree.NewNull(nil)) },
		"Set on an array": func() { tree.NewArray(nil).Set("a", nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			write()
		}()
	}
}

// TestFollow follows chains to their end, and stops at loops and long ones.
func TestFollow(t *testing.T) {
	var b strings.Builder
	b.WriteString("openapi: 3.1.0\ncomponents:\n  schemas:\n    Self: {$ref: '#/components/schemas/Self'}\n    S0: {type: string}\n")
	for i := 1; i <= 64; i++ {
		fmt.Fprintf(&b, "    S%d: {$ref: '#/components/schemas/S%d'}\n", i, i-1)
	}
	set, _, err := tree.Load(context.Background(), "f", []byte(b.String()), nil, tree.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	schemas := set.Root().Get("components").Get("schemas")
	n, err := set.Follow(schemas.Get("S64"))
	if err != nil || n != schemas.Get("S0") {
		t.Errorf("S64 leads to %s, %v", n.Pointer(), err)
	}
	if n, err := set.Follow(schemas.Get("S0")); err != nil || n != schemas.Get("S0") {
		t.Errorf("S0 leads to %s, %v", n.Pointer(), err)
	}
	if n, err := set.Follow(nil); n != nil || err != nil {
		t.Errorf("nothing leads to %v, %v", n, err)
	}
	_, err = set.Follow(schemas.Get("Self"))
	const want = `f:4:12: $ref "#/components/schemas/Self": leads from reference to reference for more than 64 steps`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	_, err = set.Resolve(schemas.Get("S0"))
	if err == nil || err.Error() != `f:5:5: $ref "": is not a reference: expected an object with a text member "$ref"` {
		t.Error(err)
	}
	_, err = set.Resolve(tree.NewString(nil, "#/a"))
	if refErr := (*tree.RefError)(nil); !errors.As(err, &refErr) || refErr.Message != "stands in no file of this document" {
		t.Error(err)
	}
}

// TestFileLimits covers too many files, too deep, too large together, a cancelled load, and no Opener at all.
func TestFileLimits(t *testing.T) {
	open := func(_ context.Context, location, _ string, _ int) ([]byte, error) {
		var i int
		if _, err := fmt.Sscanf(location, "%d.yaml", &i); err != nil {
			return nil, err
		}
		return fmt.Appendf(nil, "$ref: %d.yaml\n# padding %s\n", i+1, strings.Repeat("x", 1000)), nil
	}
	const doc = "openapi: 3.0.0\npaths:\n  /a: {$ref: 0.yaml}\n"
	for _, c := range []struct {
		limits tree.Limits
		want   string
	}{
		{tree.Limits{}, "31.yaml:1:1: files refer to files more than 32 levels deep; bundle the document into one file"},
		{tree.Limits{Files: 10}, "8.yaml:1:1: more than 10 files; split the document, or raise the limit if you trust its author"},
		{tree.Limits{Bytes: 5000}, "4.yaml:1:1: more than 5000 bytes; split the document, or raise the limit if you trust its author"},
		{tree.Limits{Nodes: 8}, "1.yaml:1:1: more than 8 values; split the document, or raise the limit if you trust its author"},
	} {
		_, _, err := tree.Load(context.Background(), "f", []byte(doc), open, c.limits)
		if err == nil || err.Error() != c.want {
			t.Errorf("%+v:\n got %v\nwant %s", c.limits, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, _, err := tree.Load(ctx, "f", []byte(doc), func(ctx context.Context, _, _ string, _ int) ([]byte, error) {
		cancel()
		return nil, ctx.Err()
	}, tree.Limits{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled load ends with %v", err)
	}
	_, warnings, err := tree.Load(context.Background(), "f", []byte(doc), nil, tree.Limits{})
	if err != nil || len(warnings) != 1 ||
		warnings[0].String() != `f:3:8: /paths/~1a/$ref: $ref "0.yaml": can't use "0.yaml": references to other files are not allowed here` {
		t.Errorf("%v, %v", err, warnings)
	}
}

// TestMemoryLimit checks the total memory of values and texts, of one file and of several.
func TestMemoryLimit(t *testing.T) {
	const head = `{"openapi":"3.0.0","paths":{},"x":[`
	values := strings.Repeat("1,", 6000) + "1]}"
	for _, c := range []struct {
		name, doc, file string
		want            string
	}{
		{"fits", head + values, "", ""},
		{"a long text", head + `"` + strings.Repeat("a", 1<<19) + `",` + values, "", "f:1:534561: more than 5122 values, which with the texts take 1 MiB, all that there is for a document; split it, or give the gateway more memory"},
		{"many values", head + strings.Repeat("1,", 6000) + values, "", "f:1:20518: more than 10245 values, which with the texts take 1 MiB, all that there is for a document; split it, or give the gateway more memory"},
		{"two files", `{"openapi":"3.0.0","paths":{"/a":{"$ref":"g"}},"x":[` + values, head + values, "g:1:8502: more than 10244 values, which with the texts take 1 MiB, all that there is for a document; split it, or give the gateway more memory"},
		{"YAML", "openapi: 3.0.0\npaths: {}\nx:\n" + strings.Repeat("- 1\n", 20_000), "", "f:5001:1: more than about 10000 values in YAML, or 2500 in brackets; convert the document to JSON, which may have 9685"},
	} {
		open := func(context.Context, string, string, int) ([]byte, error) { return []byte(c.file), nil }
		_, _, err := tree.Load(context.Background(), "f", []byte(c.doc), open, tree.Limits{Memory: 1 << 20})
		if got := fmt.Sprint(err); got != cmp.Or(c.want, "<nil>") {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestLocations checks the calls of the Opener for every kind of reference.
func TestLocations(t *testing.T) {
	for _, c := range []struct{ base, ref, want string }{
		{"api.yaml", "a.yaml", "a.yaml"},
		{"dir/api.yaml", "a.yaml", "dir/a.yaml"},
		{"dir/api.yaml", "./a.yaml#/x", "dir/a.yaml"},
		{"dir/api.yaml", "../../a.yaml", "../a.yaml"},
		{"dir/api.yaml", "%2e%2e/%2e%2e/a.yaml", "../a.yaml"},
		{"/abs/api.yaml", "../etc/a.yaml", "/etc/a.yaml"},
		{"dir/api.yaml", "/etc/passwd", "/etc/passwd"},
		{"dir/api.yaml", "//169.254.169.254/x", "//169.254.169.254/x"},
		{"dir/api.yaml", "file:///etc/passwd", "file:///etc/passwd"},
		{"dir/api.yaml", "HTTP://example.com/a", "HTTP://example.com/a"},
		{"https://example.com/v1/api.yaml", "a.yaml", "https://example.com/v1/a.yaml"},
		{"https://example.com/v1/api.yaml", "/a.yaml", "https://example.com/a.yaml"},
		{"https://example.com/v1/api.yaml", "//other.example/a.yaml", "https://other.example/a.yaml"},
		{"https://example.com/v1/api.yaml", "file:///etc/passwd", "file:///etc/passwd"},
	} {
		var opened []string
		doc := fmt.Sprintf(`{"openapi": "3.0.0", "paths": {"/a": {"$ref": %q}, "/b": {"$ref": %q}}}`, c.ref, c.ref)
		_, _, err := tree.Load(context.Background(), c.base, []byte(doc), func(_ context.Context, location, from string, _ int) ([]byte, error) {
			opened = append(opened, location)
			if from != c.base {
				t.Errorf("%s in %s is asked for by %q", c.ref, c.base, from)
			}
			return nil, errors.New("no")
		}, tree.Limits{})
		if err != nil || len(opened) != 1 || opened[0] != c.want {
			t.Errorf("%s in %s asks for %q, want %q (%v)", c.ref, c.base, opened, c.want, err)
		}
	}
}

// TestConcurrentUse reads one Set from many goroutines, for the race detector.
func TestConcurrentUse(t *testing.T) {
	const doc = `{"openapi": "3.1.0", "paths": {"/a": {"$ref": "b.json#/x"}},
		"components": {"schemas": {"A": {"$id": "u", "$ref": "#/components/schemas/B"}, "B": {"$ref": "#nowhere"}}}}`
	set, _, err := tree.Load(context.Background(), "a.json", []byte(doc),
		openFrom(map[string][]byte{"b.json": []byte(`{"x": {"get": {"deprecated": "true"}}}`)}), tree.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := set.Root().AppendJSON(nil)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			budget := 1000
			followAll(set, set.Root(), &budget)
			c := tree.Copy(set.Root())
			c.Set("x", tree.NewNull(c))
			_, _ = set.Resolve(tree.NewString(set.Root(), "#/paths"))
			if !bytes.Equal(set.Root().AppendJSON(nil), want) {
				t.Error("the document changed")
			}
		})
	}
	timebox.Done(t, group.Wait)
}
