package jsonscan

import "testing"

// TestAt checks the examples of RFC 6901 section 5, and pointers without a value.
func TestAt(t *testing.T) {
	const doc = `{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8,
		"deep": {"list": [[], [{"x": null}]]}, "twice": 1, "twice": 2}`
	for pointer, want := range map[string]string{
		"": doc, "/foo": `["bar", "baz"]`, "/foo/0": `"bar"`, "/foo/1": `"baz"`, "/": "0", "/a~1b": "1", "/c%d": "2", "/e^f": "3",
		"/g|h": "4", `/i\j`: "5", `/k"l`: "6", "/ ": "7", "/m~0n": "8", "/deep/list/1/0/x": "null", "/twice": "1",
		"foo": "", "/foo/2": "", "/foo/-": "", "/foo/00": "", "/foo/01": "", "/foo/+1": "", "/foo/": "", "/foo/9999999999": "",
		"/foo/0/x": "", "/fo": "", "//": "", "/deep/list/1/0/x/y": "", "/m~01n": "",
	} {
		if got := string(At([]byte(doc), pointer)); got != want {
			t.Errorf("%q: %q, want %q", pointer, got, want)
		}
	}
	plain := []byte(`{"a": 1, "deep": {"list": [[], [{"x": null}]]}}`)
	if n := testing.AllocsPerRun(10, func() { At(plain, "/deep/list/1/0/x") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
