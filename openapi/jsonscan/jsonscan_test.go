package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestScanErrors(t *testing.T) {
	deep := strings.Repeat("[", 5) + strings.Repeat("]", 5)
	for _, tt := range []struct {
		name, text string
		options    Options
		reason     Reason
		want       string
	}{
		{"empty", "", Options{}, Syntax, "json: unexpected end of the text, expected a value at byte 0"},
		{"blank", " \n", Options{}, Syntax, "json: unexpected end of the text, expected a value at byte 2"},
		{"two values", "1 2", Options{}, Syntax, `json: unexpected '2', expected the end of the text at byte 2`},
		{"word", "nul", Options{}, Syntax, "json: unexpected end of the text, expected null at byte 3"},
		{"leading zero", "01", Options{}, Syntax, `json: unexpected '1', expected the end of the text at byte 1`},
		{"bare minus", "-", Options{}, Syntax, "json: unexpected end of the text, expected a digit at byte 1"},
		{"no fraction", "1.", Options{}, Syntax, "json: unexpected end of the text, expected a digit at byte 2"},
		{"no exponent", "1e+", Options{}, Syntax, "json: unexpected end of the text, expected a digit at byte 3"},
		{"trailing comma", "[1,]", Options{}, Syntax, `json: unexpected ']', expected a value at byte 3`},
		{"trailing member comma", `{"a":1,}`, Options{}, Syntax, `json: unexpected '}', expected a member name at byte 7`},
		{"no colon", `{"a" 1}`, Options{}, Syntax, `json: unexpected '1', expected ":" at byte 5`},
		{"open string", `"abcdefghijkl`, Options{}, Syntax, "json: unexpected end of the text inside a string at byte 13"},
		{"open object", `{"a":1`, Options{}, Syntax, `json: unexpected end of the text, expected "," or "}" at byte 6`},
		{"open array", `[1`, Options{}, Syntax, `json: unexpected end of the text, expected "," or "]" at byte 2`},
		{"control", "\"a\tb\"", Options{}, Syntax, "json: control character 0x09 in a string at byte 2"},
		{"escape", `"\x"`, Options{}, Syntax, "json: invalid escape in a string at byte 1"},
		{"short escape", `"\u12"`, Options{}, Syntax, "json: invalid escape in a string at byte 1"},
		{"encoding", "\"12345678\xff\"", Options{}, Encoding, "json: invalid UTF-8 in a string at byte 9"},
		{"deep", deep, Options{MaxDepth: 4}, TooDeep, "json: nested more than 4 levels deep at byte 4"},
		{"duplicate", `{"a":{"b":1},"a":2}`, Options{Unique: true}, Duplicate, `json: member name "a" stands twice at byte 13`},
		{"duplicate by escape", `[{"ab":1,"\u0061b":2}]`, Options{Unique: true}, Duplicate, `json: member name "ab" stands twice at byte 9`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Scan([]byte(tt.text), tt.options)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("Scan(%q) = %v, want an error", tt.text, err)
			}
			if e.Reason != tt.reason || err.Error() != tt.want {
				t.Errorf("Scan(%q) = %d %q, want %d %q", tt.text, e.Reason, err, tt.reason, tt.want)
			}
		})
	}
}

func TestScanAccepts(t *testing.T) {
	many := &strings.Builder{}
	many.WriteString("{")
	for i := range 100 {
		fmt.Fprintf(many, `"m%d":%d,`, i, i)
	}
	many.WriteString(`"last":{"m0":1}}`)
	for text, want := range map[string]Info{
		`{"a":1,"A":2,"\u0061\u0061":3}`: {Kind: Object, Escapes: true},
		` [ ] `:                          {Kind: Array, Spaced: true},
		`"a b"`:                          {Kind: String},
		`{"a":[{"x":1},{"x":1}]}`:        {Kind: Object},
		many.String():                    {Kind: Object},
		`-0.0e-5`:                        {Kind: Number},
		`"\ud800"`:                       {Kind: String, Escapes: true},
	} {
		got, err := Scan([]byte(text), Options{Unique: true})
		if err != nil || got != want {
			t.Errorf("Scan(%q) = %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestShape(t *testing.T) {
	shape := &Shape{Kinds: Of(Object), Properties: []Property{
		{Name: "id", Shape: &Shape{Kinds: Of(Number, Null), Integer: true}},
		{Name: "name", Shape: &Shape{Kinds: Of(String)}},
		{Name: "tags", Shape: &Shape{Kinds: Of(Array), Items: &Shape{Kinds: Of(String)}}},
		{Name: "any", Shape: nil},
	}}
	shape.Compile()
	for _, tt := range []struct{ text, pointer, want string }{
		{`{"id":1,"name":"x","tags":["a"],"any":[1],"more":{}}`, "", ""},
		{`{"tags":[],"id":null}`, "", ""},
		{`{"id":1.0}`, "", ""},
		{`{"id":15e2}`, "", ""},
		{`{"id":1.5e1}`, "", ""},
		{`{"id":0e-9}`, "", ""},
		{`{"id":1.5}`, "/id", "number or null"},
		{`{"id":15e-2}`, "/id", "number or null"},
		{`{"name":"x","id":"1"}`, "/id", "number or null"},
		{`{"tags":["a",2,3]}`, "/tags/1", "string"},
		{`{"na\u006de":{"a":[1]}}`, "/name", "string"},
		{`[1]`, "", "object"},
	} {
		info, err := Scan([]byte(tt.text), Options{Shape: shape})
		if err != nil {
			t.Fatalf("Scan(%s): %v", tt.text, err)
		}
		switch {
		case tt.want == "" && info.Mismatch != nil:
			t.Errorf("Scan(%s): mismatch %+v, want none", tt.text, info.Mismatch)
		case tt.want != "" && info.Mismatch == nil:
			t.Errorf("Scan(%s): no mismatch, want %s", tt.text, tt.want)
		case tt.want != "":
			if p := PointerAt([]byte(tt.text), info.Mismatch.Offset); p != tt.pointer || info.Mismatch.Want.String() != tt.want {
				t.Errorf("Scan(%s): %q at %q, want %q at %q", tt.text, info.Mismatch.Want, p, tt.want, tt.pointer)
			}
		}
	}
}

// TestTwice checks that a duplicate name is found if the object has a shape, and only then.
func TestTwice(t *testing.T) {
	shape := &Shape{Properties: []Property{
		{Name: "a", Shape: &Shape{}}, {Name: "b", Shape: nil}, {Name: "c", Shape: &Shape{Items: &Shape{Properties: []Property{{Name: "a", Shape: &Shape{}}}}}}, {Name: "d", Shape: &Shape{}},
	}}
	wide := &Shape{}
	for i := range 300 {
		wide.Properties = append(wide.Properties, Property{Name: fmt.Sprintf("m%d", i), Shape: &Shape{}})
	}
	shape.Compile()
	wide.Compile()
	names := func(format string, from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, format+",", i)
		}
		return b.String()
	}
	for _, tt := range []struct {
		shape       *Shape
		text, value string // the second value; "" if no name is duplicate
	}{
		{shape, `{}`, ""},
		{shape, `{"a":1,"b":2,"c":[],"d":4}`, ""},
		{shape, `{"d":1,"c":[{"a":1},{"a":1}],"b":3,"a":4}`, ""},
		{shape, `{"a":1,"a":"two"}`, `"two"`},
		{shape, `{"a":1, "a" : [2] }`, `[2]`},
		{shape, `{"a":1,"b":2,"c":[],"d":4,"a":"two"}`, `"two"`},
		{shape, `{"b":2,"d":4,"d":"two"}`, `"two"`},
		{shape, `{"b":2,"d":4,"b":"two"}`, `"two"`},
		{shape, `{"d":1,"a":2,"b":3,"c":[],"d":"two"}`, `"two"`},
		{shape, `{"c":[],"a":1,"b":2,"c":["two"]}`, `["two"]`},
		{shape, `{"d":1,"a":2,"c":[],"d":"two"}`, `"two"`},
		{shape, `{"a":1,"x":2,"b":3,"\u0061":"two"}`, `"two"`},
		{shape, `{"\u0061":1,"a":"two"}`, `"two"`},
		{shape, `{"a":1,"A":2,"":3,"c":[{"a":1,"b":2,"a":"two"}]}`, `"two"`},
		{shape, `{"x":1,"y":2,"a":3,"x":"two"}`, `"two"`},
		{shape, `{"":1,"":"two"}`, `"two"`},
		{shape, `{"x":{"x":1},"y":{"x":1,"x":2}}`, ""}, // values without a shape are not compared
		{shape, `{"x":1,"c":[{"x":1},{"x":2}],"y":2,"y":"two"}`, `"two"`},
		{shape, `{"a":1,"a":"two","b":1,"b":"three"}`, `"two"`},
		{shape, `{` + names(`"x%d":1`, 0, 23) + `"x22":"two"}`, `"two"`},
		{shape, `{` + names(`"x%d":1`, 0, 24) + `"x23":"two"}`, ""}, // the limit
		{wide, `{` + names(`"m%d":1`, 0, 256) + `"m255":"two"}`, `"two"`},
		{wide, `{"m64":1,"m0":1,"m128":1,"m192":1,"m64":"two"}`, `"two"`},
		{wide, `{` + names(`"m%d":1`, 0, 300) + `"m0":"two"}`, `"two"`},
		{wide, `{` + names(`"m%d":1`, 0, 300) + `"m299":"two"}`, ""}, // the limit
		{nil, `{"a":1,"a":2}`, ""},
	} {
		info, err := Scan([]byte(tt.text), Options{Shape: tt.shape})
		if err != nil {
			t.Fatalf("Scan(%s): %v", tt.text, err)
		}
		if want := strings.Index(tt.text, tt.value); info.Twice != want {
			t.Errorf("Scan(%s).Twice = %d, want %d", tt.text, info.Twice, want)
		}
	}
	for _, text := range []string{`{"x":1,"a":2}`, `{"a":1,"x":2}`, `{"x":1,"c":[{"x":1}],"d":{"x":1}}`} {
		s := scanner{data: []byte(text), max: 9}
		if _, err := s.value(0, 0, shape); err != nil || len(s.names) != 0 {
			t.Errorf("%s: %v, %d names are kept", text, err, len(s.names))
		}
	}
}

func TestWalk(t *testing.T) {
	text := []byte(` { "a" : [ 1 , "x]\"" , {"b":null} ] , "\u00e9~/" : -1.5e3, "a":true } `)
	var names, values []string
	for n, v := range Members(text) {
		names, values = append(names, string(n)), append(values, string(v))
	}
	if diff := cmp.Diff([]string{"a", "é~/", "a"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`[ 1 , "x]\"" , {"b":null} ]`, "-1.5e3", "true"}, values); diff != "" {
		t.Error(diff)
	}
	var elements []string
	for v := range Elements(Lookup(text, "a")) {
		elements = append(elements, string(v))
	}
	if diff := cmp.Diff([]string{"1", `"x]\""`, `{"b":null}`}, elements); diff != "" {
		t.Error(diff)
	}
	if got := PointerAt(text, bytes.Index(text, []byte("-1.5"))); got != "/é~0~1" {
		t.Errorf("PointerAt = %q", got)
	}
	if got := PointerAt(text, bytes.Index(text, []byte("null"))); got != "/a/2/b" {
		t.Errorf("PointerAt = %q", got)
	}
	if Lookup(text, "none") != nil || KindOf(nil) != 0 || KindOf([]byte(" t")) != Bool {
		t.Error("Lookup or KindOf of nothing")
	}
}

// randomText makes text in which plain runs, escapes and multi-byte characters meet at every offset.
func randomText(r *rand.Rand, n int) []byte {
	parts := []string{`"`, `\`, "\n", "\x00", "\x1f", "é", "€", "😀", "plain text ", "x", "\u2028", "/"}
	var b []byte
	for len(b) < n {
		b = append(b, parts[r.IntN(len(parts))]...)
	}
	return b
}

func TestEscapedTextRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 2000 {
		text := randomText(r, n%300)
		if n%100 == 0 {
			text = randomText(r, 20_000)
		}
		if n%7 == 0 {
			text = bytes.Repeat([]byte{byte(n % 32)}, n)
		}
		quoted := AppendString([]byte("x"), text)[1:]
		var want string
		if err := json.Unmarshal(quoted, &want); err != nil || want != string(text) {
			t.Fatalf("AppendString(%q) = %s: %v", text, quoted, err)
		}
		if got := Unquote(quoted); !bytes.Equal(got, text) {
			t.Fatalf("Unquote(%s) = %q, want %q", quoted, got, text)
		}
	}
	if got := string(AppendString(nil, "a\xffb")); got != "\"a\uFFFDb\"" {
		t.Errorf("AppendString of broken UTF-8 = %q", got)
	}
}

func TestUnquoteSurrogates(t *testing.T) {
	for in, want := range map[string]string{
		`"\ud83d\ude00"`: "😀", `"\ud83d"`: "\uFFFD", `"\ud83dx"`: "\uFFFDx", `"\ud8000udC00"`: "\uFFFD0udC00", `"\ude00\ud83d"`: "\uFFFD\uFFFD",
		`"\/\b\f\r"`: "/\b\f\r", `""`: "",
	} {
		if got := string(Unquote([]byte(in))); got != want {
			t.Errorf("Unquote(%s) = %q, want %q", in, got, want)
		}
	}
}

// standard decodes with the standard library, as the reference of the fuzz targets.
func standard(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one value")
	}
	return v, nil
}

func rebuild(value []byte) any {
	switch KindOf(value) {
	case Object:
		m := map[string]any{}
		for n, v := range Members(value) {
			m[string(n)] = rebuild(v)
		}
		return m
	case Array:
		a := []any{}
		for v := range Elements(value) {
			a = append(a, rebuild(v))
		}
		return a
	case String:
		return string(Unquote(value))
	case Number:
		return json.Number(value)
	case Bool:
		return value[0] == 't'
	}
	return nil
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.5e3,-0,true,false,null,"\u00e9\ud83d\ude00 \" \\"],"b":{}}`, "[[[[]]]]", "\"\xff\"", `{"a":1,"a":2}`,
		" \t\r\n1 ", `"`, `{"":""}`, "[1,", "1e", "nulll", "\u2028",
	} {
		f.Add([]byte(s))
	}
	// A shape must never decide whether a text is JSON; it affects only Mismatch.
	shape := &Shape{Properties: []Property{{Name: "a", Shape: &Shape{Kinds: Of(Array), Items: &Shape{Kinds: Of(Null)}}}, {Name: ""}, {Name: "b"}}}
	shape.Compile()
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := Scan(data, Options{MaxDepth: 5000})
		if _, shaped := Scan(data, Options{MaxDepth: 5000, Shape: shape}); (shaped == nil) != (err == nil) {
			t.Fatalf("Scan(%q) = %v, with a shape %v", data, err, shaped)
		}
		want, wantErr := standard(data)
		if err == nil != (wantErr == nil && utf8.Valid(data)) {
			t.Fatalf("Scan(%q) = %v, encoding/json says %v", data, err, wantErr)
		}
		if err != nil {
			return
		}
		trimmed := bytes.TrimSpace(data)
		if diff := cmp.Diff(want, rebuild(trimmed)); diff != "" {
			t.Fatalf("walking %q: %s", data, diff)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, data); err != nil {
			t.Fatal(err)
		}
		if got := AppendCompact(nil, data); !bytes.Equal(got, compact.Bytes()) {
			t.Fatalf("AppendCompact(%q) = %q, want %q", data, got, compact.Bytes())
		}
		if info.Spaced != (compact.Len() != len(data)) {
			t.Fatalf("Scan(%q).Spaced = %v", data, info.Spaced)
		}
		if _, err := Scan(data, Options{MaxDepth: 5000, Unique: true}); err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Reason != Duplicate {
				t.Fatalf("Scan(%q, Unique) = %v", data, err)
			}
			PointerAt(data, e.Offset)
		} else if shaped, _ := Scan(data, Options{MaxDepth: 5000, Shape: shape}); shaped.Twice != 0 {
			t.Fatalf("Scan(%q).Twice = %d, but no name stands twice", data, shaped.Twice)
		}
	})
}

// document returns JSON as a legacy service sends it: short members, some text.
func document(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"items":[`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"sku":"ROPE-%04d","name":"Mooring rope, %d mm","description":"Three-strand polyester, sold by the metre; cut to length.",`+
			`"price":%d.50,"created_at":"2026-03-01T09:%02d:00Z","tags":["deck","rope"],"gone":null,"note":"left at the \"back\" door"}`, i, i%9973, i%40, i%211, i%60)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

func BenchmarkScan(b *testing.B) {
	shape := &Shape{Kinds: Of(Object), Properties: []Property{{Name: "items", Shape: &Shape{Kinds: Of(Array), Items: &Shape{
		Kinds: Of(Object), Properties: []Property{
			{Name: "id", Shape: &Shape{Kinds: Of(Number), Integer: true}}, {Name: "sku", Shape: &Shape{Kinds: Of(String)}}, {Name: "name", Shape: &Shape{Kinds: Of(String)}},
			{Name: "description", Shape: &Shape{Kinds: Of(String)}}, {Name: "price", Shape: &Shape{Kinds: Of(Number)}}, {Name: "created_at", Shape: &Shape{Kinds: Of(String)}},
			{Name: "tags", Shape: &Shape{Kinds: Of(Array), Items: &Shape{Kinds: Of(String)}}}, {Name: "gone", Shape: &Shape{}}, {Name: "note", Shape: &Shape{Kinds: Of(String, Null)}},
		}}}}}}
	// A shape with the records, but none of their members.
	bare := &Shape{Kinds: Of(Object), Properties: []Property{{Name: "items", Shape: &Shape{Kinds: Of(Array), Items: &Shape{Kinds: Of(Object)}}}}}
	shape.Compile()
	bare.Compile()
	data := document(256 << 10)
	for name, o := range map[string]Options{"plain": {}, "shape": {Shape: shape}, "unknown names": {Shape: bare}, "unique": {Unique: true}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Scan(data, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendEscaped(b *testing.B) {
	data := document(256 << 10)
	dst := make([]byte, 0, 2*len(data))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendEscaped(dst[:0], data)
	}
}
