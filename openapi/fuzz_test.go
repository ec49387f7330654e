package openapi

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// FuzzLoadSpec checks that Load and Compile return for any bytes (S4), and that their results are usable.
func FuzzLoadSpec(f *testing.F) {
	// The documents of the corpus are too large: the fuzzer would spend its time on minimizing them.
	for _, dir := range []string{"requests", "compile", "answers"} {
		names, err := filepath.Glob("testdata/" + dir + "/*.txtar")
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			a := txtar.Parse(data)
			f.Add([]byte(file(a, "spec.yaml") + file(a, "spec.json")))
		}
	}
	f.Add([]byte(`{"swagger":"2.0","paths":{"/a":{"get":{"parameters":[{"in":"body"},{"in":"formData","name":"x"}]}}}}`))
	f.Add([]byte(`openapi: 3.1.0` + "\n" + `paths: {/a: {$ref: "#/paths/~1a"}, /b: {get: {$ref: "#/paths/~1b/get"}}}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(dir, "spec.yaml")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		doc, err := Load(t.Context(), name, LoadOptions{})
		if err != nil {
			if strings.Contains(err.Error(), "internal error") {
				t.Fatal(err)
			}
			return
		}
		api, err := doc.Compile(t.Context(), CompileOptions{})
		if err != nil {
			return
		}
		for _, s := range api.Skipped {
			if strings.Contains(s.Reason, "internal error") {
				t.Fatal(s)
			}
		}
		for _, op := range api.Operations {
			if !json.Valid(op.Input) {
				t.Fatalf("input of %s %s is not JSON: %s", op.Method, op.Path, op.Input)
			}
			if err := op.CheckSchema(); err != nil {
				t.Fatalf("%s %s: %v", op.Method, op.Path, err)
			}
			// Without arguments, the result is a request or a text for the model.
			_, err := op.NewRequest(t.Context(), &url.URL{Scheme: "http", Host: "h"}, nil)
			var m interface{ ToolMessage() string }
			if err != nil && !errors.As(err, &m) {
				t.Fatalf("%s %s: %v", op.Method, op.Path, err)
			}
		}
	})
}

const fuzzSpec = `
openapi: 3.1.0
info: {title: Fuzz, version: "1"}
paths:
  /a/{one}/b/{two}.json:
    post:
      parameters:
        - {name: one, in: path, required: true, schema: {}}
        - {name: two, in: path, required: true, schema: {}}
        - {name: q, in: query, schema: {}}
        - {name: d, in: query, style: deepObject, schema: {}}
        - {name: r, in: query, allowReserved: true, schema: {}}
        - {name: X-H, in: header, schema: {}}
        - {name: c, in: cookie, schema: {}}
      requestBody: {content: {application/json: {schema: {}}}}
`

// FuzzNewRequest checks that for any arguments, the request goes to the same host, below the base path, in as many
// segments as the template has, with no undeclared parameter and no line end in a header (R2, R3, R5, R6, R9).
func FuzzNewRequest(f *testing.F) {
	name := filepath.Join(f.TempDir(), "spec.yaml")
	if err := os.WriteFile(name, []byte(fuzzSpec), 0o600); err != nil {
		f.Fatal(err)
	}
	doc, err := Load(f.Context(), name, LoadOptions{})
	if err != nil {
		f.Fatal(err)
	}
	var ops []*Operation // without slashes, and with encoded ones in the first parameter
	for _, slashes := range [][]SlashParameter{nil, {{Name: "one", Encoded: true}}} {
		api, err := doc.Compile(f.Context(), CompileOptions{SlashParameters: slashes})
		if err != nil || len(api.Operations) != 1 {
			f.Fatal(err, api)
		}
		ops = append(ops, api.Operations[0])
	}
	// The document itself declares it: in its description, and with values that span segments.
	for _, said := range []string{`description: "URL-encoded"`, "x-multi-segment: true"} {
		spec := strings.Replace(fuzzSpec, "{name: one,", "{name: one, "+said+",", 1)
		if err := os.WriteFile(name, []byte(spec), 0o600); err != nil {
			f.Fatal(err)
		}
		if doc, err = Load(f.Context(), name, LoadOptions{}); err != nil {
			f.Fatal(err)
		}
		api, err := doc.Compile(f.Context(), CompileOptions{})
		if err != nil || len(api.Operations) != 1 {
			f.Fatal(err, api)
		}
		ops = append(ops, api.Operations[0])
	}
	base := &url.URL{Scheme: "https", Host: "api.example:8443", Path: "/base path/v1", RawPath: ""}
	for _, seed := range []string{
		`{"one":"x","two":"y","q":[1,2],"d":{"a":{"b":1}},"r":"a/b?c&d","X-H":"v","c":"v","body":{"x":1}}`,
		`{"one":"..","two":"%2e%2e"}`, `{"one":"a/../..","two":"\\..\\"}`, `{"one":"a","two":"b","q":"&x=1#"}`,
		`{"one":{"..":1},"two":[".",".."]}`, `{"one":"a","two":"b","X-H":"a\r\nB: c","c":"a;b=c"}`, `{"one":"a","two":"b","q":{"evil":1,"d":2}}`,
		`{"one":"//evil.example/","two":"http://evil.example"}`, `{"one":"%","two":"%25%32%65"}`, `"{\"one\":1,\"two\":2}"`,
		`{"one":"grp/prj","two":"b"}`, `{"one":"grp/../prj","two":"b"}`, `{"one":"grp%2f..","two":"b"}`, `{"one":"grp/%252e%252e/prj","two":"b"}`,
		`{"one":"grp\\..\\prj","two":"b"}`, `{"one":["grp/prj","/.."],"two":"b"}`, `{"one":"grp%2Fprj","two":"b"}`, `{"one":"a/b/c","two":"b"}`,
		`{"one":"%2e%2e%2f%2e%2e","two":"b"}`, `{"one":"a/%2e%2e/b","two":"b"}`, `{"one":"a//b","two":"b"}`, `{"one":"a/..","two":"/b"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, args string) {
		for _, op := range ops {
			checkRequest(t, op, base, args)
		}
	})
}

// checkSegment checks that no server could read a segment of the path as another path.
func checkSegment(t *testing.T, args, s string) {
	t.Helper()
	for range 6 {
		for part := range strings.SplitSeq(strings.ReplaceAll(s, `\`, "/"), "/") { // as decoded by the server
			if head, _, _ := strings.Cut(part, ";"); head == "." || head == ".." || strings.ContainsAny(s, "\x00\r\n") {
				t.Fatalf("%q: segment %q", args, s)
			}
		}
		next, err := url.PathUnescape(s)
		if err != nil {
			break
		}
		s = next
	}
}

// checkRequest checks the properties of every request of the operation of fuzzSpec.
func checkRequest(t *testing.T, op *Operation, base *url.URL, args string) {
	t.Helper()
	req, err := op.NewRequest(t.Context(), base, json.RawMessage(args))
	if err != nil {
		var m interface{ ToolMessage() string }
		if !errors.As(err, &m) {
			t.Fatalf("%q: %v", args, err)
		}
		if strings.Contains(m.ToolMessage(), "api.example") {
			t.Fatalf("%q: the message names the host: %s", args, m.ToolMessage())
		}
		return
	}
	text := req.URL.String()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatalf("%q: %q: %v", args, text, err)
	}
	if u.Scheme != "https" || u.Host != "api.example:8443" || req.Host != u.Host || u.User != nil || u.Fragment != "" || req.Method != "POST" {
		t.Fatalf("%q: goes to %q", args, text)
	}
	segments := strings.Split(u.EscapedPath(), "/")
	if one := op.arguments[op.index["one"]]; one.encoder.Spans() && len(segments) > 7 {
		if slices.Contains(segments[1:], "") {
			t.Fatalf("%q: empty segment in %q", args, u.EscapedPath())
		}
		for _, s := range segments[5 : len(segments)-2] {
			checkSegment(t, args, s)
		}
		segments = slices.Delete(segments, 5, len(segments)-2)
	}
	if len(segments) != 7 || segments[1] != "base%20path" || segments[2] != "v1" || segments[3] != "a" || segments[5] != "b" ||
		!strings.HasSuffix(segments[6], ".json") {
		t.Fatalf("%q: path %q", args, u.EscapedPath())
	}
	for _, s := range segments[1:] {
		checkSegment(t, args, s)
	}
	if strings.ContainsAny(text, "\r\n \x00") {
		t.Fatalf("%q: URL %q", args, text)
	}
	for key, values := range req.Header {
		for _, v := range append(values, key) {
			if strings.ContainsAny(v, "\r\n\x00") {
				t.Fatalf("%q: header %q: %q", args, key, v)
			}
		}
		switch key {
		case "Accept", "Content-Type", "Cookie", "X-H":
		default:
			t.Fatalf("%q: header %q", args, key)
		}
	}
}
