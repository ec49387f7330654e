package jsonscan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestMissing holds that the first required property that an object lacks is found, in whatever order, and that nothing is allocated if none
// is missing.
func TestMissing(t *testing.T) {
	item := &Shape{Kinds: Of(Object), Properties: []Property{{Name: "id", Required: true}, {Name: "name"}}}
	shape := &Shape{Kinds: Of(Object), Properties: []Property{{Name: "a"}, {Name: "b", Required: true}, {Name: "c", Required: true}, {Name: "items", Shape: &Shape{Items: item}}}}
	shape.Compile()
	for text, want := range map[string]string{
		`{"b":1,"c":2}`:                         "",
		`{"a":0,"b":1,"c":2,"d":3}`:             "",
		`{"c":1,"b":2}`:                         "",
		`{"x":1,"c":1,"a":1,"b":2}`:             "",
		`{"\u0062":1,"c":2}`:                    "",
		`{}`:                                    "0 b",
		` { } `:                                 "1 b",
		`{"b":1}`:                               "0 c",
		`{"c":1,"a":1}`:                         "0 b",
		`{"b":1,"c":{},"items":[]}`:             "",
		`{"items":[{"id":1},{"name":2}],"b":1}`: "19 id",
		`{"items":[{}],"b":1,"c":1}`:            "10 id",
		`[]`:                                    "",
	} {
		info, err := Scan([]byte(text), Options{Shape: shape})
		got := ""
		if m := info.Missing; m != nil {
			got = fmt.Sprint(m.Offset, " ", m.Name)
		}
		if err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
	data := []byte(`{"c":1,"b":2,"items":[{"name":1,"id":2}]}`)
	if n := testing.AllocsPerRun(10, func() { _, _ = Scan(data, Options{Shape: shape}) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestMissingLikeCounting compares with a count of names, for objects with more properties than are looked at.
func TestMissingLikeCounting(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // cases, not secrets
	shape := &Shape{Kinds: Of(Object)}
	for i := range 80 {
		shape.Properties = append(shape.Properties, Property{Name: fmt.Sprint("p", i), Required: i%3 == 0})
	}
	shape.Compile()
	for range 2000 {
		order, has := random.Perm(80)[:40+random.IntN(41)], map[int]bool{}
		if random.IntN(2) == 0 { // in order, mostly
			order = order[:0]
			for i := range 80 {
				if random.IntN(40) > 0 {
					order = append(order, i)
				}
			}
		}
		var members []string
		for _, i := range order {
			has[i] = true
			members = append(members, fmt.Sprintf(`"p%d":%d`, i, i))
		}
		want := ""
		for i := 0; i < 64 && want == ""; i += 3 {
			if !has[i] {
				want = fmt.Sprint("p", i)
			}
		}
		text := "{" + strings.Join(members, ",") + "}"
		info, err := Scan([]byte(text), Options{Shape: shape})
		got := ""
		if info.Missing != nil {
			got = info.Missing.Name
		}
		if err != nil || got != want {
			t.Fatalf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
}
