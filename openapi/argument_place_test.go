package openapi

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

const argumentDocument = `openapi: 3.1.0
info: {title: T, version: "1"}
paths:
  /orders/{id}/lines/{line no}:
    get:
      operationId: line
      parameters:
        - {name: id, in: path, required: true, schema: {type: integer}}
        - {name: line no, in: path, required: true, schema: {type: string}}
        - {name: id, in: query, schema: {$ref: "#/components/schemas/ids"}}
        - {name: tags, in: query, schema: {type: [array, "null"], items: {type: string}}}
        - {name: word, in: query, schema: {type: [string, "null"]}}
        - {name: X-Who, in: header, required: true, schema: {type: string}}
      responses: {"200": {description: ok, content: {text/csv: {}}}}
  /search?kind=a:
    get:
      operationId: search
      responses: {"200": {description: ok, content: {text/csv: {}, application/json: {}}}}
components:
  schemas:
    ids: {type: array, items: {type: integer}}
`

// TestArguments checks the list of arguments for callers that don't make them as JSON.
func TestArguments(t *testing.T) {
	api, err := compileCase(t, &txtar.Archive{Files: []txtar.File{{Name: "spec.yaml", Data: []byte(argumentDocument)}}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, op := range api.Operations {
		got = append(got, op.ID+" "+op.PathTemplate()+" "+op.Answers.MediaType())
		for _, a := range op.Arguments() {
			got = append(got, fmt.Sprintf("%s %s required=%t list=%t", a.Name, a.In, a.Required, a.List))
		}
	}
	want := []string{
		"line /orders/{id_path}/lines/{line_no} text/csv",
		"id_path path required=true list=false",
		"line_no path required=true list=false",
		"id_query query required=false list=true",
		"tags query required=false list=true",
		"word query required=false list=false",
		"X-Who header required=true list=false",
		"search /search?kind=a ",
		"accept header required=false list=false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestNames checks that an argument counts as declared if a schema of the object declares it, and not if that of a
// member does (pains row 121).
func TestNames(t *testing.T) {
	o := &Operation{Input: []byte(`{
		"properties": {"a": {"properties": {"no": {}}}}, "required": ["b"], "$ref": "#/$defs/one", "if": {"properties": {"c": {}}}, "then": {"required": ["d"]},
		"else": {"properties": {"e": {}}}, "dependentSchemas": {"no": {"properties": {"f": {}}}}, "patternProperties": {"no": {}}, "additionalProperties": true,
		"anyOf": [{"allOf": [{"oneOf": [{"allOf": [{"anyOf": [{"$ref": "#/$defs/two"}]}]}]}]}], "not": {"required": ["no"]},
		"$defs": {"one": {"properties": {"g": {}}, "allOf": [{"$ref": "#/$defs/one"}]}, "two": {"properties": {"h\u0069": {}}}, "no": {"properties": {"no": {}}}}}`)}
	want := map[string]bool{"a": true, "b": true, "c": true, "d": true, "e": true, "f": true, "g": true, "hi": true}
	if diff := cmp.Diff(want, o.Names()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
