package filter

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every rule is true: openapi3filter reads another value, or none, where our decoder reads the argument. A case that
// fails means that openapi3filter was mended, and that its rule has to go.
func TestRules(t *testing.T) {
	text := map[string]any{"type": "string"}
	list := map[string]any{"type": "array", "items": text}
	object := map[string]any{"type": "object", "properties": map[string]any{"a": text}, "additionalProperties": false}
	open := map[string]any{"type": "object", "properties": map[string]any{"a": text}, "additionalProperties": map[string]any{"type": "integer"}}
	for _, c := range []struct {
		rule     string
		p        param
		argument string
	}{
		{"decodes before it splits", param{in: "query", style: "form", schema: list}, `["a,b","c"]`},
		{"decodes before it splits", param{in: "path", style: "matrix", explode: true, schema: object}, `{"a":"b=c"}`},
		{"does not decode cookies", param{in: "cookie", style: "form", schema: text}, `"a b"`},
		{"has no exploded lists and objects in cookies", param{in: "cookie", style: "form", explode: true, schema: list}, `["a","b"]`},
		{`wants "=" after the name of an empty value in style matrix`, param{in: "path", style: "matrix", schema: text}, `""`},
		{"takes a list of one empty text for none", param{in: "query", style: "form", explode: true, schema: list}, `[""]`},
		{"reads the brackets of a deep object's name as members of it", param{name: "n[x]", in: "query", style: "deepObject", explode: true, schema: object}, `{"a":"b"}`},
		{`wants exactly one "=" in a piece of an exploded object in a header`, param{in: "header", style: "simple", explode: true, schema: object}, `{"a":"b=c"}`},
		{"reads declared members by the schema of additionalProperties", param{in: "query", style: "form", schema: open}, `{"a":"b"}`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			p := c.p
			p.title, p.spelled, p.required = "title-0", true, true
			if p.name == "" {
				p.name = "n"
			}
			p.schema = map[string]any{"title": p.title}
			for word, v := range c.p.schema {
				p.schema[word] = v
			}
			all := []operation{{path: "/op0", params: []*param{&p}}}
			if p.in == "path" {
				all[0].path += "/{" + p.name + "}"
			}
			api, theirs := prepare(t, "3.0.3", all)
			op := api.Operations[0]
			name := argumentNames(op.Input)[p.title]
			request, err := op.NewRequest(t.Context(), nil, json.RawMessage(`{"`+name+`":`+c.argument+`}`))
			if err != nil {
				t.Fatal(err)
			}
			in, arrived, sent, err := transfer(request, all, &all[0])
			if err != nil {
				t.Fatal(err)
			}
			want, err := fromJSON(c.argument)
			if err != nil {
				t.Fatal(err)
			}
			got, found, err := p.decode(in)
			if diff := cmp.Diff(want, got); diff != "" || !found || err != nil {
				t.Errorf("our decoder: found %v: %v\n%s\n%s", found, err, diff, sent)
			}
			for _, r := range rules {
				if applies := r.applies(&p, want); applies != (r.name == c.rule) {
					t.Errorf("the rule %q applies: %v", r.name, applies)
				}
			}
			got, found, err = decodeByFilter(theirs, all[0].path, &p, arrived, decoded(in.segments))
			if found && err == nil && same(want, got) {
				t.Errorf("openapi3filter reads it right: the rule %q is no longer needed\n%s", c.rule, sent)
			}
		})
	}
	for _, r := range rules {
		if r.clause == "" {
			t.Errorf("the rule %q names no clause", r.name)
		}
	}
}
