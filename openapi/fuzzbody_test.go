package openapi

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const fuzzBodySpec = `
openapi: 3.1.0
info: {title: Fuzz, version: "1"}
paths:
  /multipart:
    post:
      requestBody:
        content:
          multipart/form-data:
            schema: {type: object, properties: {file: {type: string, format: binary}, files: {type: array, items: {format: binary}}, any: {}, deep: {}, list: {}}, additionalProperties: true}
            encoding: {deep: {style: deepObject}, list: {style: pipeDelimited, explode: false}, any: {headers: {X-Part: {schema: {const: a}}}}}
  /unknown: {post: {requestBody: {content: {multipart/form-data: {}}}}}
  /mixed: {post: {requestBody: {content: {multipart/mixed: {schema: {type: object, properties: {a: {}, b: {contentMediaType: image/png}}, additionalProperties: true}}}}}}
  /xml:
    post:
      requestBody:
        content:
          application/xml:
            schema: {$ref: "#/components/schemas/Node"}
  /json: {post: {requestBody: {content: {application/json: {schema: {type: object, properties: {a: {}, "b[c]": {}}, additionalProperties: true}}}}}}
  /lines: {post: {requestBody: {content: {application/x-ndjson: {schema: {}}}}}}
  /form:
    post:
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema: {type: object, properties: {a: {}, deep: {}, list: {}}, additionalProperties: true}
            encoding: {deep: {style: deepObject}, list: {style: spaceDelimited, explode: false}}
components:
  schemas:
    Node:
      type: object
      xml: {name: node, prefix: n, namespace: "urn:n"}
      additionalProperties: true
      properties:
        id: {xml: {attribute: true}}
        text: {xml: {nodeType: cdata}}
        child: {$ref: "#/components/schemas/Node"}
        list: {type: array, xml: {wrapped: true}, items: {$ref: "#/components/schemas/Node"}}
`

// FuzzBuildBody checks that for any arguments, a body is well-formed in its media type according to an independent
// reader, or the arguments are refused with an error for the model. No argument adds a part, a header, a pair or an
// element of its own (R8).
func FuzzBuildBody(f *testing.F) {
	name := filepath.Join(f.TempDir(), "spec.yaml")
	if err := os.WriteFile(name, []byte(fuzzBodySpec), 0o600); err != nil {
		f.Fatal(err)
	}
	doc, err := Load(f.Context(), name, LoadOptions{})
	if err != nil {
		f.Fatal(err)
	}
	api, err := doc.Compile(f.Context(), CompileOptions{})
	if err != nil || len(api.Operations) != 7 {
		f.Fatal(err, api)
	}
	for _, seed := range []string{
		`{"file":{"text":"x","filename":"a\r\nX: y\".txt","media_type":"a/b"},"any":{"a":[1]},"deep":{"a":{"b":[1]}},"list":["a"]}`,
		`{"files":[{"data":"data:text/plain;name=a%0d%0a.txt;x=\"y,aGk="},{"data":"AA=="}],"a\r\n\r\n--":1,"\"":2}`,
		`{"file":{"text":"\r\n--drawbridge-"},"a\\":"x","deep[x]":1}`, `{"body":{"a":1}}`, `{"body":[1,"\n",{"x":2}]}`,
		`{"id":"\"<","text":"]]>","child":{"id":1,"list":[{"text":"\r"}]},"x y":1}`, `{"child":{"child":{"child":{}}}}`, `{"id":"\u0000"}`,
		`{"a":"&b=c","deep":{"x]":1},"list":["a b"],"b_c":1}`, `{"file":{"data":"!"}}`, `{"file":"data:,x"}`,
	} {
		f.Add(seed)
	}
	base := &url.URL{Scheme: "https", Host: "api.example"}
	f.Fuzz(func(t *testing.T, args string) {
		for _, op := range api.Operations {
			req, err := op.NewRequest(t.Context(), base, json.RawMessage(args))
			if err != nil {
				var m interface{ ToolMessage() string }
				if !errors.As(err, &m) {
					t.Fatalf("%s %q: %v", op.Path, args, err)
				}
				continue
			}
			if req.Body == nil {
				continue
			}
			body, err := io.ReadAll(req.Body)
			if err != nil || int64(len(body)) != req.ContentLength {
				t.Fatalf("%s %q: %d bytes, %v; ContentLength is %d", op.Path, args, len(body), err, req.ContentLength)
			}
			checkBody(t, op, args, req, body)
		}
	})
}

func checkBody(t *testing.T, op *Operation, args string, req *http.Request, body []byte) {
	t.Helper()
	media, parameters, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if err != nil || len(req.Header["Content-Type"]) != 1 {
		t.Fatalf("%s %q: Content-Type %q: %v", op.Path, args, req.Header["Content-Type"], err)
	}
	switch {
	case strings.HasPrefix(media, "multipart/"):
		// Every delimiter is one of ours: as many as there are parts, and the last.
		delimiters := bytes.Count(body, []byte(parameters["boundary"]))
		reader := multipart.NewReader(bytes.NewReader(body), parameters["boundary"])
		for parts := 0; ; parts++ {
			p, err := reader.NextRawPart()
			if errors.Is(err, io.EOF) {
				if parts+1 != delimiters {
					t.Fatalf("%s %q: %d parts, %d delimiters: %q", op.Path, args, parts, delimiters, body)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s %q: %v: %q", op.Path, args, err, body)
			}
			checkPart(t, op, args, media, p.Header)
		}
	case media == "application/xml":
		d := xml.NewDecoder(bytes.NewReader(body))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Fatalf("%s %q: %v: %s", op.Path, args, err, body)
			}
		}
	case media == "application/json":
		if !json.Valid(body) {
			t.Fatalf("%s %q: not JSON: %s", op.Path, args, body)
		}
	case media == "application/x-www-form-urlencoded":
		values, err := url.ParseQuery(string(body))
		if err != nil {
			t.Fatalf("%s %q: %v: %s", op.Path, args, err, body)
		}
		for name := range values {
			if strings.HasPrefix(name, "list[") {
				t.Fatalf("%s %q: %q has two meanings: %s", op.Path, args, name, body)
			}
		}
	}
}

// checkPart checks the head of a part: it contains only headers of the document and the gateway.
func checkPart(t *testing.T, op *Operation, args, media string, header textproto.MIMEHeader) {
	t.Helper()
	for name, values := range header {
		if !slices.Contains([]string{"Content-Disposition", "Content-Type", "X-Part"}, name) || len(values) != 1 {
			t.Fatalf("%s %q: header %q: %q", op.Path, args, name, values)
		}
	}
	if media != "multipart/form-data" {
		return
	}
	disposition, parameters, err := mime.ParseMediaType(header.Get("Content-Disposition"))
	if err != nil || disposition != "form-data" {
		t.Fatalf("%s %q: %q: %v", op.Path, args, header.Get("Content-Disposition"), err)
	}
	for name := range parameters {
		if name != "name" && name != "filename" {
			t.Fatalf("%s %q: Content-Disposition has %q", op.Path, args, name)
		}
	}
}
