package wire

import (
	"fmt"
	"testing"
)

// TestPlans checks that plans with the same encoding have the same text, and that each setting changes it.
func TestPlans(t *testing.T) {
	seen := map[string]string{}
	tell := func(what string, plan func() []byte) {
		t.Helper()
		text := string(plan())
		if again := string(plan()); again != text {
			t.Errorf("%s: %q, then %q", what, text, again)
		}
		if other, known := seen[text]; known {
			t.Errorf("%s is told as %s: %q", what, other, text)
		}
		seen[text] = what
	}
	for i, p := range []Parameter{
		{Name: "a", In: Path},
		{Name: "b", In: Path},
		{Name: "a", In: Header},
		{Name: "a", In: Path, Style: Label},
		{Name: "a", In: Path, ContentType: "application/json"},
		{Name: "a", In: Path, Explode: true},
		{Name: "a", In: Path, AllowReserved: true},
		{Name: "a", In: Path, AllowEmptyValue: true},
		{Name: "a", In: Path, Slash: SlashRaw},
		{Name: "a", In: Path, Nested: []byte(",")},
		{Name: "a", In: Query, ContentType: "application/x-www-form-urlencoded"},
	} {
		tell(fmt.Sprint("parameter ", i), func() []byte {
			e, err := NewEncoder(p)
			if err != nil {
				t.Fatal(err)
			}
			return e.AppendPlan(nil)
		})
	}
	for i, f := range []struct {
		properties map[string]Parameter
		other      Style
	}{
		{nil, ByType}, {nil, Form}, {map[string]Parameter{"a": {Style: Form}}, ByType}, {map[string]Parameter{"b": {Style: Form}}, ByType},
		{map[string]Parameter{"a": {Style: DeepObject}}, ByType}, {map[string]Parameter{"a": {Style: Form}, "b": {Style: Form}, "c": {Style: Form}}, ByType},
	} {
		tell(fmt.Sprint("form ", i), func() []byte {
			e, err := NewFormEncoder(f.properties, Parameter{Style: f.other})
			if err != nil {
				t.Fatal(err)
			}
			return e.AppendPlan(nil)
		})
		if i == 0 {
			continue
		}
		tell(fmt.Sprint("parameter with form ", i), func() []byte {
			form, err := NewFormEncoder(f.properties, Parameter{Style: f.other})
			if err != nil {
				t.Fatal(err)
			}
			e, err := NewEncoder(Parameter{Name: "a", In: Query, ContentType: "application/x-www-form-urlencoded", Form: form})
			if err != nil {
				t.Fatal(err)
			}
			return e.AppendPlan(nil)
		})
	}
	line, other := &XMLNode{Name: "line"}, &XMLNode{Name: "other"}
	loop := &XMLNode{Name: "loop"}
	loop.Members = map[string]*XMLNode{"again": loop, "line": line}
	nodes := []*XMLNode{
		{Name: "a"}, {Name: "b"}, {Name: "a", Namespace: "n"}, {Name: "a", Prefix: "n"}, {Name: "a", Kind: XMLText}, {Name: "a", Wrapped: true}, {Name: "a", Item: line},
		{Name: "a", Other: line}, {Name: "a", Members: map[string]*XMLNode{"m": line}}, {Name: "a", Members: map[string]*XMLNode{"n": line}},
		{Name: "a", Members: map[string]*XMLNode{"m": line}, Places: map[string]int{"m": 1}}, {Name: "a", Members: map[string]*XMLNode{"m": {Name: "other"}}},
		{Name: "a", Members: map[string]*XMLNode{"m": line, "n": line}}, {Name: "a", Members: map[string]*XMLNode{"m": line, "n": {Name: "line"}}}, loop,
		{Item: line, Other: other, Members: map[string]*XMLNode{"m": line}}, {Item: line, Other: other, Members: map[string]*XMLNode{"m": other}},
	}
	for i, n := range nodes {
		tell(fmt.Sprint("element ", i), func() []byte {
			text, complete := n.AppendPlan(nil)
			if !complete {
				t.Errorf("element %d is cut", i)
			}
			return text
		})
	}
	parts := []Multipart{
		{}, {Named: true}, {Parts: map[string]Part{"a": {}}}, {Parts: map[string]Part{"b": {}}}, {Parts: map[string]Part{"a": {}, "b": {}, "c": {}}},
		{Parts: map[string]Part{"a": {}, "b": {}}, Order: []string{"a", "b"}}, {Parts: map[string]Part{"a": {}, "b": {}}, Order: []string{"b", "a"}},
		{Prefix: []Part{{}}}, {Prefix: []Part{{File: true}}},
	}
	for _, p := range []Part{
		{Types: []string{"a/b"}}, {Types: []string{"a/c"}}, {Headers: []PartHeader{{"a", "b"}}}, {Headers: []PartHeader{{"a", "c"}}}, {File: true}, {Styled: true}, {Style: Form},
		{Explode: true}, {XML: nodes[0]}, {XML: nodes[1]},
	} {
		parts = append(parts, Multipart{Fallback: p}, Multipart{Named: true, Parts: map[string]Part{"p": p}})
	}
	for i, m := range parts {
		tell(fmt.Sprint("parts ", i), func() []byte {
			e, err := NewMultipartEncoder(m)
			if err != nil {
				t.Fatal(err)
			}
			text, complete := e.AppendPlan(nil)
			if !complete {
				t.Errorf("parts %d are cut", i)
			}
			return text
		})
	}
}

// TestLargePlans checks the exact limit of nodes, over all parts of a body together.
func TestLargePlans(t *testing.T) {
	node := func(n int) *XMLNode { // of n nodes, including itself
		root := &XMLNode{Name: "root", Members: map[string]*XMLNode{}}
		for i := range n - 1 {
			root.Members[fmt.Sprint(i)] = &XMLNode{Name: "m"}
		}
		return root
	}
	for n, want := range map[int]bool{1: true, maxXMLPlan: true, maxXMLPlan + 1: false} {
		if _, complete := node(n).AppendPlan(nil); complete != want {
			t.Errorf("%d nodes fit: %t", n, complete)
		}
	}
	for _, sizes := range []struct {
		a, b, c  int
		complete bool
	}{{maxXMLPlan / 2, maxXMLPlan / 2, 0, true}, {maxXMLPlan / 2, maxXMLPlan/2 + 1, 0, false}, {maxXMLPlan, 1, 0, false}, {maxXMLPlan + 1, 1, 1, false}} {
		m := Multipart{Parts: map[string]Part{"a": {XML: node(sizes.a)}, "b": {XML: node(sizes.b)}}}
		if sizes.c > 0 {
			m.Parts["c"] = Part{XML: node(sizes.c)}
		}
		e, err := NewMultipartEncoder(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, complete := e.AppendPlan(nil); complete != sizes.complete {
			t.Errorf("%+v fit: %t", sizes, complete)
		}
	}
}
