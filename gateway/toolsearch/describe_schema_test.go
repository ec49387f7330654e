package toolsearch

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/finder"
	"drawbridge/gateway/tokenizer"
)

// leftPointer finds the first pointer of a note.
var leftPointer = regexp.MustCompile(`parts of ([^,]+)`)

// TestSchemasAreBounded: however large and many the schemas are, an answer with them is short, each text but the notes is JSON, and what is left
// out can be asked for.
func TestSchemasAreBounded(t *testing.T) {
	var document strings.Builder
	document.WriteString("openapi: 3.1.0\ninfo: {title: Large, version: '1'}\ncomponents:\n  schemas:\n")
	for i := range 60 {
		fmt.Fprintf(&document, "    Part%d: {type: object, description: %q, properties: {next: {$ref: '#/components/schemas/Part%d'}, other: {$ref: '#/components/schemas/Part%d'}, inline: {type: object, properties: {a: {type: array, items: {type: object, properties: {b: {type: string}}}}}}}}\n",
			i, strings.Repeat("Part of it. ", 30), (i+1)%60, (i+7)%60)
	}
	document.WriteString("paths:\n")
	for i := range 10 {
		fmt.Fprintf(&document, "  /t%d:\n    post:\n      operationId: t%d\n      requestBody: {content: {application/json: {schema: {type: object, properties: {a: {$ref: '#/components/schemas/Part%d'}, b: {$ref: '#/components/schemas/Part0'}}}}}}\n"+
			"      responses: {'200': {description: OK, content: {application/json: {schema: {$ref: '#/components/schemas/Part%d'}}}}}\n", i, i, i, i)
	}
	fmt.Fprintf(&document, "  /wide:\n    post:\n      operationId: wide\n      requestBody: {content: {application/json: {schema: {type: object, properties: {%s}}}}}\n      responses: {'200': {description: OK}}\n",
		strings.Join(repeat(900, "property_%d: {type: string}"), ", "))
	c := compile(t, []txtar.File{{Name: "large.yaml", Data: []byte(document.String())}})
	index := finder.OfTools(c.All(), nil)
	s := &Scope{Tools: c.All(), Index: func() *finder.Index { return index }, Allowed: func(*catalog.Tool) bool { return true }}
	describe := func(arguments map[string]any) (schemas [][]byte, notes string) {
		args, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		texts, _, err := s.Describe(args, catalog.AllFeatures)
		if err != nil {
			t.Fatal(err)
		}
		tokens := 0
		for _, text := range texts {
			tokens += tokenizer.Count(text)
			if text[0] != '{' {
				notes += string(text)
			} else if schemas = append(schemas, text); !json.Valid(text) {
				t.Errorf("not JSON: %s", text)
			}
		}
		if tokens > 4000 {
			t.Errorf("%v: %d tokens", arguments, tokens)
		}
		return schemas, notes
	}
	all := strings.Fields("t0 t1 t2 t3 t4 t5 t6 t7 t8 t9")
	for _, names := range [][]string{all, {"wide"}, {"wide", "t0", "nothing"}, {"t0"}} {
		for _, answers := range []bool{false, true} {
			describe(map[string]any{"names": names, "format": "schema", "answers": answers})
		}
	}
	schemas, notes := describe(map[string]any{"names": []string{"t0"}, "format": "schema", "answers": true})
	found := leftPointer.FindStringSubmatch(notes)
	if len(schemas) != 1 || found == nil {
		t.Fatalf("%q: nothing is said of what is left out of %d schemas", notes, len(schemas))
	}
	pointer := found[1]
	schemas, notes = describe(map[string]any{"names": []string{"t0"}, "format": "schema", "types": []string{pointer, "none"}})
	if !strings.Contains(string(schemas[0]), `{"`+pointer+`":{"type":"object"`) || !strings.Contains(notes, `t0 has no "none"`) {
		t.Errorf("%s: got %s %s", pointer, schemas, notes)
	}
}

// repeat returns n texts of a format with a number.
func repeat(n int, format string) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return all
}
