package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"drawbridge/openapi/jsonscan"
)

// generator makes random schemas and values that have a chance to fit them.
type generator struct{ *rand.Rand }

func (g generator) pick(options ...string) string { return options[g.IntN(len(options))] }

// schema returns an OpenAPI 3.1 schema that refers to the schemas A to D.
func (g generator) schema(depth int) string {
	if depth <= 0 {
		return g.pick(`{"type":"string"}`, `{"type":"integer"}`, `{"type":["number","null"]}`, `{}`, `{"type":"boolean","nullable":true}`,
			`{"enum":["a","b",1]}`, `{"const":null}`, `{"type":"string","minLength":1,"maxLength":2}`, `{"type":"integer","minimum":1,"exclusiveMaximum":3}`,
			`{"type":"string","pattern":"^a"}`, `{"type":"integer","format":"int32"}`, `{"multipleOf":2}`, `true`)
	}
	sub := func() string { return g.schema(depth - 1 - g.IntN(2)) }
	ref := func() string { return fmt.Sprintf(`{"$ref":"#/components/schemas/%s"}`, g.pick("A", "B", "C", "D")) }
	list := func() string {
		items := []string{sub(), sub()}
		if g.IntN(2) == 0 {
			items = append(items, ref())
		}
		return strings.Join(items, ",")
	}
	switch g.IntN(12) {
	case 0, 1, 2, 3:
		s := fmt.Sprintf(`{"type":"object","properties":{"a":%s,"b":%s,"c":%s}`, sub(), sub(), ref())
		s += g.pick("", "", `,"required":["a"]`, `,"required":["b","c"]`)
		s += g.pick("", "", `,"additionalProperties":false`, `,"additionalProperties":{"type":"integer"}`, `,"minProperties":2`, `,"nullable":true`)
		return s + g.pick("", "", fmt.Sprintf(`,"allOf":[%s]`, list())) + "}"
	case 4, 5:
		return fmt.Sprintf(`{"type":"array","items":%s%s}`, sub(), g.pick("", `,"minItems":1`, `,"uniqueItems":true`, `,"maxItems":1`))
	case 6:
		return fmt.Sprintf(`{"allOf":[%s]}`, list())
	case 7:
		return fmt.Sprintf(`{"oneOf":[%s]%s}`, list(), g.pick("", `,"nullable":true`))
	case 8:
		return fmt.Sprintf(`{"type":"object","anyOf":[%s],"properties":{"b":%s}}`, list(), sub())
	case 9:
		return g.pick(fmt.Sprintf(`{"not":%s}`, sub()), fmt.Sprintf(`{"if":%s,"then":%s,"else":%s}`, sub(), sub(), sub()),
			fmt.Sprintf(`{"type":"array","prefixItems":[%s],"items":%s}`, sub(), sub()), `{"propertyNames":{"maxLength":1}}`)
	default:
		return ref()
	}
}

func (g generator) value(depth int) string {
	if depth <= 0 || g.IntN(3) == 0 {
		return g.pick("null", "true", `"a"`, `"b"`, `"abc"`, `""`, "1", "2", "1.5", "1.0", "-0", "1e2", "5000000000", "0.5e1")
	}
	if g.IntN(3) == 0 {
		items := make([]string, g.IntN(3))
		for i := range items {
			items[i] = g.value(depth - 1)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	var members []string
	for _, name := range []string{"a", "b", "c", "dd"} {
		if g.IntN(2) == 0 {
			members = append(members, fmt.Sprintf("%q:%s", name, g.value(depth-1)))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (g generator) document(version string) string {
	var defs []string
	for _, name := range []string{"A", "B", "C", "D", "Case"} {
		defs = append(defs, fmt.Sprintf("%q:%s", name, g.schema(3)))
	}
	return fmt.Sprintf(`{"openapi":%q,"info":{"title":"t","version":"1"},"paths":{},"components":{"schemas":{%s}}}`, version, strings.Join(defs, ","))
}

// library is the second opinion: the JSON Schema library as it comes, with our patterns and formats.
func library(t testing.TB, schema []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine((&Validator{matched: math.MaxInt}).compilePattern)
	for _, f := range []string{"date", "date-time", "time", "duration", "uuid", "email", "uri", "ipv4", "ipv6", "hostname", "regex", "uri-reference",
		"json-pointer", "relative-json-pointer", "period", "iri", "iri-reference", "uri-template", "semver"} {
		c.RegisterFormat(&jsonschema.Format{Name: f, Validate: func(any) error { return nil }})
	}
	registerFormats(c)
	if err := c.AddResource("schema:///plain", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema:///plain")
	if err != nil {
		t.Fatalf("%v\n%s", err, schema)
	}
	return s
}

// TestQuickValidateAgrees: the quick check and the validator as a whole find valid what the library finds valid, and only that.
func TestQuickValidateAgrees(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(1, 2))}
	var verdicts [3]int
	for range rounds(500) {
		text := g.document([]string{"3.0.3", "3.1.0"}[g.IntN(2)])
		c, n := document(t, text, Limits{}, nil)
		schema, err := c.Object([]Property{{Name: "a", Schema: n, Required: true}})
		if err != nil {
			t.Fatal(err)
		}
		v, err := Compile(schema)
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, text, schema)
		}
		plain := library(t, schema)
		for range 10 {
			line := fmt.Sprintf(`{"a":%s}`, g.value(4))
			value := decoded(t, []byte(line))
			want := plain.Validate(value)
			q := &quickValidator{steps: maxSteps}
			verdict := q.validate(v.program, value)
			verdicts[verdict]++
			if verdict == valid && want != nil || verdict == invalid && want == nil {
				t.Fatalf("quick check says %d, the library %v\nschema %s\nvalue %s", verdict, want, schema, line)
			}
			faults := v.Validate(value)
			if (len(faults) == 0) != (want == nil) {
				t.Fatalf("faults %v, the library says %v\nschema %s\nvalue %s", faults, want, schema, line)
			}
			for _, f := range faults {
				if f.Message == "" || strings.Contains(f.Message, "%!") {
					t.Fatalf("fault %+v\nschema %s\nvalue %s", f, schema, line)
				}
			}
		}
	}
	t.Logf("invalid, unsure, valid: %v", verdicts)
	if verdicts[valid] < rounds(300) || verdicts[unsure] > verdicts[valid] {
		t.Errorf("the quick check is of little use: invalid, unsure, valid: %v", verdicts)
	}
}

// TestShapeAgrees: a streaming pass with Output.Shape accepts exactly what Output.Schema accepts of the wrapped answer,
// and an answer that the document's own schema accepts is accepted.
func TestShapeAgrees(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(3, 4))}
	outputs, fits, documented := 0, 0, 0
	for range rounds(800) {
		text := g.document("3.1.0")
		c, n := document(t, text, Limits{}, nil)
		out := c.Output(n)
		if out == nil {
			continue
		}
		outputs++
		plain := library(t, out.Schema)
		input, err := c.Object([]Property{{Name: "a", Schema: n}})
		if err != nil {
			t.Fatal(err)
		}
		strict := library(t, input)
		for range 10 {
			line := []byte(g.value(4))
			info, err := jsonscan.Scan(line, jsonscan.Options{Shape: out.Shape})
			if err != nil {
				t.Fatal(err)
			}
			value := decoded(t, line)
			wrapped := value
			if out.Wrapped {
				wrapped = map[string]any{"result": value}
			}
			want := plain.Validate(wrapped)
			if (info.Mismatch == nil) != (want == nil) {
				t.Fatalf("mismatch %+v, the library says %v\nschema %s\nvalue %s", info.Mismatch, want, out.Schema, line)
			}
			if want == nil {
				fits++
			}
			if strict.Validate(map[string]any{"a": value}) == nil {
				documented++
				if want != nil {
					t.Fatalf("an answer that keeps to the document is refused: %v\ndocument %s\nschema %s\nvalue %s", want, text, out.Schema, line)
				}
			}
		}
	}
	t.Logf("%d outputs, %d answers fit, %d of them keep to the document", outputs, fits, documented)
	if fits < rounds(100) || documented < rounds(100) {
		t.Error("the generator makes too few values that fit")
	}
}

// rounds is how often a property is tried; the race detector makes everything ten times as slow.
func rounds(n int) int {
	if raceDetector {
		return n / 10
	}
	return n
}

// TestReducedAccepts: a schema that had to be made smaller accepts all that the whole one accepts (S6): what is cut is
// not checked, but nothing is refused for it.
func TestReducedAccepts(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(5, 6))}
	reduced, accepted := 0, 0
	for range rounds(600) {
		text := g.document("3.1.0")
		whole, n := document(t, text, Limits{MaxBytes: 1 << 20}, nil)
		full, err := whole.Root(n, nil)
		if err != nil {
			t.Fatal(err)
		}
		small, n := document(t, text, Limits{MaxBytes: max(60, len(full)/(2+g.IntN(6)))}, nil)
		cut, err := small.Root(n, nil)
		if err != nil || bytes.Equal(cut, full) {
			continue
		}
		reduced++
		before, after := library(t, full), library(t, cut)
		for range 10 {
			line := g.value(4)
			value := decoded(t, []byte(line))
			if before.Validate(value) != nil {
				continue
			}
			accepted++
			if err := after.Validate(value); err != nil {
				t.Fatalf("%v\nwhole %s\nreduced %s\nvalue %s", err, full, cut, line)
			}
		}
	}
	t.Logf("%d schemas reduced, %d values accepted", reduced, accepted)
	if reduced < rounds(100) || accepted < rounds(100) {
		t.Error("the generator makes too little to reduce")
	}
}

// TestDoublingGraph: a schema of thirty definitions, each of which refers twice to the next, stays small (S6).
func TestDoublingGraph(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{},"components":{"schemas":{"Case":{"$ref":"#/components/schemas/N0"}`)
	for i := range 30 {
		fmt.Fprintf(&b, `,"N%d":{"type":"object","properties":{"left":{"$ref":"#/components/schemas/N%d"},"right":{"$ref":"#/components/schemas/N%d"}},`+
			`"allOf":[{"$ref":"#/components/schemas/M%d"},{"$ref":"#/components/schemas/M%d"}]}`, i, i+1, i+1, i, i)
		fmt.Fprintf(&b, `,"M%d":{"oneOf":[{"$ref":"#/components/schemas/M%d"},{"$ref":"#/components/schemas/M%d"}]}`, i, i+1, i+1)
	}
	b.WriteString(`,"N30":{"type":"string"},"M30":{"type":"object","properties":{"x":{"type":"string"}}}}}}`)
	c, n := document(t, b.String(), Limits{}, nil)
	for name, convert := range map[string]func() (json.RawMessage, error){
		"property": func() (json.RawMessage, error) { return c.Object([]Property{{Name: "a", Schema: n}}) },
		"root":     func() (json.RawMessage, error) { return c.Root(n, nil) },
		"renamed":  func() (json.RawMessage, error) { return c.Root(n, map[string]string{"x": "y"}) },
	} {
		s, err := convert()
		if err != nil {
			t.Fatal(err)
		}
		checkSchema(t, s)
		t.Logf("%s: %d bytes", name, len(s))
		if len(s) > 16<<10 {
			t.Errorf("%s takes %d bytes", name, len(s))
		}
	}
	if out := c.Output(n); out != nil && len(out.Schema) > 4<<10 {
		t.Errorf("the output schema takes %d bytes", len(out.Schema))
	}
	c.Names(n)
	c.Plain(n)
	c.Summary(n)
}

// TestExponentialAlternatives: a validator gives up on a value that would take longer than there is time.
func TestExponentialAlternatives(t *testing.T) {
	schema := `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"oneOf":[
		{"properties":{"a":{"$ref":"#/$defs/A"}},"propertyNames":{"pattern":"a"}},{"properties":{"a":{"$ref":"#/$defs/A"}},"required":["b"]},
		{"properties":{"a":{"$ref":"#/$defs/A"}},"required":["c"]}]}}}`
	v, err := Compile([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range []string{"1", `{"b":1,"c":1}`, `{"x":1}`} {
		faults := v.Validate(decoded(t, []byte(strings.Repeat(`{"a":`, 50)+leaf+strings.Repeat("}", 50))))
		if len(faults) == 0 {
			t.Error("the value is valid")
		}
		t.Log(faults)
	}
}
