package console

import (
	"encoding/json"
	"strings"
	"testing"

	nethtml "golang.org/x/net/html"
)

// textOf returns the text of a page as a browser's textContent has it.
func textOf(t *testing.T, page string) string {
	t.Helper()
	root, err := nethtml.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for n := range root.Descendants() {
		if n.Type == nethtml.TextNode {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}

// FuzzJSONTree: the text of a tree is the same JSON, with the digits of its numbers and the order of its members, and no text is markup.
func FuzzJSONTree(f *testing.F) {
	for _, s := range append([]string{`{"b":1,"a":[true,null,{"x":"y"}],"e":{},"n":123456789012345678901234567890.10}`, `[]`, `"<b>"`, `{"a":1}{}`, `{`, ``}, payloads...) {
		f.Add(s)
		quoted, _ := json.Marshal(map[string]any{s: []string{s}}) // strings can be written
		f.Add(string(quoted))
	}
	f.Fuzz(func(t *testing.T, s string) {
		page := rendered(t, jsonText(s))
		if newJSONTree([]byte(s)) == nil {
			return
		}
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		var value any
		if err := d.Decode(&value); err != nil {
			t.Fatalf("%q is shown as JSON: %v", s, err)
		}
		got := json.NewDecoder(strings.NewReader(textOf(t, page)))
		got.UseNumber()
		var again any
		if err := got.Decode(&again); err != nil {
			t.Fatalf("%q is shown as %q: %v", s, textOf(t, page), err)
		}
		a, _ := json.Marshal(value)
		b, _ := json.Marshal(again)
		if string(a) != string(b) {
			t.Errorf("%q is shown as %q", s, textOf(t, page))
		}
		if strings.Contains(page, "<script") || strings.Contains(page, "<img") {
			t.Errorf("%q is markup in %s", s, page)
		}
	})
}

// TestJSONTreeLimits: a text that is too large, too deep or cut is shown as text.
func TestJSONTreeLimits(t *testing.T) {
	for name, s := range map[string]string{
		"large": "[" + strings.Repeat("1,", maxTreeNodes) + "1]", "deep": strings.Repeat("[", maxTreeDepth+2) + strings.Repeat("]", maxTreeDepth+2), "cut": `{"a": "b…`,
	} {
		if newJSONTree([]byte(s)) != nil || !strings.Contains(rendered(t, jsonText(s)), "<pre") {
			t.Errorf("%s: shown as a tree", name)
		}
	}
}
