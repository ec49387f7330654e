package jsonscan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestAppendUnescaped checks which escapes become characters, and the treatment of half a surrogate pair (pains row 153
// and pains row 154).
func TestAppendUnescaped(t *testing.T) {
	for in, want := range map[string]string{
		``:                              ``,
		`{"a":1}`:                       `{"a":1}`,
		`"\u4f60\u597D\u0041\u00e9"`:    `"你好Aé"`,
		`"\ud83d\ude00\uD83D\uDE00"`:    `"😀😀"`,
		`"\ud83d"`:                      `"�"`,
		`"\ude00\ud83d"`:                `"��"`,
		`"\ud83d\ud83d\ude00\ude00"`:    `"�😀�"`,
		`"\ud83dA\ud83d\nA\ud83d\\u"`:   `"�A�\nA�\\u"`,
		`{"\ud83d":["\ude00"]}`:         `{"�":["�"]}`,
		`"\u0022\u005c\u002f\/\u007f"`:  `"\"\\//` + "\x7f" + `"`,
		`"\u0000\u001f\n\t\b\f\r\"\\"`:  `"\u0000\u001f\n\t\b\f\r\"\\"`,
		`"\u2028\ufffd\ufeff\uffff"`:    "\"\u2028\ufffd\ufeff\uffff\"",
		`"\\u4f60 \\\u4f60 \\\\u4f60"`:  `"\\u4f60 \\你 \\\\u4f60"`,
		"\"你\\u4f60\"":                  `"你你"`,
		`"` + strings.Repeat(`\/`, 200): `"` + strings.Repeat(`/`, 200),
		`not JSON \u12 \x \`:            `not JSON \u12 \x \`,
		`"\u005cud83d" "\u005c\u0022"`:  `"\\ud83d" "\\\""`,
		`"\ud83d\u005c"`:                `"�\\"`,
		`"\ud83d\u"`:                    `"�\u"`,
	} {
		if got := string(AppendUnescaped([]byte("x"), []byte(in))); got != "x"+want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
		b := []byte(in)
		if got := string(AppendUnescaped(b[:0], b)); got != want {
			t.Errorf("%s in place: %s, want %s", in, got, want)
		}
		if info, err := Scan([]byte(in), Options{}); err == nil && (want != in && !info.Escapes || info.Escapes != HasEscapes([]byte(in))) {
			t.Errorf("%s: Escapes %t, HasEscapes %t", in, info.Escapes, HasEscapes([]byte(in)))
		}
	}
}

// FuzzAppendUnescaped checks that a text keeps its value and has no half of a surrogate pair, that another run changes
// nothing, and that it does not grow.
func FuzzAppendUnescaped(f *testing.F) {
	for _, s := range []string{`{"a":"\ud83d","\u4f60":["\/","\ud83d\ude00"]}`, `"\u0000\u001f\"\\"`, `["\\ud83d"]`, `1`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		out := AppendUnescaped(nil, text)
		if len(out) > len(text) {
			t.Fatalf("%q grows to %q", text, out)
		}
		info, err := Scan(text, Options{})
		if err != nil {
			return
		}
		if !info.Escapes && !bytes.Equal(out, text) {
			t.Fatalf("%q has no escapes, and becomes %q", text, out)
		}
		if again := AppendUnescaped(nil, out); !bytes.Equal(again, out) {
			t.Fatalf("%q becomes %q, and %q", text, out, again)
		}
		if lower := strings.ToLower(string(out)); strings.Contains(strings.ReplaceAll(lower, `\\`, ""), `\ud`) {
			t.Fatalf("%q becomes %q", text, out)
		}
		var before, after any
		if json.Unmarshal(text, &before) != nil {
			return // a number that is out of range
		}
		if err := json.Unmarshal(out, &after); err != nil || !reflect.DeepEqual(before, after) {
			t.Fatalf("%q becomes %q: %v", text, out, err)
		}
	})
}

// TestScanEscapesCostsNothing checks that required escapes do not cause a response to be rewritten.
func TestScanEscapesCostsNothing(t *testing.T) {
	text := []byte(`{"a":"line\nline\t\"x\" \\ "}`)
	if info, err := Scan(text, Options{}); err != nil || info.Escapes || HasEscapes(text) {
		t.Errorf("%+v, %v, HasEscapes %t", info, err, HasEscapes(text))
	}
}

func BenchmarkHasEscapes(b *testing.B) {
	text := document(256 << 10)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		HasEscapes(text)
	}
}

func BenchmarkAppendUnescaped(b *testing.B) {
	text := []byte(`"` + strings.Repeat(`\u4f60`, 40_000) + `"`)
	out := make([]byte, 0, len(text))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		AppendUnescaped(out, text)
	}
}
