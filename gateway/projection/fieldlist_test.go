package projection

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"drawbridge/openapi/jsonscan"
	"drawbridge/test/timebox"
)

// FuzzFieldList: no list makes an answer longer or breaks it, and the result is that of a reader that builds a tree.
func FuzzFieldList(f *testing.F) {
	for _, list := range []string{"a", "a.b,c", "*.a,b.*", `"a.b"."c,d"`, "a[].b[*]", "$.a", "a,a.b", "*.*.a,*.b.*,a.*.*", "a[0:2].b", "a[-1][0]", "[1:].a", "c[3]", "a[2:][0:1].b,c"} {
		f.Add([]byte(`{"a":[{"b":1.10,"c":"\u0061"},2,null,[{"b":[]}]],"c":{"a":9007199254740993},"a.b":{"c,d":1e400}}`), list)
	}
	f.Fuzz(func(t *testing.T, answer []byte, text string) {
		data, ok := Compact(answer)
		if !ok {
			t.Skip()
		}
		l, err := ParseFieldList(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("%q", err)
			}
			t.Skip()
		}
		before := bytes.Clone(data)
		got, missed, sliced := l.Apply(data)
		if !bytes.Equal(before, data) {
			t.Fatal("the answer was changed")
		}
		if len(got) > len(data) {
			t.Errorf("%d bytes of %d: %s", len(got), len(data), got)
		}
		if len(missed) > maxMissed {
			t.Errorf("%d paths are reported", len(missed))
		}
		for _, s := range sliced {
			if s.First > s.End || s.End > s.Total {
				t.Errorf("%+v", s)
			}
		}
		if !json.Valid(got) {
			t.Fatalf("not JSON: %s", got)
		}
		if want := slowly(tree(data), l.paths, 0, 0); hasTwins(data) {
			return // a tree has one of them
		} else if diff := cmp.Diff(want, tree(got)); diff != "" {
			t.Errorf("%s of %s (-want +got):\n%s", text, data, diff)
		}
	})
}

func tree(data []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	_ = d.Decode(&v)
	return v
}

// hasTwins reports whether an object has two members of one name, or names that a tree can't tell apart.
func hasTwins(data []byte) bool {
	_, err := jsonscan.Scan(data, jsonscan.Options{Unique: true})
	return err != nil || bytes.Contains(data, []byte(`\u`))
}

// slowly selects fields from a tree as the documentation says it.
func slowly(v any, paths []fieldPath, depth, level int) any {
	marks := paths[0].slices[depth]
	elements, isArray := v.([]any)
	for _, p := range paths {
		if len(p.path) == depth && (!isArray || level >= len(marks)) {
			return v
		}
	}
	if isArray {
		var s slice
		if level < len(marks) {
			s = marks[level]
		}
		whole := slices.ContainsFunc(paths, func(p fieldPath) bool { return len(p.path) == depth })
		first, end := s.of(len(elements))
		out := []any{}
		for _, element := range elements[first:end] {
			if whole || canHold(element) {
				out = append(out, slowly(element, paths, depth, level+1))
			}
		}
		return out
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			var on []fieldPath
			whole := false
			for _, p := range paths {
				if p.wild[depth] || p.path[depth] == name {
					on = append(on, p)
					whole = whole || len(p.path) == depth+1
				}
			}
			if on != nil && (whole || canHold(member)) {
				out[name] = slowly(member, on, depth+1, 0)
			}
		}
		return out
	}
	return v
}

func canHold(v any) bool {
	switch v.(type) {
	case map[string]any, []any, nil:
		return true
	}
	return false
}

// TestFieldListCostsLittle: lists that are as hostile as they may be cost about what a plain one costs.
func TestFieldListCostsLittle(t *testing.T) {
	row := `{"a":{"a":{"a":{"a":{"a":{"a":1,"b":2},"b":{"a":3}}}},"b":[[[[{"a":1}]]]]},"b":{"b":{"b":{"a":1}}}}`
	data := []byte("[" + strings.Repeat(row+",", 20000) + row + "]")
	cost := func(list string, most time.Duration) time.Duration {
		l, err := ParseFieldList(list)
		if err != nil {
			t.Fatal(list, err)
		}
		return timebox.Fastest(most, func() { l.Apply(data) })
	}
	plain := cost("a.a.a.a.a,b.b.b", 0)
	most := 8*plain + 20*time.Millisecond
	var wild []string
	for i := range maxPaths {
		path := ""
		for bit := range 7 {
			path += []string{"*.", "a.", "b."}[(i>>bit)%3]
		}
		wild = append(wild, path+"a")
	}
	for _, list := range []string{strings.Join(wild, ","), "*.*.*.*.*.*.*.*", strings.Repeat("*.", 31) + "x", strings.Repeat("a.", 31) + "x," + strings.Repeat("*.", 31) + "y"} {
		if took := cost(list, most); took > most {
			t.Errorf("%s… takes %s, a plain list %s", list[:15], took, plain)
		}
	}
}

// TestFieldListBounds: what a list may have in all.
func TestFieldListBounds(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{strings.Repeat("a", MaxFieldList+1), "has 4097 bytes, more than 4096"},
		{strings.Repeat("a,", maxPaths) + "a", "has more than 100 paths"},
		{strings.Repeat("a.", maxPathDepth) + "a", `has more than 32 names`},
	} {
		if _, err := ParseFieldList(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20s…: %v, want %s", c.text, err, c.want)
		}
	}
	// Wildcards and names at each level double the states.
	var paths []string
	for i := range 30 {
		path := make([]string, 31)
		for j := range path {
			path[j] = "*"
		}
		path[i] = fmt.Sprint("n", i)
		paths = append(paths, strings.Join(path, "."))
	}
	if _, err := ParseFieldList(strings.Join(paths, ",")); err == nil || err.Error() != "combines too many paths with *; write fewer" {
		t.Error(err)
	}
}
