package openapi

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLenient holds that a lenient operation sends declared members of a JSON body that have another type, and nothing else that a strict one
// refuses.
func TestLenient(t *testing.T) {
	const document = `openapi: 3.0.3
info: {title: Notebooks, version: "1"}
servers: [{url: "https://notebooks.example"}]
paths:
  /contents/{path}:
    put:
      operationId: members
      parameters:
        - {name: path, in: path, required: true, schema: {type: string}}
        - {name: limit, in: query, schema: {type: integer}}
        - {name: X-Trace, in: header, schema: {type: integer}}
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Contents"}}}}
      responses: {"200": {description: OK}}
  /root:
    post:
      operationId: root
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Contents"}}}}
      responses: {"200": {description: OK}}
  /list:
    post:
      operationId: list
      requestBody: {required: true, content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Contents"}}}}}
      responses: {"200": {description: OK}}
  /form:
    post:
      operationId: form
      requestBody: {required: true, content: {application/x-www-form-urlencoded: {schema: {$ref: "#/components/schemas/Contents"}}}}
      responses: {"200": {description: OK}}
components:
  schemas:
    Contents:
      type: object
      additionalProperties: false
      required: [type]
      properties:
        type: {type: string, enum: [notebook, file]}
        content: {type: string}
        size: {type: integer}
        owner: {type: object, properties: {id: {type: integer}, tags: {type: array, items: {type: string}}}}
        fixed: {type: string}
        either: {anyOf: [{type: string}, {type: integer}]}
`
	file := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	doc, err := Load(t.Context(), file, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	operations := map[string]*Operation{}
	for _, op := range api.Operations {
		operations[op.ID] = op
	}
	for _, c := range []struct {
		name, operation, args string
		body                  string // that is sent; "" if the call is refused
		mistyped              string // pointers
	}{
		{"an object for a string", "members", `{"path": "a", "type": "notebook", "content": {"cells": []}}`, `{"type":"notebook","content":{"cells":[]}}`, "/content"},
		{"two of them", "members", `{"path": "a", "type": "file", "content": [1], "size": {"n": 1}}`, `{"type":"file","content":[1],"size":{"n":1}}`, "/content /size"},
		{"deeper", "members", `{"path": "a", "type": "file", "owner": {"id": {"n": 1}, "tags": [{"t": 1}]}}`, `{"type":"file","owner":{"id":{"n":1},"tags":[{"t":1}]}}`, "/owner/id /owner/tags/0"},
		{"one that is meant otherwise is corrected", "members", `{"path": "a", "type": "file", "size": "7", "content": {"a": 1}}`, `{"type":"file","content":{"a":1},"size":7}`, "/content"},
		{"alternatives", "members", `{"path": "a", "type": "file", "either": {"a": 1}}`, `{"type":"file","either":{"a":1}}`, "/either"},
		{"all arguments are members", "root", `{"type": "file", "content": {"a": 1}}`, `{"type":"file","content":{"a":1}}`, "/content"},
		{"an element", "list", `{"body": [{"type": "file", "content": {"a": 1}}]}`, `[{"type":"file","content":{"a":1}}]`, "/body/0/content"},
		{"the right types", "members", `{"path": "a", "type": "file", "content": "x"}`, `{"type":"file","content":"x"}`, ""},

		{"an unknown member", "members", `{"path": "a", "type": "file", "content": {"a": 1}, "contents": 1}`, "", ""},
		{"a missing member", "members", `{"path": "a", "content": {"a": 1}}`, "", ""},
		{"a value that is not listed", "members", `{"path": "a", "type": "folder", "content": {"a": 1}}`, "", ""},
		{"another type of a listed value", "members", `{"path": "a", "type": {"a": 1}}`, `{"type":{"a":1}}`, "/type"},
		{"a path parameter", "members", `{"path": {"a": 1}, "type": "file"}`, "", ""},
		{"a query parameter", "members", `{"path": "a", "type": "file", "limit": {"a": 1}}`, "", ""},
		{"a header", "members", `{"path": "a", "type": "file", "X-Trace": {"a": 1}, "content": {"a": 1}}`, "", ""},
		{"an argument that keeps its type", "members", `{"path": "a", "type": "file", "fixed": {"a": 1}}`, "", ""},
		{"a member of an element that keeps its type", "list", `{"body": [{"type": "file", "fixed": {"a": 1}}]}`, "", ""},
		{"the whole body", "list", `{"body": {"a": 1}}`, "", ""},
		{"another format", "form", `{"type": "file", "content": {"a": 1}}`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			op := operations[c.operation].Lenient([]string{"fixed"})
			built, err := op.Build(t.Context(), nil, json.RawMessage(c.args))
			if c.body == "" {
				if err == nil {
					t.Fatal("the call is sent")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(built.Request.Body)
			var pointers []string
			for _, f := range built.Mistyped {
				pointers = append(pointers, f.Pointer)
			}
			if got := strings.Join(pointers, " "); string(body) != c.body || got != c.mistyped {
				t.Errorf("sent %s, mistyped %q", body, got)
			}
			if strict, err := operations[c.operation].Build(t.Context(), nil, json.RawMessage(c.args)); (err == nil) != (c.mistyped == "") || strict.Mistyped != nil {
				t.Errorf("a strict operation: %v", err)
			}
		})
	}
}
