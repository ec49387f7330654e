package gateway

import (
	"fmt"
	"reflect"
	"testing"

	"drawbridge/config"
)

// TestLikeness: what is configured alike has the same name, however it is written; whatever is configured otherwise has another.
func TestLikeness(t *testing.T) {
	dir := t.TempDir()
	of := func(api, limits string) string {
		c := configure(t, dir, document("Shop", "list"), fmt.Sprintf("apis: [{name: shop, spec: $SPEC, %s}]\nlimits: {%s}\n", api, limits), "")
		return fingerprintOf(c.APIs[0], c.Limits, []byte("certificates"))
	}
	const (
		base   = "base_url: https://shop.test"
		bearer = base + `, credential: {type: bearer, token: "first"}`
		chosen = base + `, credentials: {a: {type: bearer, token: "one"}, b: {type: bearer, token: "two"}, c: {type: bearer, token: "three"}, d: {type: bearer, token: "four"}}`
	)
	seen := map[string]string{}
	for _, c := range []struct{ api, limits string }{
		{base, ""}, {"base_url: https://shop.test/v2", ""}, {"base_url: http://shop.test", ""},
		{bearer, ""}, {base + `, credential: {type: bearer, token: "second"}`, ""},
		{base + `, credential: {type: basic, username: first, password: second}`, ""}, {base + `, credential: {type: basic, username: firsts, password: econd}`, ""},
		{chosen, ""}, {base + `, credentials: {a: {type: bearer, token: "two"}, b: {type: bearer, token: "one"}, c: {type: bearer, token: "three"}, d: {type: bearer, token: "four"}}`, ""},
		{base + ", pass_headers: [X-A, X-Bc]", ""}, {base + ", pass_headers: [X-Ab, X-C]", ""}, {base + ", pass_headers: [X-Bc, X-A]", ""},
		{base + ", clean: true", ""}, {base + ", tools: {include: [{method: GET}]}", ""}, {base + ", tools: {exclude: [{method: GET}]}", ""},
		{base + ", rate: {rate: 1/s}", ""}, {base + ", breaker: off", ""}, {base + ", timeout: 3s", ""}, {base, "timeout: 3s"}, {base, "max_answer: 1MiB"},
		{base + ", server_variables: {a: b}", ""}, {base + ", server_variables: {b: a}", ""},
	} {
		name := c.api + "; " + c.limits
		got := of(c.api, c.limits)
		if other := seen[got]; other != "" {
			t.Errorf("%s\nis taken to be\n%s", name, other)
		}
		seen[got] = name
		for range 4 { // maps are gone through in another order each time
			if again := of(c.api, c.limits); again != got {
				t.Errorf("%s is not like itself", name)
			}
		}
	}
	c := configure(t, dir, document("Shop", "list"), "", "https://shop.test")
	if fingerprintOf(c.APIs[0], c.Limits, []byte("certificates")) == fingerprintOf(c.APIs[0], c.Limits, []byte("others")) {
		t.Error("the content of ca_file does not count")
	}
	if of(base, "") != of(`base_url: "https://shop.test", clean: false`, "timeout: 30s") {
		t.Error("a default that is written down makes a difference")
	}
}

// TestDigestedValues holds values apart that differ in what their digests are made of alone.
func TestDigestedValues(t *testing.T) {
	type two struct{ a, b string }
	zero, one, empty, text := 0, 1, "", "to"
	seen := map[string]int{}
	for i, values := range [][]any{
		{"", ""}, {""}, {}, {"a", "bc"}, {"ab", "c"}, {"1:a"}, {[]string{"a", "bc"}}, {[]string{"abc"}}, {[]string{"a"}, "bc"}, {[]string{}},
		{two{"a", ""}}, {two{"", "a"}}, {[]any{"1"}}, {[]any{1}}, {[]any{1.0}}, {[]any{uint(1)}}, {[]any{true}}, {[]any{false}}, {[]any{nil}}, {[]any{"nil"}}, {[]any{[]any{}}},
		{(*int)(nil)}, {&zero}, {&one}, {&empty}, {&text}, {-1}, {1.5}, {uint8(200)},
		{map[string]string{"a": "b"}}, {map[string]string{"b": "a"}}, {map[string]string{"a": "b", "b": "a"}}, {map[string]string{"a": "a", "b": "b"}},
		{[][]string{{"a"}, {}}}, {[][]string{{}, {"a"}}}, {[2]bool{true, false}}, {[2]bool{false, true}},
	} {
		got := fingerprintOf(values...)
		if j, ok := seen[got]; ok {
			t.Errorf("case %d is taken to be case %d", i, j)
		}
		seen[got] = i
	}
}

// TestLikenessOfAll: nothing in the configuration of an API is of a kind whose values have no digest.
func TestLikenessOfAll(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(of reflect.Type, at string)
	walk = func(of reflect.Type, at string) {
		if seen[of] {
			return
		}
		seen[of] = true
		switch of.Kind() {
		case reflect.Complex64, reflect.Complex128, reflect.Chan, reflect.Func, reflect.UnsafePointer:
			t.Errorf("%s is a %s: two that differ are taken for the same", at, of.Kind())
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(of.Elem(), at)
		case reflect.Map:
			walk(of.Key(), at)
			walk(of.Elem(), at)
		case reflect.Struct:
			for f := range of.Fields() {
				walk(f.Type, at+"."+f.Name)
			}
		}
	}
	walk(reflect.TypeFor[config.API](), "api")
	walk(reflect.TypeFor[config.Limits](), "limits")
	if len(seen) < 20 {
		t.Errorf("%d types", len(seen))
	}
}
