package generate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"drawbridge/openapi"
)

func instance(t *testing.T, source string, seed uint64, o Options) string {
	t.Helper()
	s, err := New(json.RawMessage(source))
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Instance(rand.New(rand.NewPCG(seed, 0)), o)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return string(out)
}

// Every word that the gateway publishes is understood: a value is found for each schema, whatever the seed.
func TestFinds(t *testing.T) {
	for _, source := range []string{
		`{}`, `true`,
		`{"type":"string","minLength":3,"maxLength":3}`,
		`{"type":"string","pattern":"^[a-z]{2}-\\d+$","minLength":8}`,
		`{"type":"string","pattern":"^(?!x)[A-Z]{3}$"}`,
		`{"type":["string","null"],"enum":["a",null]}`,
		`{"type":"integer","format":"int32","minimum":5,"exclusiveMaximum":7}`,
		`{"type":"integer","format":"int64"}`,
		`{"type":"number","multipleOf":0.01,"minimum":0.5,"maximum":0.52}`,
		`{"type":"number","exclusiveMinimum":0,"maximum":0.001}`,
		`{"type":"array","items":{"type":"string","enum":["a","b","c"]},"minItems":2,"uniqueItems":true}`,
		`{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/node"}},"required":["a"],"$defs":{"node":{"type":"object","properties":{"next":{"$ref":"#/$defs/node"},"v":{"type":"integer"}},"required":["v"]}}}`,
		`{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"a":{"minLength":5},"b":{"const":1}},"required":["b"]}],"unevaluatedProperties":false}`,
		`{"oneOf":[{"type":"object","properties":{"kind":{"const":"x"}},"required":["kind"]},{"type":"object","properties":{"kind":{"const":"y"},"n":{"type":"number"}},"required":["kind","n"]}]}`,
		`{"anyOf":[{"type":"string","format":"date-time"},{"type":"null"}]}`,
		`{"type":"object","additionalProperties":{"type":"integer"},"minProperties":2}`,
		`{"type":"object","propertyNames":{"pattern":"^[a-c]+$"},"additionalProperties":true,"minProperties":1}`,
		`{"type":"object","patternProperties":{"^x-":{"type":"boolean"}},"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{},"b":{}},"dependentRequired":{"a":["b"]},"additionalProperties":false}`,
		`{"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]},"type":"object"}`,
		`{"type":"string","contentEncoding":"base64"}`,
	} {
		for seed := range uint64(50) {
			instance(t, source, seed, Options{Plain: seed%2 == 0, SafeNumbers: seed%3 == 0, NoEmpty: seed%5 == 0})
		}
	}
}

// A schema that nothing fits ends in a reason, not in a wrong value.
func TestReason(t *testing.T) {
	for source, want := range map[string]string{
		`{"type":"object","required":["a"],"properties":{"a":{"allOf":[{"type":"string"},{"type":"integer"}]}}}`: "a: no value fits: its types exclude each other",
		`{"type":"integer","minimum":3,"maximum":2}`:                                                             "no value fits: no number is within the bounds",
		`{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}`:                                     strings.Repeat("a: ", 41) + "no value fits: required members go on without end",
		`{"not":{}}`: "no value fits: : boolean false is one of the values that are not allowed here",
	} {
		s, err := New(json.RawMessage(source))
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Instance(rand.New(rand.NewPCG(1, 0)), Options{})
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", source, err, want)
		}
	}
}

// The same seed gives the same values, which is what makes a judge's finding repeatable.
func TestSeed(t *testing.T) {
	const source = `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"number"}},"c":{"type":"object","additionalProperties":{"type":"string"}}},"additionalProperties":{"type":"integer"}}`
	seen := map[string]bool{}
	for seed := range uint64(20) {
		first := instance(t, source, seed, Options{})
		if again := instance(t, source, seed, Options{}); first != again {
			t.Errorf("seed %d: %s, then %s", seed, first, again)
		}
		seen[first] = true
	}
	if len(seen) < 15 {
		t.Errorf("20 seeds gave %d different values", len(seen))
	}
}

// Where alternatives overlap, a value that fits one alone is preferred.
func TestExclusive(t *testing.T) {
	const source = `{"type":"object","properties":{"anyOf":{"anyOf":[{"type":"integer"},{"type":"integer","maximum":10000},{"type":"string"}]}},"required":["anyOf"]}`
	for seed := range uint64(30) {
		if got := instance(t, source, seed, Options{Plain: true, Exclusive: true, Attempts: 60}); !strings.HasPrefix(got, `{"anyOf":"`) {
			t.Errorf("seed %d: %s", seed, got)
		}
	}
	instance(t, `{"anyOf":[{},{}]}`, 1, Options{Exclusive: true}) // there is none; any will do
}

// Texts reach the edges: over many seeds each character that means something in a URL is used, and plain texts use none.
func TestEdges(t *testing.T) {
	var all, plain strings.Builder
	for seed := range uint64(600) {
		all.WriteString(instance(t, `{"type":"string"}`, seed, Options{}))
		plain.WriteString(strings.Trim(instance(t, `{"type":"string"}`, seed, Options{Plain: true}), `"`))
		all.WriteString(instance(t, `{"type":"integer","format":"int64"}`, seed, Options{}))
	}
	for _, want := range append([]string{`""`, "9223372036854775807", "-9223372036854775808", "9007199254740993"}, alphabet...) {
		if want != `"` && want != `\` && !strings.Contains(all.String(), want) {
			t.Errorf("no text has %q", want)
		}
	}
	if rest := strings.Trim(plain.String(), letters); rest != "" {
		t.Errorf("plain texts have %q", rest)
	}
}

// A text with a format and a pattern keeps to both, where the format is one that is known.
func TestFormatWithPattern(t *testing.T) {
	for seed := range uint64(50) {
		got := instance(t, `{"type":"string","format":"date","pattern":"^\\d{4}-\\d{2}-\\d{2}$"}`, seed, Options{Plain: seed%2 == 0})
		if !keeps("date", strings.Trim(got, `"`)) {
			t.Errorf("seed %d: %s is not a date", seed, got)
		}
		instance(t, `{"type":"string","format":"date","pattern":"^[0-9]{8}$"}`, seed, Options{}) // no date fits
	}
}

// With Bounds the ends of what a schema allows are reached, and Optional is how often a member is there.
func TestBounds(t *testing.T) {
	const source = `{"type":"object","properties":{"n":{"type":"integer","minimum":-3,"maximum":400},"s":{"type":"string","maxLength":40}}}`
	seen := map[string]int{}
	for seed := range uint64(400) {
		var value struct {
			N *int
			S *string
		}
		if err := json.Unmarshal([]byte(instance(t, source, seed, Options{Bounds: true, Optional: 0.5})), &value); err != nil {
			t.Fatal(err)
		}
		if value.N != nil {
			seen["n"]++
			seen[fmt.Sprintf("n=%d", *value.N)]++
		}
		if value.S != nil {
			seen["s"]++
			seen[fmt.Sprintf("length %d", utf8.RuneCountInString(*value.S))]++
		}
	}
	for _, want := range []string{"n=-3", "n=400", "length 0", "length 40"} {
		if seen[want] == 0 {
			t.Errorf("400 seeds gave no %s", want)
		}
	}
	for _, name := range []string{"n", "s"} {
		if seen[name] < 150 || seen[name] > 250 {
			t.Errorf("%s was given %d times of 400, want about half", name, seen[name])
		}
	}
}

// Nearly every tool of the real documents can be called with made arguments.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("OPENAPI_CORPUS")
	if dir == "" {
		t.Skip("OPENAPI_CORPUS is not set")
	}
	index, err := os.ReadFile(filepath.Join(dir, "INDEX.md"))
	if err != nil {
		t.Fatal(err)
	}
	total, made := 0, 0
	for line := range strings.Lines(string(index)) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		name := filepath.Join(dir, strings.TrimSpace(cells[1]))
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			continue
		}
		doc, err := openapi.Load(t.Context(), name, openapi.LoadOptions{})
		if err != nil {
			continue
		}
		api, err := doc.Compile(t.Context(), openapi.CompileOptions{Output: openapi.OutputOff})
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range api.Operations {
			s, err := New(op.Input)
			if err != nil {
				t.Errorf("%s %s: %v", op.Method, op.Path, err)
				continue
			}
			for _, plain := range []bool{true, false} {
				total++
				if _, err := s.Instance(rand.New(rand.NewPCG(1, 0)), Options{Plain: plain}); err != nil {
					t.Logf("%s: %s %s: %v", filepath.Base(name), op.Method, op.Path, fmt.Sprintf("%.300s", err))
					continue
				}
				made++
			}
		}
	}
	t.Logf("%d of %d", made, total)
	if made*1000 < total*995 {
		t.Errorf("arguments were made for %d of %d", made, total)
	}
}
