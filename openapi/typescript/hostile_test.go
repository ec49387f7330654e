package typescript

import (
	"fmt"
	"strings"
	"testing"

	"drawbridge/openapi/jsonschema"
)

// levels returns a schema whose argument is the first of 40 definitions, of which each is made by a format with the number of the next.
func levels(format string) string {
	var b strings.Builder
	b.WriteString(`{"type":"object","required":["o"],"properties":{"o":{"$ref":"#/$defs/A0"},"p":{"type":"object","properties":{"q":{"$ref":"#/$defs/A0"}}}},"$defs":{`)
	const count = 40
	for i := range count {
		fmt.Fprintf(&b, `"A%d":%s,`, i, strings.ReplaceAll(format, "NEXT", fmt.Sprintf("#/$defs/A%d", i+1)))
	}
	fmt.Fprintf(&b, `"A%d":{"type":"string"}}}`, count)
	return b.String()
}

// fourfold returns a schema of four lists of four lists, and so on, all of which are different.
func fourfold() string {
	var b strings.Builder
	b.WriteString(`{"type":"object","required":["o"],"properties":{"o":{"$ref":"#/$defs/A0"}},"$defs":{`)
	const count = 9
	for i := range count {
		for _, name := range "ABCD" {
			fmt.Fprintf(&b, `"%c%d":{"anyOf":[`, name, i)
			for j, below := range "ABCD" {
				if j > 0 {
					b.WriteByte(',')
				}
				fmt.Fprintf(&b, `{"type":"array","items":{"$ref":"#/$defs/%c%d"}}`, below, i+1)
			}
			b.WriteString(`]},`)
		}
	}
	for _, name := range "ABCD" {
		fmt.Fprintf(&b, `"%c%d":{"enum":["%s"]},`, name, count, strings.Repeat(string(name), 30))
	}
	return strings.TrimSuffix(b.String(), ",") + `}}`
}

// shortLists returns a schema like lists that double, of definitions that are too short to have names in declarations.
func shortLists() string {
	var b strings.Builder
	b.WriteString(`{"type":"object","required":["o"],"properties":{"o":{"$ref":"#/$defs/a0"}},"$defs":{`)
	const count = 40
	for i := range count {
		fmt.Fprintf(&b, `"a%d":{"anyOf":[{"$ref":"#/$defs/b%d"},{"$ref":"#/$defs/c%d"}]},`, i, i, i)
		fmt.Fprintf(&b, `"b%d":{"type":"array","items":{"$ref":"#/$defs/a%d"}},`, i, i+1)
		fmt.Fprintf(&b, `"c%d":{"type":["array","null"],"items":{"$ref":"#/$defs/a%d"}},`, i, i+1)
	}
	fmt.Fprintf(&b, `"a%d":{"type":"string"}}}`, count)
	return b.String()
}

// TestDoublingSchemas: schemas that hold themselves, or that others hold twice at each level, end in short texts: a document may come from
// anybody, and a stack that overflows ends the process.
func TestDoublingSchemas(t *testing.T) {
	recursive := func(definition string) string {
		return `{"type":"object","properties":{"o":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}},"$defs":{"A":` + definition + `}}`
	}
	const longest = 6000
	for name, schema := range map[string]string{
		"a list of itself":                     recursive(`{"type":"array","items":{"$ref":"#/$defs/A"}}`),
		"any JSON":                             recursive(`{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#/$defs/A"}},{"type":"object","additionalProperties":{"$ref":"#/$defs/A"}}]}`),
		"alternatives of itself":               recursive(`{"anyOf":[{"$ref":"#/$defs/A"},{"anyOf":[{"$ref":"#/$defs/A"}]}]}`),
		"an object of itself":                  recursive(`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"b":{"type":"array","items":{"$ref":"#/$defs/A"}}}}`),
		"lists that double":                    levels(`{"anyOf":[{"type":"array","items":{"$ref":"NEXT"}},{"type":"array","minItems":1,"items":{"$ref":"NEXT"}}]}`),
		"alternatives that double":             levels(`{"anyOf":[{"$ref":"NEXT"},{"type":"array","items":{"$ref":"NEXT"}}]}`),
		"members that double":                  levels(`{"type":"object","required":["a"],"properties":{"a":{"$ref":"NEXT"},"b":{"type":"array","items":{"$ref":"NEXT"}}}}`),
		"maps that double":                     levels(`{"type":["array","object"],"items":{"$ref":"NEXT"},"additionalProperties":{"$ref":"NEXT"}}`),
		"short lists that double":              shortLists(),
		"four lists at each level":             fourfold(),
		"lists in lists, deeper than any data": `{"type":"object","required":["o"],"properties":{"o":` + strings.Repeat(`{"type":"array","items":`, 5000) + `{"type":"string"}` + strings.Repeat("}", 5000) + `}}`,
	} {
		for _, query := range []string{"", "zebra"} {
			t.Run(name+" "+query, func(t *testing.T) {
				s := jsonschema.Parse([]byte(schema))
				if got := Arguments(s, Options{Query: query}); len(got) > longest {
					t.Errorf("the arguments have %d bytes: %.200s…", len(got), got)
				}
				if d := Declare([]Function{{Name: "f", Input: s, Output: s}}, DeclareOptions{Answers: true, Fits: func(text string) bool { return len(text) <= longest }}); len(d.Text) > longest {
					t.Errorf("the declarations have %d bytes: %.200s…", len(d.Text), d.Text)
				}
				if got := Answer(s, 0); len(got) > longest {
					t.Errorf("the answer has %d bytes: %.200s…", len(got), got)
				}
			})
		}
	}
}
