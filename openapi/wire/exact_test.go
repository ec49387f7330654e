package wire

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExact checks single values byte for byte, at the limits of a rule and where two rules meet.
func TestExact(t *testing.T) {
	for _, c := range []struct {
		p          Parameter
		dst, value string
		want       string
	}{
		{Parameter{Name: "a", In: Query, ContentType: "application/json", Explode: true, AllowReserved: true}, "", `"b/c"`, "a=%22b%2Fc%22"},
		{Parameter{Name: "a", In: Query, ContentType: "Application/JSON ; charset=utf-8"}, "", `"b"`, "a=%22b%22"},
		{Parameter{Name: "a", In: Query, ContentType: "text/json"}, "", `"b"`, "a=%22b%22"},
		{Parameter{Name: "a^b", In: Cookie, Style: CookieStyle, Explode: true}, "", `"v"`, "a^b=v"},
		{Parameter{Name: "a", In: Path, ContentType: "application/json"}, "", `null`, "null"},
		{Parameter{Name: "a", In: Path, AllowEmptyValue: true}, "", `null`, "✗ must not be empty: it is a part of the path"},
		{Parameter{Name: "a", In: Path, AllowEmptyValue: true}, "", `""`, ""},
		{Parameter{Name: "a", In: Path}, "", `null`, "✗ must not be empty: it is a part of the path"},
		{Parameter{Name: "a", In: Query, Style: Form, AllowReserved: true}, "", `"%9A%FF%aF%39"`, "a=%9A%FF%aF%39"},
		{Parameter{Name: "a", In: Query, Style: Form, AllowReserved: true}, "", `"%4:%4G%4g%4/"`, "a=%254:%254G%254g%254/"},
		{Parameter{Name: "a", In: Query, Style: Form, Explode: true}, "", ` 5 `, "a=5"},
		{Parameter{Name: "a", In: Query, Style: Form, Explode: true}, "", `0e1234`, "a=0"},
		{Parameter{Name: "a", In: Query, Style: Form, Explode: true}, "", `[" a"]`, "a=%20a"},
		{Parameter{Name: "a", In: Query, Style: Form, Explode: true}, "", `{"k":[{"x":1}],"l":[[1]],"m":[1,null],"n":[1,2]}`, "k=%5B%7B%22x%22%3A1%7D%5D&l=%5B%5B1%5D%5D&m=%5B1%2Cnull%5D&n=1&n=2"},
		{Parameter{Name: "a", In: Query, Style: Form, Explode: true}, "", `{"b=c":1}`, "b%3Dc=1"},
		{Parameter{Name: "a", In: Query, Style: Form, AllowEmptyValue: true}, "b=1", `null`, "b=1&a="},
		{Parameter{Name: "a", In: Header}, "", `{"b=c":1}`, "b=c,1"},
		{Parameter{Name: "a", In: Header, ContentType: "application/json"}, "", "\"\u0080\u007f~\"", `"\u0080\u007f~"`},
		{Parameter{Name: "a", In: Header}, "", `["","b"]`, ",b"},
		{Parameter{Name: "a", In: Header, Explode: true}, "", `{"=b":1}`, `✗ must not have a member "=b": its name would end at "=", which can't be escaped in a header`},
		{Parameter{Name: "a", In: Header, Nested: []byte(",")}, "", `[[",b"]]`, "✗ must not have a member that contains ',': members are sent with it between them, and it can't be escaped"},
		{Parameter{Name: "a", In: Header, Nested: []byte(",")}, "", `[["a\u0001"]]`, "✗ must not contain control characters or line breaks: it is sent as a header"},
		{Parameter{Name: "a", In: Query, Style: Form, Nested: []byte("|")}, "", `[["|b"]]`, "✗ must not have a member that contains '|': members are sent with it between them, and it can't be escaped"},
		{Parameter{Name: "a", In: Query, Style: PipeDelimited}, "", `["|b"]`, "✗ must not have a member that contains '|': members are sent with it between them, and it can't be escaped"},
		{Parameter{Name: "a", In: Query, ContentType: "application/x-www-form-urlencoded"}, "", `5`, "✗ must be an object: it is sent as application/x-www-form-urlencoded"},
		{Parameter{Name: "a", In: Query, ContentType: "application/x-www-form-urlencoded"}, "", `{"":1}`, "✗ must not have a member without a name"},
		{Parameter{Name: "q", In: QueryString, ContentType: "application/x-www-form-urlencoded"}, "b=1", `{"a":1}`, "b=1&a=1"},
		{Parameter{Name: "q", In: QueryString, ContentType: "application/x-www-form-urlencoded"}, "b=1", `{}`, "b=1"},
		{Parameter{Name: "a", In: Query, Style: Form, Nested: []byte(",")}, "", `[["b,c","d"]]`, "a=b%2Cc,d"},
		{Parameter{Name: "a", In: Header, Nested: []byte(",")}, "", `[["b,c"]]`, "✗ must not have a member that contains ',': members are sent with it between them, and it can't be escaped"},
		{Parameter{Name: "a", In: Query, Style: Form, Nested: []byte(" |")}, "", `[[["b c","d"],["e"]]]`, "a=b%20c%7Cd%20e"},
	} {
		e, err := NewEncoder(c.p)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		switch c.p.In {
		case Path:
			var out []byte
			out, err = e.AppendPath([]byte(c.dst), []byte(c.value))
			got = string(out)
		case Header:
			got, err = e.HeaderValue([]byte(c.value))
		default:
			var out []byte
			out, err = e.append([]byte(c.dst), []byte(c.value))
			got = string(out)
		}
		if err != nil {
			got = "✗ " + err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %s: %s, want %s", c.p, c.value, got, c.want)
		}
	}
}

// TestSegmentErrors checks that a segment error names the variables of the segment that several values cause together
// with the text between them.
func TestSegmentErrors(t *testing.T) {
	for _, c := range []struct {
		template  string
		values    []string
		want      string
		variables []int
	}{
		{"/a/{x}{y}", []string{"%2", "e"}, `must not contain the path segment ".", percent-encoded or not`, []int{0, 1}},
		{"/a/{x}{y}", []string{"%0", "1"}, "must not contain control characters: it is a part of the path", []int{0, 1}},
		{"/{v}/{x}2{y}/b/{z}", []string{"v", "%", "e", "z"}, `must not contain the path segment ".", percent-encoded or not`, []int{1, 2}},
		{"/{x}{y}/b/{z}", []string{"%2", "e", "z"}, `must not contain the path segment ".", percent-encoded or not`, []int{0, 1}},
		{"/{x}/b/{y}{z}", []string{"%2", "%2", "e"}, `must not contain the path segment ".", percent-encoded or not`, []int{1, 2}},
		{"/{x}/e", []string{"%2"}, "", nil},
		{"/x{x}/{y}", []string{"%2", "e"}, "", nil},
	} {
		template, err := ParseTemplate(c.template)
		if err != nil {
			t.Fatal(err)
		}
		_, err = template.Append([]byte("https://h/.."), func(i int, dst []byte) ([]byte, error) {
			return appendSegment(dst, []byte(c.values[i]), unreserved, 0, SlashRefused)
		})
		var e *SegmentError
		switch {
		case err == nil && c.want == "":
		case !errors.As(err, new(*ValueError)):
			t.Errorf("%s: the error is a %T", c.template, err)
		case !errors.As(err, &e) || e.Error() != c.want || !slices.Equal(e.Variables, c.variables):
			t.Errorf("%s with %q: %v, want %s for %v", c.template, c.values, err, c.want, c.variables)
		}
	}
}

// TestTemplateNames checks that a variable that occurs twice is listed once, and that a literal may contain characters
// that a value may not.
func TestTemplateNames(t *testing.T) {
	template, err := ParseTemplate("/{a}/{b}/{a}/x%01")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, template.Names()); diff != "" {
		t.Error(diff)
	}
	if out, err := template.Append(nil, func(i int, dst []byte) ([]byte, error) { return append(dst, 'v'), nil }); err != nil || string(out) != "/v/v/v/x%01" {
		t.Errorf("%s, %v", out, err)
	}
	for _, bad := range []string{"/a?x={}", "/a?x={n}y", "/a?x={n"} {
		if _, err := ParseTemplate(bad); err == nil {
			t.Errorf("%s is taken for a template", bad)
		}
	}
}

// TestOverlong checks which bytes are overlong forms of UTF-8.
func TestOverlong(t *testing.T) {
	for text, want := range map[string]bool{
		"\xc0": false, "\xc0\xae": true, "\xc1\xbf": true, "\xc0A": false, "\xc2\xa0": false, "\xe0\x9f\xbf": true, "\xe0\xa0\x80": false, "\xf0\x8f\xbf\xbf": true,
		"\xf0\x90\x80\x80": false, "": false,
	} {
		if got := overlong([]byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestFormMembers checks which names of members collide with others, and the position of the fault.
func TestFormMembers(t *testing.T) {
	if _, err := NewFormEncoder(nil, Parameter{Style: Matrix}); err == nil {
		t.Error("a style that forms don't have is taken")
	}
	f, err := NewFormEncoder(map[string]Parameter{"deep": {Style: DeepObject}, "a/b~c": {Style: SpaceDelimited}}, Parameter{Style: ByType})
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		`{"a[b]":1}`:          "a%5Bb%5D=1",
		`{"[b]":1}`:           "%5Bb%5D=1",
		`{"deep[b]":1}`:       `✗ must not have a member "deep[b]": it would be a part of "deep"`,
		`{"a/b~c":["d e",1]}`: "✗ /a~1b~0c: must not have a member that contains ' ': members are sent with it between them, and it can't be escaped",
	} {
		out, err := f.Append(nil, jsonMembers([]byte(value)))
		got := string(out)
		if err != nil {
			got = "✗ " + err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
}

// TestRepetition checks the exact limit of counted bytes.
func TestRepetition(t *testing.T) {
	var r repetition
	if err := r.add(maxRepeated); err != nil {
		t.Error(err)
	}
	if err := r.add(1); err == nil {
		t.Error("one byte too many is not refused")
	}
}

// TestCharges checks how many bytes are counted of text that is repeated for each member: all text from the document,
// or from one long name (R8).
func TestCharges(t *testing.T) {
	part := func(p Part, v string) func(repetition) error {
		return func(spent repetition) error {
			w := multipartWriter{e: &MultipartEncoder{named: true}, boundary: "B", repeated: spent}
			return w.value(&p, "a", []byte(v))
		}
	}
	parameter := func(p Parameter, v string) func(repetition) error {
		return func(spent repetition) error {
			p.Name, p.In = "a", Query
			e, err := NewEncoder(p)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = e.appendCounted(nil, []byte(v), spent)
			return err
		}
	}
	element := func(n *XMLNode, v string) func(repetition) error {
		return func(spent repetition) error {
			w := xmlWriter{repeated: spent}
			return w.node(n, n.Name, []byte(v))
		}
	}
	for name, c := range map[string]struct {
		bytes  int
		encode func(repetition) error
	}{
		"a part":              {len("B" + "a"), part(Part{}, `"x"`)},
		"a file":              {len("B" + "a" + "file" + "text/plain; charset=utf-8"), part(Part{File: true}, `{"filename":"file","text":"x"}`)},
		"a type":              {len("B" + "a" + "text/csv"), part(Part{Types: []string{"text/csv"}}, `"x"`)},
		"JSON":                {len("B" + "a" + "application/json"), part(Part{}, `{"k":1}`)},
		"headers":             {len("B" + "a" + "X" + "yz" + "Y" + "z"), part(Part{Headers: []PartHeader{{"X", "yz"}, {"Y", "z"}}}, `"x"`)},
		"a list of parts":     {2 * len("B"+"a"), part(Part{}, `["x","y"]`)},
		"deep part":           {len("a"+"k") + len("B"+"a[k]"), part(Part{Styled: true, Style: DeepObject}, `{"k":1}`)},
		"deep list of parts":  {len("a") + len("B"+"a[0]"), part(Part{Styled: true, Style: DeepObject}, `["x"]`)},
		"deeper parts":        {len("a"+"k") + len("a[k]") + len("B"+"a[k][0]"), part(Part{Styled: true, Style: DeepObject}, `{"k":["x"]}`)},
		"deeper members":      {len("a") + len("a[0]"+"k") + len("B"+"a[0][k]"), part(Part{Styled: true, Style: DeepObject}, `[{"k":1}]`)},
		"exploded parts":      {2 * len("B"+"a"), part(Part{Styled: true, Style: Form, Explode: true}, `["x","y"]`)},
		"exploded members":    {len("B" + "key"), part(Part{Styled: true, Style: Form, Explode: true}, `{"key":1}`)},
		"a joined part":       {len("B" + "a"), part(Part{Styled: true, Style: Form}, `["x","y"]`)},
		"a styled text":       {len("B" + "a"), part(Part{Styled: true, Style: Form}, `"x"`)},
		"deep parameter":      {len("a" + "key"), parameter(Parameter{Style: DeepObject}, `{"key":1}`)},
		"deep list":           {len("a"), parameter(Parameter{Style: DeepObject}, `["x"]`)},
		"deeper list":         {len("a"+"k") + len("a%5Bk%5D"), parameter(Parameter{Style: DeepObject}, `{"k":["x"]}`)},
		"deeper object":       {len("a") + len("a%5B0%5D"+"k"), parameter(Parameter{Style: DeepObject}, `[{"k":1}]`)},
		"exploded list":       {2, parameter(Parameter{Style: Form, Explode: true}, `["x","y"]`)},
		"exploded object":     {2 * len("key"), parameter(Parameter{Style: Form, Explode: true}, `{"key":["x","y"]}`)},
		"an element":          {2*len("p:abc") + len("urn"), element(&XMLNode{Name: "abc", Prefix: "p", Namespace: "urn"}, `"x"`)},
		"an element below it": {2*len("abc") + 2*len("de"), element(&XMLNode{Name: "abc"}, `{"de":1}`)},
		"an attribute": {2*len("r") + len("p:a") + len("urn"), element(&XMLNode{Name: "r", Members: map[string]*XMLNode{
			"a": {Name: "a", Kind: XMLAttribute, Prefix: "p", Namespace: "urn"},
		}}, `{"a":1}`)},
	} {
		if err := c.encode(repetition(maxRepeated - c.bytes)); err != nil {
			t.Errorf("%s of %d bytes: %v", name, c.bytes, err)
		}
		if err := c.encode(repetition(maxRepeated - c.bytes + 1)); err == nil || !strings.HasSuffix(err.Error(), "has too many members with too long names to be sent") {
			t.Errorf("%s of one byte more than %d: %v", name, c.bytes-1, err)
		}
	}
}
