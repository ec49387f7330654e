package jsonscan

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestFilter(t *testing.T) {
	for _, tt := range []struct{ drop, mask, in, want string }{
		{"a", "", `{"a":1}`, `{}`},
		{"a", "", `{"a":1,"b":2}`, `{"b":2}`},
		{"b", "", `{"a":1,"b":2}`, `{"a":1}`},
		{"b", "", `{"a":1,"b":{"c":"}"},"d":3}`, `{"a":1,"d":3}`},
		{"a b", "", `{"a":1,"b":2,"c":3}`, `{"c":3}`},
		{"a b c", "", `{"a":1,"b":2,"c":3}`, `{}`},
		{"b c", "", `{"a":1,"b":2,"c":3}`, `{"a":1}`},
		{"a c", "", `{"a":1,"b":2,"c":3}`, `{"b":2}`},
		{"a", "", `[{"x":[{"a":[1,{"a":2}]},{"b":{"a":null}}]}]`, `[{"x":[{},{"b":{}}]}]`},
		{"a", "", "{ \"a\" : 1 ,\n\"b\" : { \"a\" : 2 } }", "{ \n\"b\" : {  } }"},
		{"a", "", `{"\u0061":1,"A":2}`, `{"A":2}`},
		{"a", "", `{"a":1,"a":2,"b":3}`, `{"b":3}`},
		{"", "a", `{"a":"s","b":[{"a":1},{"a":true},{"a":null},{"a":{"b":1}},{"a":[]}]}`,
			`{"a":"[hidden]","b":[{"a":null},{"a":null},{"a":null},{"a":null},{"a":null}]}`},
		{"a", "a", `{"a":"s"}`, `{}`},
		{"/a/b", "", `{"a":{"b":1,"c":{"b":2}},"b":3}`, `{"a":{"c":{"b":2}},"b":3}`},
		{"/*/b", "", `[{"b":1,"c":2},{"b":3}]`, `[{"c":2},{}]`},
		{"/*/b", "", `{"x":{"b":1},"y":{"b":{}}}`, `{"x":{},"y":{}}`},
		{"/*", "", `{"x":1,"y":[2]}`, `{}`},
		{"/*", "", `[1,[2],{"a":3}]`, `[]`},
		{"/0", "", `[1,2,3]`, `[2,3]`},
		{"/1", "", `[1,2,3]`, `[1,3]`},
		{"/2", "", `[1,2,3]`, `[1,2]`},
		{"/a/*/c", "/a/b", `{"a":{"b":"s","d":{"c":1}}}`, `{"a":{"b":"[hidden]","d":{}}}`},
		{"/a/*/c /a/b/c", "", `{"a":{"b":{"c":1}}}`, `{"a":{"b":{}}}`},
		{"/a~1b/c~0d", "", `{"a/b":{"c~d":1}}`, `{"a/b":{}}`},
		{"/", "", `{"":1,"a":2}`, `{"a":2}`},
		{"a", "", `{"b":"{\"a\":1,\"c\":\"[{\\\"a\\\":2}]\"}"}`, `{"b":"{\"c\":\"[{}]\"}"}`},
		{"/b/a", "", `{"b":"\u007b\"a\":1}"}`, `{"b":"{}"}`},
		{"a", "", `["{\"a\":", "[", "{a}", "\\", " "]`, `["{\"a\":", "[", "{a}", "\\", " "]`},
		{"a", "", `"a"`, `"a"`},
		{"a", "", ` 1 `, ` 1 `},
		{"a", "", `[["a"]]`, `[["a"]]`},
	} {
		f := filterOf(strings.Fields(tt.drop), strings.Fields(tt.mask))
		if got := string(f.Apply([]byte(tt.in))); got != tt.want {
			t.Errorf("drop %q, mask %q: %s became %s, want %s", tt.drop, tt.mask, tt.in, got, tt.want)
		}
	}
}

// TestFilterAddAt checks that a value at another place is hidden as at its own.
func TestFilterAddAt(t *testing.T) {
	for _, tt := range []struct{ drop, from, in, want string }{
		{"a", "a", `{"x":1,"y":2}`, `{"y":2}`},
		{"a", "b a c", `{"x":1}`, `{}`},
		{"a", "b", `{"x":{"a":1}}`, `{"x":{"a":1}}`}, // names are not added
		{"/b", "b", `{"x":{"a":1}}`, `{}`},
		{"/b", "b a", `{"x":1}`, `{}`},
		{"/b/a/*/c~1d", "b", `{"x":{"a":[{"c/d":1,"e":2}]}}`, `{"x":{"a":[{"e":2}]}}`},
		{"/*/a", "b", `{"x":{"a":1,"b":2}}`, `{"x":{"b":2}}`},
		{"/*", "b", `{"x":{"a":1}}`, `{}`},
		{"/b/a", "c", `{"x":{"a":1}}`, `{"x":{"a":1}}`},
		{"/a", "", `{"x":{"a":1,"b":2}}`, `{"x":{"b":2}}`},
	} {
		f, at := &Filter{}, strings.Fields(tt.from)
		hides := f.AddAt("/x", filterOf([]string{tt.drop}, nil), at)
		if got := string(f.Apply([]byte(tt.in))); got != tt.want || hides == f.IsEmpty() {
			t.Errorf("%s of %q: %s became %s, want %s; hides: %t", tt.drop, at, tt.in, got, tt.want, hides)
		}
	}
}

func filterOf(drop, mask []string) *Filter {
	f := &Filter{}
	for fate, all := range map[Fate][]string{Drop: drop, Mask: mask} {
		for _, text := range all {
			if strings.HasPrefix(text, "/") {
				f.Pointer(text, fate)
			} else {
				f.Name(text, fate)
			}
		}
	}
	return f
}

// TestFilterKeepsText checks that a text without anything to hide is not copied.
func TestFilterKeepsText(t *testing.T) {
	f, data := filterOf([]string{"a", "/b/c"}, nil), []byte(`{"c":[1,{"d":"a"}]}`)
	if out := f.Apply(data); &out[0] != &data[0] || len(out) != len(data) {
		t.Errorf("%s is another text", out)
	}
}

func TestFilterMentions(t *testing.T) {
	f := filterOf([]string{"ssn"}, []string{"/card/number", "/list/*"})
	for text, want := range map[string]bool{"<ssn>1</ssn>": true, "a number": true, "the list": true, "card": false, "": false} {
		if f.Mentions([]byte(text)) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
	if !filterOf([]string{"/*/0"}, nil).Mentions([]byte("0")) || !filterOf([]string{"/*"}, nil).Mentions(nil) || (&Filter{}).Mentions([]byte("x")) {
		t.Error("places without a name")
	}
}

// secretValue marks values that must be hidden.
const secretValue = "S3CRET"

// randomValue makes a value in which everything under a name of hide contains secretValue, and nothing else does.
func randomValue(r *rand.Rand, depth int, hide []string, hidden bool) any {
	leaf := func() any {
		if hidden {
			return secretValue
		}
		return []any{nil, true, 1.5, "x,\"}]{[:", ""}[r.IntN(5)]
	}
	if depth == 0 {
		return leaf()
	}
	switch r.IntN(3) {
	case 0:
		all := map[string]any{}
		for range r.IntN(5) {
			name := []string{"a", "b", "c\"d", "é", ""}[r.IntN(5)]
			secret := hidden || slices.Contains(hide, name)
			all[name] = randomValue(r, depth-1, hide, secret)
		}
		return all
	case 1:
		all := []any{}
		for range r.IntN(4) {
			all = append(all, randomValue(r, depth-1, hide, hidden))
		}
		return all
	}
	return leaf()
}

// without returns the expected result of a filter that drops names.
func without(v any, hide []string) any {
	switch v := v.(type) {
	case map[string]any:
		all := map[string]any{}
		for name, value := range v {
			if !slices.Contains(hide, name) {
				all[name] = without(value, hide)
			}
		}
		return all
	case []any:
		all := []any{}
		for _, value := range v {
			all = append(all, without(value, hide))
		}
		return all
	}
	return v
}

// TestFilterProperty checks that no value under a listed name remains, and that everything else does.
func TestFilterProperty(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	names := []string{"a", "b", "c\"d", "é", ""}
	for round := range 3000 {
		var hide []string
		for _, name := range names {
			if r.IntN(3) == 0 {
				hide = append(hide, name)
			}
		}
		value := randomValue(r, 5, hide, false)
		text, err := json.Marshal(value)
		if round%2 == 0 {
			text, err = json.MarshalIndent(value, " ", "\t")
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, fate := range []Fate{Drop, Mask} {
			f := &Filter{}
			for _, name := range hide {
				f.Name(name, fate)
			}
			out := f.Apply(text)
			if bytes.Contains(out, []byte(secretValue)) {
				t.Fatalf("hide %q of %s: %s", hide, text, out)
			}
			if fate == Mask {
				if _, err := Scan(out, Options{}); err != nil {
					t.Fatalf("%s: %v", out, err)
				}
				continue
			}
			var got any
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%s: %v", out, err)
			}
			have, _ := json.Marshal(got)
			want, _ := json.Marshal(without(value, hide))
			if !bytes.Equal(have, want) {
				t.Fatalf("hide %q of %s: %s, want %s", hide, text, have, want)
			}
		}
	}
}

// FuzzFilter checks that a filtered text is JSON, contains none of the hidden names, and is filtered to itself.
func FuzzFilter(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[{"a":"x"},2,{"c":{"a":[]}}]}`), "a", "/b/*/c", false)
	f.Add([]byte(` [ {"\u0061" : 1 } , "a" ] `), "a", "/0", true)
	f.Add([]byte(`{"":{"":1},"":2}`), "", "/", false)
	f.Fuzz(func(t *testing.T, data []byte, name, pointer string, mask bool) {
		if _, err := Scan(data, Options{}); err != nil {
			return
		}
		filter, fate := &Filter{}, Drop
		if mask {
			fate = Mask
		}
		filter.Name(name, fate)
		if strings.HasPrefix(pointer, "/") {
			filter.Pointer(pointer, fate)
		}
		before := bytes.Clone(data)
		out := filter.Apply(data)
		if !bytes.Equal(before, data) {
			t.Fatalf("%s was changed to %s", before, data)
		}
		if _, err := Scan(out, Options{}); err != nil {
			t.Fatalf("%s became %s: %v", data, out, err)
		}
		var check func(value []byte)
		check = func(value []byte) {
			for member, inside := range Members(value) {
				if string(member) == name && (!mask || string(inside) != "null" && string(inside) != `"[hidden]"`) {
					t.Fatalf("%s became %s", data, out)
				}
				check(inside)
			}
			for element := range Elements(value) {
				check(element)
			}
		}
		check(out)
		numbered := slices.ContainsFunc(strings.Split(pointer, "/"), func(token string) bool { _, err := strconv.Atoi(token); return err == nil })
		if again := filter.Apply(out); !numbered && !bytes.Equal(again, out) && !mask { // elements that move up may be hidden in turn
			t.Fatalf("%s became %s, then %s", data, out, again)
		}
	})
}
