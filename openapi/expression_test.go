package openapi

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drawbridge/openapi/jsonscan"
)

const expressionDocument = `
openapi: 3.1.0
info: {title: T, version: "1"}
servers: [{url: "https://a.test"}]
paths:
  /a/{id}:
    post:
      operationId: members
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
        - {name: X-Key, in: header, schema: {type: string}}
        - {name: "f[x]", in: query, schema: {type: integer}}
      requestBody: {content: {application/json: {schema: {type: object, properties: {to: {type: object}, "a b": {type: string}}, additionalProperties: false}}}}
      responses: {"200": {description: ok}}
  /root:
    post:
      operationId: root
      requestBody: {content: {application/json: {schema: {type: object, required: ["a b"], properties: {to: {type: object}, "a b": {type: string}}}}}}
      responses: {"200": {description: ok}}
  /whole:
    post:
      operationId: whole
      requestBody: {content: {application/json: {schema: {type: array, items: {type: string}}}}}
      responses: {"200": {description: ok}}
`

func expressionOperations(t testing.TB) map[string]*Operation {
	t.Helper()
	file := filepath.Join(t.TempDir(), "api.yaml")
	if err := os.WriteFile(file, []byte(expressionDocument), 0o600); err != nil {
		t.Fatal(err)
	}
	doc, err := Load(context.Background(), file, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := doc.Compile(context.Background(), CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*Operation{}
	for _, op := range api.Operations {
		all[op.ID] = op
	}
	return all
}

// TestExpressions checks the values that expressions find in a request and its response.
func TestExpressions(t *testing.T) {
	ops := expressionOperations(t)
	resp := &http.Response{StatusCode: 202, Header: http.Header{"Location": {"/jobs/7"}, "X-Text": {"a\"\xff"}},
		Request: &http.Request{URL: &url.URL{Scheme: "https", Host: "a.test", Path: "/a/7"}}}
	body := []byte(`{"id": 7, "links": [{"href": "x"}], "ok": true, "none": null, "big": 12345678901234567890}`)
	args := map[string]string{
		"members": `{"id":"i","X-Key":"k","f_x":3,"to":{"url":"u"},"a_b":"v"}`,
		"root":    `{"to":{"url":"u"},"a_b":"v"}`,
		"whole":   `{"body":["x","y"]}`,
	}
	for _, tt := range []struct{ op, text, want string }{
		{"members", "$response.body#/id", "7"}, {"members", "$response.body#/big", "12345678901234567890"}, {"members", "$response.body#/links/0/href", `"x"`},
		{"members", "$response.body#/nothing", ""}, {"members", "$response.body", string(body)}, {"members", "$response.body#/none", "null"},
		{"members", "$response.header.location", `"/jobs/7"`}, {"members", "$response.header.Other", ""}, {"members", "$response.header.X-Text", `"a\"` + "\uFFFD" + `"`},
		{"members", "$request.path.id", `"i"`}, {"members", "$request.path.other", ""}, {"members", "$request.query.f[x]", "3"}, {"members", "$request.header.x-key", `"k"`},
		{"members", "$request.body#/to/url", `"u"`}, {"members", "$request.body#/a b", `"v"`}, {"members", "$request.body", ""}, {"members", "$request.body#/none", ""},
		{"root", "$request.body#/to/url", `"u"`}, {"root", "$request.body#/a b", `"v"`}, {"root", "$request.path.id", ""},
		{"whole", "$request.body#/1", `"y"`}, {"whole", "$request.body", `["x","y"]`}, {"whole", "$request.body#/2", ""},
		{"members", "$url", `"https://a.test/a/7"`}, {"members", "$method", `"POST"`}, {"members", "$statusCode", "202"},
		{"members", "text", `"text"`}, {"members", "", `""`}, {"members", "{x}", `"{x}"`},
		{"members", "jobs/{$response.body#/id}?k={$request.path.id}", `"jobs/7?k=i"`}, {"members", "x{$response.body#/links}", ""},
		{"members", "{$response.header.Location}", `"/jobs/7"`}, {"members", "{$response.body#/ok}", `"true"`},
	} {
		e, err := ParseExpression(tt.text)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		got, ok := e.Evaluate(&Exchange{Operation: ops[tt.op], Arguments: []byte(args[tt.op]), Response: resp, Body: body})
		if string(got) != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: %q: %s %v, want %s", tt.op, tt.text, got, ok, tt.want)
		}
	}
	if got, ok := Constant([]byte(`{"a":1}`)).Evaluate(nil); string(got) != `{"a":1}` || !ok {
		t.Errorf("constant: %s %v", got, ok)
	}
	if in, name, ok := mustExpression(t, "{$request.body#/to/url}").Request(); in != "body" || name != "/to/url" || !ok {
		t.Error(in, name, ok)
	}
	if _, _, ok := mustExpression(t, "x{$request.body#/to/url}").Request(); ok {
		t.Error("a text is taken for a place")
	}
}

func mustExpression(t *testing.T, text string) Expression {
	e, err := ParseExpression(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestBadExpressions(t *testing.T) {
	for _, text := range []string{
		"$", "$response", "$response.", "$response.body.id", "$response.body#id", "$response.header", "$response.header.", "$response.query.x", "$request.cookie.x",
		"$request.body#x", "$urls", "x{$url", "{$}", "{$response.body}{$x}", strings.Repeat("x", maxExpression+1),
	} {
		if e, err := ParseExpression(text); err == nil {
			t.Errorf("%q is taken for an expression: %+v", text, e)
		}
	}
}

// FuzzExpression checks that for any expression in a document, the value is JSON.
func FuzzExpression(f *testing.F) {
	for _, s := range []string{"$url", "{$request.body#/a}", "x{$response.body#/0/~1}y", "$response.header.Location", "{$", "$request.path.id"} {
		f.Add(s, `{"a":[1,"x"]}`)
	}
	ops := expressionOperations(f)
	f.Fuzz(func(t *testing.T, text, body string) {
		e, err := ParseExpression(text)
		if err != nil {
			return
		}
		if _, err := jsonscan.Scan([]byte(body), jsonscan.Options{}); err != nil {
			return
		}
		resp := &http.Response{Header: http.Header{"Location": {text}}}
		for _, op := range ops {
			x := &Exchange{Operation: op, Arguments: []byte(body), Response: resp, Body: []byte(body)}
			if value, ok := e.Evaluate(x); ok {
				if _, err := jsonscan.Scan(value, jsonscan.Options{}); err != nil {
					t.Errorf("%q of %s: %q: %v", text, body, value, err)
				}
			}
		}
	})
}
