package jsonscan

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestCanonical(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"b":1,"a":2}`, `{"a":2,"b":1}`},
		{" { \"b\" : [ 1 , {\"z\":null,\"y\":true} ] ,\n\"a\" : \"x y\" } ", `{"a":"x y","b":[1,{"y":true,"z":null}]}`},
		{`{"\u0061":1,"B":2}`, `{"B":2,"a":1}`},
		{`"\u0061\/\u00e9\n\ud83d\ude00"`, "\"a/é\\n\U0001F600\""},
		{`9007199254740993`, `9007199254740993`},
		{`[1.0,1,1e0]`, `[1.0,1,1e0]`}, // one number in three notations: they stay three
		{`{}`, `{}`},
		{`[]`, `[]`},
		{`[[],{}]`, `[[],{}]`},
		{`{"a":{},"b":[1,"x",{"c":true}],"é":null}`, `{"a":{},"b":[1,"x",{"c":true}],"é":null}`},
		{`{"a":1,"a":2}`, `{"a":1,"a":2}`},
		{`{"a":1, "b":2}`, `{"a":1,"b":2}`},
		{`[1,2 ]`, `[1,2]`},
	} {
		if got := string(AppendCanonical(nil, []byte(tt.text))); got != tt.want {
			t.Errorf("%s = %s, want %s", tt.text, got, tt.want)
		}
	}
}

// FuzzCanonical checks that the canonical form has the same value as the text, and is its own canonical form.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{"b":[1,2],"a":{"d":"\u0041","c":null}}`, `"\ud800"`, `[{},[],""," "]`, `{"":{"":0}}`, `{"é":1,"z":-0.5e3}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := Scan(text, Options{}); err != nil {
			return
		}
		once := AppendCanonical(nil, text)
		if slow := appendCanonical(nil, text); string(slow) != string(once) {
			t.Fatalf("%q became %q, and by the long way %q", text, once, slow)
		}
		if _, err := Scan(once, Options{}); err != nil {
			t.Fatalf("%q became %q: %v", text, once, err)
		}
		if twice := AppendCanonical(nil, once); string(twice) != string(once) {
			t.Fatalf("%q became %q, and that %q", text, once, twice)
		}
		var a, b any
		if json.Unmarshal(text, &a) == nil && (json.Unmarshal(once, &b) != nil || !reflect.DeepEqual(a, b)) {
			t.Fatalf("%q became %q", text, once)
		}
	})
}
