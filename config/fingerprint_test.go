package config

import (
	"reflect"
	"testing"
)

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
		got := Fingerprint(values...)
		if j, ok := seen[got]; ok {
			t.Errorf("case %d is taken to be case %d", i, j)
		}
		seen[got] = i
	}
}

// TestFingerprintOfAll: nothing in the configuration of an API is of a kind whose values have no digest.
func TestFingerprintOfAll(t *testing.T) {
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
	walk(reflect.TypeFor[API](), "api")
	walk(reflect.TypeFor[Limits](), "limits")
	if len(seen) < 20 {
		t.Errorf("%d types", len(seen))
	}
}
