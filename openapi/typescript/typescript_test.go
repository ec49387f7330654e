package typescript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/openapi/jsonschema"
	"drawbridge/test/cases"
	"drawbridge/test/update"
)

// TestCases: each case has functions, one a line, and their signatures; with "declare", also the options and the text of declarations.
func TestCases(t *testing.T) {
	cases.Run(t, "testdata/*.txtar", func(t *testing.T, file string, a *txtar.Archive) {
		var functions []Function
		for i := range a.Files {
			f := &a.Files[i]
			var got string
			switch f.Name {
			case "functions":
				functions = read(t, f.Data)
				continue
			case "signatures":
				got = signatures(t, a.Files[0].Data)
			default:
				got = declared(t, functions, f.Name)
			}
			if *update.Expected {
				f.Data = []byte(got)
			} else if want := string(f.Data); got != want {
				t.Errorf("%s: got\n%s\nwant\n%s", f.Name, got, want)
			}
		}
		if *update.Expected {
			cases.Write(t, file, a)
		}
	})
}

// line is a function of a case.
type line struct {
	Name, Comment, Query string
	Input, Output        json.RawMessage
	Example              json.RawMessage
	Shared               []string
	Reads                bool
	Path                 string
	NullIsAbsent         bool
	Length               int
}

func lines(t *testing.T, text []byte) (all []line) {
	t.Helper()
	for raw := range strings.Lines(string(text)) {
		var l line
		if err := json.Unmarshal([]byte(raw), &l); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		all = append(all, l)
	}
	return all
}

func parse(text []byte) *jsonschema.Schema {
	if text == nil {
		return nil
	}
	return jsonschema.Parse(text)
}

func signatureOf(name string, input, output *jsonschema.Schema, o Options) string {
	answer := ""
	if output != nil {
		answer = Answer(output, 0)
	}
	return Signature(name, Arguments(input, o), answer)
}

func read(t *testing.T, text []byte) (all []Function) {
	for _, l := range lines(t, text) {
		all = append(all, Function{Name: l.Name, Comment: l.Comment, Input: parse(l.Input), Output: parse(l.Output)})
	}
	return all
}

func signatures(t *testing.T, text []byte) string {
	var b strings.Builder
	for _, l := range lines(t, text) {
		o := Options{Query: l.Query, Example: l.Example, Reads: l.Reads, Path: l.Path, NullIsAbsent: l.NullIsAbsent, Length: l.Length, Shared: func(name string) bool { return slices.Contains(l.Shared, name) }}
		b.WriteString(signatureOf(l.Name, parse(l.Input), parse(l.Output), o) + "\n")
	}
	return b.String()
}

// declared returns the declarations with the options of a title: "declare limit=400 answers types=A,B".
func declared(t *testing.T, functions []Function, title string) string {
	t.Helper()
	limit := 1 << 20
	o := DeclareOptions{Fits: func(text string) bool { return len(text) <= limit }}
	for _, word := range strings.Fields(title) {
		switch key, value, _ := strings.Cut(word, "="); key {
		case "declare":
		case "limit":
			if _, err := fmt.Sscan(value, &limit); err != nil {
				t.Fatal(err)
			}
		case "answers":
			o.Answers = true
		case "types":
			o.Types = strings.Split(value, ",")
		default:
			t.Fatalf("unknown option %q", word)
		}
	}
	d := Declare(functions, o)
	return fmt.Sprintf("%s\nleft %q shortened %v unknown %q known %q\n", d.Text, d.Left, d.Shortened, d.Unknown, d.Known)
}

// TestEveryArgumentIsNamed: however many arguments there are and whatever they hold, required ones are in the signature with a type, optional ones are
// named or counted, and the text is bounded.
func TestEveryArgumentIsNamed(t *testing.T) {
	types := []string{
		`{"type":"string"}`, `{"type":"object","required":["x"],"properties":{"x":{"type":"integer"},"y":{"$ref":"#/$defs/Node"}}}`, `{"$ref":"#/$defs/Node"}`,
		`{"anyOf":[{"$ref":"#/$defs/Node"},{"type":"null"}]}`, `{"enum":["a","b"]}`, `{"type":"array","items":{"$ref":"#/$defs/Node"}}`, `true`, `{}`,
	}
	for n := range 120 {
		var properties, required []string
		for i := range n {
			properties = append(properties, fmt.Sprintf(`"p%d":%s`, i, types[(i*7+n)%len(types)]))
			if (i+n)%3 == 0 {
				required = append(required, fmt.Sprintf(`"p%d"`, i))
			}
		}
		schema := fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s],"$defs":{"Node":{"type":"object","required":["next"],"properties":{"next":{"$ref":"#/$defs/Node"},"all":{"type":"array","items":{"$ref":"#/$defs/Node"}}}}}}`,
			strings.Join(properties, ","), strings.Join(required, ","))
		got := signatureOf("f", jsonschema.Parse([]byte(schema)), nil, Options{})
		for i := range n {
			name := fmt.Sprintf("p%d", i)
			named := strings.Contains(got, name+": ")
			if !slices.Contains(required, `"`+name+`"`) {
				named = strings.Contains(got, name+"?") || strings.Contains(got, "…+")
			}
			if !named {
				t.Fatalf("%s is not in %s", name, got)
			}
		}
		if len(got) > hardLength {
			t.Fatalf("%d bytes", len(got))
		}
	}
}

// TestHostileSchemas: schemas that are huge, deep, circular or wide end in short texts.
func TestHostileSchemas(t *testing.T) {
	repeat := func(n int, format string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = strings.ReplaceAll(format, "#N", fmt.Sprint(i))
		}
		return strings.Join(all, ",")
	}
	long := strings.Repeat("long", 5000)
	for name, schema := range map[string]string{
		"wide":      `{"type":"object","properties":{` + repeat(5000, `"p#N":{"type":"string"}`) + `},"required":[` + repeat(5000, `"p#N"`) + `]}`,
		"deep":      strings.Repeat(`{"type":"object","required":["a"],"properties":{"a":`, 500) + "{}" + strings.Repeat("}}", 500),
		"itself":    `{"type":"object","properties":{"a":{"$ref":"#"},"b":{"type":"array","items":{"$ref":"#"}}},"required":["a"]}`,
		"ring":      `{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"required":["a"],"$defs":{` + repeat(300, `"d#N":{"allOf":[{"$ref":"#/$defs/d0"},{"$ref":"#/$defs/d1"},{"$ref":"#/$defs/d#N"}],"required":["x#N"],"properties":{"x#N":{"$ref":"#/$defs/d#N"}}}`) + `}}`,
		"diamonds":  `{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"required":["a"],"$defs":{` + repeat(60, `"d#N":{"type":"object","required":["l","r"],"properties":{"l":{"$ref":"#/$defs/e#N"},"r":{"$ref":"#/$defs/e#N"}}},"e#N":{"$ref":"#/$defs/d#N"}`) + `}}`,
		"one union": `{"type":"object","properties":{"a":{"oneOf":[` + repeat(2000, `{"type":"object","required":["k#N"],"properties":{"k#N":{"const":#N}}}`) + `]}},"required":["a"]}`,
		"groups":    `{"type":"object","properties":{` + repeat(1500, `"p#N":{"type":"string"},"q#N":{"type":"string"}`) + `},"anyOf":[{"required":[` + repeat(1500, `"p#N"`) + `]},{"required":[` + repeat(1500, `"q#N"`) + `]}]}`,
		"long name": `{"type":"object","properties":{"a":{"type":"object","required":["` + long + `"],"properties":{"` + long + `":{}}},"` + long + `":{"type":"string"}},"required":["a"]}`,
		"long list": `{"type":"array","items":{"type":"object","required":["` + long + `"],"properties":{"` + long + `":{}}}}`,
		"long type": `{"type":"object","properties":{"a":{"$ref":"#/$defs/` + long + `"},"b":{"$ref":"#/$defs/` + long + `"}},"$defs":{"` + long + `":{"type":"object","properties":{"l":{"type":"string"},"r":{"enum":["one","two"]}}}}}`,
		"long enum": `{"type":"object","properties":{"a":{"enum":[` + repeat(5000, `"value #N"`) + `]}}}`,
	} {
		s := jsonschema.Parse([]byte(schema))
		if got := signatureOf("f", s, s, Options{Query: "a b x1 k7 p77"}); len(got) > 3*hardLength || !strings.HasPrefix(got, "f(") {
			t.Errorf("%s: a signature of %d bytes: %.200s", name, len(got), got)
		}
		d := Declare([]Function{{Name: "f", Input: s, Output: s}}, DeclareOptions{Answers: true, Fits: func(text string) bool { return len(text) <= 12_000 }})
		if len(d.Text) > 12_000 || !strings.Contains(d.Text, "declare function f(") {
			t.Errorf("%s: declarations of %d bytes: %.200s", name, len(d.Text), d.Text)
		}
	}
}
