package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/openapi/schema"
)

// compiled compiles a document.
func compiled(t *testing.T, document string) *API {
	t.Helper()
	api, err := compileCase(t, &txtar.Archive{Files: []txtar.File{{Name: "spec.yaml", Data: []byte(document)}}})
	if err != nil {
		t.Fatal(err)
	}
	return api
}

const limitsDocument = `openapi: 3.1.0
info: {title: Limits, version: "1"}
servers: [{url: "https://limits.example/a%2Fb"}]
paths:
  /x/{p}:
    get:
      operationId: limits
      parameters:
        - {name: p, in: path, required: true, schema: {type: string}}
        - {name: q, in: query, schema: {type: string}}
        - {name: r, in: query, schema: {type: string}}
        - {name: c, in: cookie, schema: {type: string}}
      responses: {"200": {description: OK}}
`

// TestRequestLimits checks that a query and the cookies of a request may have exactly maxQuery bytes.
func TestRequestLimits(t *testing.T) {
	op := find(t, compiled(t, limitsDocument), "limits")
	for _, tt := range []struct {
		q, c int // bytes of the values
		want string
	}{
		{maxQuery - len("q="), 0, ""},
		{maxQuery - len("q=") + 1, 0, "arguments: /q: makes the query of the URL too long to be sent"},
		{0, maxQuery - len("c="), ""},
		{0, maxQuery - len("c=") + 1, "arguments: /c: makes the cookies too long to be sent"},
	} {
		args := map[string]string{"p": "p"}
		if tt.q > 0 {
			args["q"] = strings.Repeat("x", tt.q)
		}
		if tt.c > 0 {
			args["c"] = strings.Repeat("x", tt.c)
		}
		text, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		req, err := op.NewRequest(t.Context(), nil, text)
		if got := errorText(err); got != tt.want {
			t.Errorf("%d bytes of query, %d of cookies: error %q, want %q", tt.q, tt.c, got, tt.want)
		}
		if err == nil && max(len(req.URL.RawQuery), len(req.Header.Get("Cookie"))) != maxQuery {
			t.Errorf("%d bytes of query, %d of cookies", len(req.URL.RawQuery), len(req.Header.Get("Cookie")))
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestRequestURL checks that the URL of a request is as url.Parse sets it.
func TestRequestURL(t *testing.T) {
	op := find(t, compiled(t, limitsDocument), "limits")
	for base, value := range map[string]string{"": "v", "https://plain.example/v1/": "v", "http://[::1]:80/%41": "a b"} {
		var u *url.URL
		if base != "" {
			var err error
			if u, err = url.Parse(base); err != nil {
				t.Fatal(err)
			}
		}
		args, err := json.Marshal(map[string]string{"p": value, "q": value})
		if err != nil {
			t.Fatal(err)
		}
		req, err := op.NewRequest(t.Context(), u, args)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := url.Parse(req.URL.String())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(parsed, req.URL); diff != "" {
			t.Errorf("%s (-parsed +got):\n%s", base, diff)
		}
	}
}

// TestRequestFails checks that errors without a fault in the arguments are not ArgumentErrors.
func TestRequestFails(t *testing.T) {
	op := find(t, compiled(t, limitsDocument), "limits")
	var none context.Context
	if req, err := op.NewRequest(none, nil, json.RawMessage(`{"p":"p"}`)); errorText(err) != "build request: net/http: nil Context" {
		t.Errorf("without a context: %v, %v", req, err)
	}
	broken := *op
	broken.validator = func() (*schema.Validator, error) { return nil, errors.New("broken") }
	if args, _, err := broken.Check(json.RawMessage(`{"p":"p"}`)); errorText(err) != "the schema of the arguments can't be used: broken" {
		t.Errorf("without a schema: %s, %v", args, err)
	}
}

// TestWholePlans checks that the plan of a form is complete, so that two documents can be compared.
func TestWholePlans(t *testing.T) {
	document := strings.Replace(limitsDocument, "      responses:", "      requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object, properties: {a: {type: string}}}}}}\n      responses:", 1)
	if text, whole := find(t, compiled(t, document), "limits").body.codec.plan(nil); !whole || len(text) == 0 {
		t.Errorf("%q, %t", text, whole)
	}
}

// TestManyArguments checks that each of many arguments goes to its own location.
func TestManyArguments(t *testing.T) {
	for _, n := range []int{1, 15, 16, 17, 40} {
		var parameters, want strings.Builder
		args := map[string]int{}
		for i := range n {
			name := "p" + strings.Repeat("x", i)
			parameters.WriteString("        - {name: " + name + ", in: query, schema: {type: integer}}\n")
			args[name] = i
			if i > 0 {
				want.WriteByte('&')
			}
			want.WriteString(name + "=" + jsonText(t, i))
		}
		document := strings.Replace(limitsDocument, "        - {name: p, in: path, required: true, schema: {type: string}}\n", parameters.String(), 1)
		document = strings.Replace(document, "/x/{p}", "/x", 1)
		req, err := find(t, compiled(t, document), "limits").NewRequest(t.Context(), nil, json.RawMessage(jsonText(t, args)))
		if err != nil {
			t.Fatal(err)
		}
		if req.URL.RawQuery != want.String() {
			t.Errorf("%d arguments: %s", n, req.URL.RawQuery)
		}
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAllowedServers checks that an allowed server besides the document's own must be an origin.
func TestAllowedServers(t *testing.T) {
	for text, want := range map[string]string{
		"https://other.example": "",
		"other.example":         `allowed server "other.example" is not an origin such as https://api.example.com`,
		"https://[::1":          `allowed server "https://[::1" is not an origin such as https://api.example.com`,
	} {
		doc, err := Load(t.Context(), writeFile(t, callSpec), LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := doc.Compile(t.Context(), CompileOptions{AllowServers: []string{text}}); !strings.HasSuffix(errorText(err), want) || (err == nil) != (want == "") {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

const takesDocument = `openapi: 3.1.0
info: {title: Takes, version: "1"}
servers: [{url: "https://takes.example"}]
paths:
  /p:
    get: {operationId: none, responses: {"200": {description: OK}}}
    put: {operationId: parameter, parameters: [{name: a, in: query, schema: {type: string}}], responses: {"200": {description: OK}}}
  /whole:
    post: {operationId: whole, requestBody: {content: {application/json: {schema: {type: array}}}}, responses: {"200": {description: OK}}}
  /root/{id}:
    post:
      operationId: members
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {a: {type: string}}}}}}
      responses: {"200": {description: OK}}
  /root:
    post: {operationId: closed, requestBody: {content: {application/json: {schema: {type: object, required: [a], properties: {a: {type: string}}}}}}, responses: {"200": {description: OK}}}
    put: {operationId: open, requestBody: {content: {application/json: {schema: {type: object, properties: {b: {type: string}}, additionalProperties: true}}}}, responses: {"200": {description: OK}}}
    patch: {operationId: typed, requestBody: {content: {application/json: {schema: {type: object, properties: {b: {type: string}}, additionalProperties: {type: string}}}}}, responses: {"200": {description: OK}}}
    delete: {operationId: either, requestBody: {content: {application/json: {schema: {type: object, properties: {b: {type: string}}, anyOf: [{properties: {c: {type: string}}}, {properties: {d: {type: string}}}]}}}}, responses: {"200": {description: OK}}}
    options: {operationId: patterns, requestBody: {content: {application/json: {schema: {type: object, properties: {b: {type: string}}, patternProperties: {"^x-": {type: string}}}}}}, responses: {"200": {description: OK}}}
`

// TestAcceptsArgument checks that an operation accepts its arguments, and others only if its body does.
func TestAcceptsArgument(t *testing.T) {
	api := compiled(t, takesDocument)
	for id, want := range map[string]bool{
		"none": false, "parameter": true, "whole": false, "members": true, "closed": true, "open": true, "typed": true, "either": true, "patterns": true,
	} {
		if got := find(t, api, id).AcceptsArgument("a"); got != want {
			t.Errorf("%s takes a: %t", id, got)
		}
	}
	for id, want := range map[string]bool{"none": false, "parameter": false, "whole": false, "members": false, "closed": false, "open": true, "typed": true, "either": true} {
		if got := find(t, api, id).AcceptsArgument("zzz"); got != want {
			t.Errorf("%s takes zzz: %t", id, got)
		}
	}
	if !find(t, api, "whole").AcceptsArgument("body") {
		t.Error("a body is no argument")
	}
	undecided := &Operation{Input: []byte(`{"type":"object"}`), body: &body{form: formRoot}}
	if undecided.AcceptsArgument("a") {
		t.Error("an argument of which nothing is said is taken")
	}
	undecided.Input = []byte(`{"type":"object","additionalProperties":false}`)
	if undecided.AcceptsArgument("a") {
		t.Error("an argument that is not allowed is taken")
	}
}

// TestFilesAmongMany checks that a file is found among as many alternatives as are visited, and not beyond (S3).
func TestFilesAmongMany(t *testing.T) {
	for _, tt := range []struct {
		before int
		file   bool
	}{{maxFileSteps - 2, true}, {maxFileSteps - 1, false}} {
		document := `openapi: 3.1.0
info: {title: Many, version: "1"}
servers: [{url: "https://many.example"}]
paths:
  /many:
    post:
      operationId: many
      requestBody:
        content:
          multipart/form-data:
            schema: {type: object, properties: {f: {anyOf: [` + strings.Repeat(`{type: integer}, `, tt.before) + `{type: string, format: binary}]}}}
      responses: {"200": {description: OK}}
`
		input := string(find(t, compiled(t, document), "many").Input)
		if got := strings.Contains(input, `"media_type"`); got != tt.file {
			t.Errorf("behind %d others a file is found: %t", tt.before, got)
		}
	}
}
