package openapi

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const linkDocument = `
openapi: 3.1.0
info: {title: T, version: "1"}
servers: [{url: "https://a.test"}]
components:
  links:
    shared: {operationId: get, parameters: {id: $response.body#/id}}
paths:
  /a:
    post:
      operationId: start
      responses:
        "202":
          description: Taken
          links:
            byID: {operationId: get, parameters: {id: $response.body#/id}}
            byPlace: {operationId: get, parameters: {path.id: "x-{$response.body#/id}"}}
            byRef: {operationRef: "#/paths/~1a~1%7Bid%7D/get", parameters: {id: 7}}
            shared: {$ref: "#/components/links/shared"}
            body: {operationId: put, parameters: {id: i}, requestBody: $response.body}
            strange: {operationId: get, parameters: {other: 1}}
            few: {operationId: get}
            wrong: {operationId: get, parameters: {id: $nothing}}
            both: {operationId: get, operationRef: "#/paths/~1a/post", parameters: {id: 7}}
            neither: {parameters: {id: 7}}
            elsewhere: {operationRef: "other.yaml#/paths/~1a/post", parameters: {id: 7}}
            nobody: {operationId: none, parameters: {id: 7}}
        "400": {description: Bad, links: {failed: {operationId: get, parameters: {id: 7}}}}
      callbacks:
        done: {"{$request.body#/url}": {post: {responses: {"200": {description: ok}}}}}
        fixed: {"https://b.test/hook": {post: {responses: {"200": {description: ok}}}}}
        broken: {"{$nothing}": {post: {responses: {"200": {description: ok}}}}}
      requestBody: {content: {application/json: {schema: {type: object, properties: {url: {type: string}}}}}}
  /a/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get: {operationId: get, responses: {"200": {description: ok}}}
    put:
      operationId: put
      requestBody: {required: true, content: {application/json: {schema: {type: array}}}}
      responses: {"200": {description: ok}}
`

// TestLinks checks the links and callbacks that an operation keeps of its document.
func TestLinks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "api.yaml")
	if err := os.WriteFile(file, []byte(linkDocument), 0o600); err != nil {
		t.Fatal(err)
	}
	doc, err := Load(context.Background(), file, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	start := api.Operations[slices.IndexFunc(api.Operations, func(o *Operation) bool { return o.ID == "start" })]
	var got []string
	for i := range start.Links {
		l := &start.Links[i]
		line := l.Status + " " + l.Name
		target := l.Target(api.Operations)
		if target == nil {
			got = append(got, line+": no operation")
			continue
		}
		line += ": " + target.ID
		bound, ok := l.Arguments(target)
		if !ok {
			line += ": does not fit"
		}
		for _, argument := range slices.Sorted(maps.Keys(bound)) {
			value, _ := bound[argument].Evaluate(&Exchange{Operation: start, Body: []byte(`{"id":"j"}`), Response: &http.Response{}})
			line += fmt.Sprintf(" %s=%s", argument, value)
		}
		got = append(got, line)
	}
	for _, c := range start.Callbacks {
		in, name, _ := c.URL.Request()
		got = append(got, fmt.Sprintf("callback %s: %s %s", c.Name, in, name))
	}
	want := `202 byID: get id="j"
202 byPlace: get id="x-j"
202 byRef: get id=7
202 shared: get id="j"
202 body: put body={"id":"j"} id="i"
202 strange: get: does not fit
202 few: get: does not fit
202 nobody: no operation
callback done: body /url
callback fixed:  `
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
