package drift

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/test/cases"
)

// TestInSchema makes the patterns of pointers: lines with pointer, pattern and type.
func TestInSchema(t *testing.T) {
	cases.Run(t, "testdata/*.txtar", func(t *testing.T, _ string, a *txtar.Archive) {
		s := jsonschema.Parse(a.Files[0].Data)
		for line := range strings.Lines(string(a.Files[1].Data)) {
			pointer, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " => ")
			pattern, at := InSchema(s, pointer)
			kind := "none"
			if word := strings.Trim(string(at.Value("type")), `"`); word != "" {
				kind = strings.Trim(strings.Split(word, ",")[0], `["]`)
			} else if at != nil {
				for part := range at.Applied() {
					if word := part.Value("type"); word != nil {
						kind = strings.Trim(strings.Split(string(word), ",")[0], `["]`)
					}
				}
			}
			if got := strings.TrimSpace(pattern + " " + kind); got != want {
				t.Errorf("%q becomes %q, want %q", pointer, got, want)
			}
		}
	})
}

// words are the names and indexes that pointers of the property tests are made of. The first half is declared.
var words = []string{"a", "b~", "c/d", "e", "0", "17", "secret", "x~1y", "", "-"}

// shape returns a random shape whose properties have declared names, and the schema of the same values.
func shape(r *rand.Rand, depth int) (*jsonscan.Shape, string) {
	if depth == 0 {
		return &jsonscan.Shape{Kinds: jsonscan.Of(jsonscan.String)}, `{"type":"string"}`
	}
	if r.IntN(3) == 0 {
		items, text := shape(r, depth-1)
		return &jsonscan.Shape{Items: items}, `{"type":"array","items":` + text + `}`
	}
	s, members := &jsonscan.Shape{}, []string(nil)
	for _, name := range words[:4] {
		if r.IntN(2) == 0 {
			below, text := shape(r, depth-1)
			s.Properties = append(s.Properties, jsonscan.Property{Name: name, Shape: below})
			members = append(members, string(jsonscan.AppendString(nil, name))+":"+text)
		}
	}
	return s, `{"type":"object","properties":{` + strings.Join(members, ",") + `}}`
}

// TestPatternsDisclose checks that a pattern has the depth of its pointer and names nothing that is not declared, that it is its own
// pattern, and that a schema and a shape of the same values give the same one.
func TestPatternsDisclose(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 3000 {
		s, text := shape(r, 4)
		schema := jsonschema.Parse([]byte(text))
		pointer := ""
		for range r.IntN(6) {
			pointer += jsonscan.PointerTo(words[r.IntN(len(words))])
		}
		pattern, at := InSchema(schema, pointer)
		tokens := jsonscan.Tokens(pattern)
		if len(tokens) != len(jsonscan.Tokens(pointer)) {
			t.Fatalf("%q has the pattern %q", pointer, pattern)
		}
		for _, token := range tokens {
			if token != Any && !slices.Contains(words[:4], token) {
				t.Fatalf("%q has the pattern %q in %s", pointer, pattern, text)
			}
		}
		if again, there := InSchema(schema, pattern); again != pattern || there != at {
			t.Fatalf("%q has the pattern %q, which has %q", pointer, pattern, again)
		}
		if other, _ := InShape(s, pointer); other != pattern {
			t.Fatalf("%q has the patterns %q by a schema and %q by a shape: %s", pointer, pattern, other, text)
		}
	}
}

// TestPatternIsBounded checks that a pattern is not as long as a pointer may be.
func TestPatternIsBounded(t *testing.T) {
	for _, token := range []string{"x", "é", "~"} {
		if pattern, _ := InShape(nil, strings.Repeat(jsonscan.PointerTo(token), 1000)); len(pattern) > maxPointer+len("…") {
			t.Errorf("%d bytes", len(pattern))
		}
	}
}

// TestKinds checks that each kind has a text of its own, and that those of answers are known as such.
func TestKinds(t *testing.T) {
	texts := map[string]Kind{}
	for _, k := range Kinds() {
		text := Difference{Kind: k, Declared: "string", Got: "object"}.String()
		if other, taken := texts[text]; taken || text == string(k) {
			t.Errorf("%s: %q, as %s", k, text, other)
		}
		texts[text] = k
		if k.OfAnswer() != (strings.Contains(text, "answer") || strings.HasPrefix(text, "status") || strings.HasPrefix(text, "media type")) {
			t.Errorf("%s: %q", k, text)
		}
	}
}

// TestType names the types of schemas.
func TestType(t *testing.T) {
	for _, c := range []struct {
		kinds   jsonscan.Kinds
		integer bool
		want    string
	}{
		{jsonscan.Of(jsonscan.Null), false, "null"},
		{jsonscan.Of(jsonscan.String) | jsonscan.Of(jsonscan.Null), false, "string"},
		{jsonscan.Of(jsonscan.Number), true, "integer"},
		{jsonscan.Of(jsonscan.Number), false, "number"},
	} {
		if got := Type(c.kinds, c.integer); got != c.want {
			t.Errorf("%v, %t: %q, want %q", c.kinds, c.integer, got, c.want)
		}
	}
}
