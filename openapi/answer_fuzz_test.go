package openapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

const answerFuzzSpec = `
openapi: 3.2.0
info: {title: Fuzz, version: "1"}
paths:
  /json: {get: {responses: {"200": {description: OK, content: {application/json: {schema: {type: object, properties: {id: {type: integer}, tags: {type: array, items: {type: string}}}}}}}}}}
  /list: {get: {responses: {"200": {description: OK, content: {application/jsonl: {itemSchema: {type: object, properties: {id: {type: integer}}}}}}}}}
  /events: {get: {responses: {"200": {description: OK, content: {text/event-stream: {}}}}}}
  /any: {get: {responses: {"200": {description: OK}}}}
`

// FuzzReadResponse checks that answer.Plan.Read returns for any response: a JSON part is JSON without white space, a
// text is UTF-8, names have no invisible characters, all parts but the last report that more follow, and the result is
// not much larger than the response.
func FuzzReadResponse(f *testing.F) {
	name := filepath.Join(f.TempDir(), "spec.yaml")
	if err := os.WriteFile(name, []byte(answerFuzzSpec), 0o600); err != nil {
		f.Fatal(err)
	}
	doc, err := Load(f.Context(), name, LoadOptions{})
	if err != nil {
		f.Fatal(err)
	}
	api, err := doc.Compile(f.Context(), CompileOptions{ReadableHTML: true})
	if err != nil || len(api.Operations) != 4 {
		f.Fatal(err, api)
	}
	cases, err := filepath.Glob("testdata/answers/*.txtar")
	if err != nil || len(cases) == 0 {
		f.Fatal("no cases", err)
	}
	for i, name := range cases {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			if !strings.HasSuffix(file.Name, ".answer") {
				continue
			}
			head, body, _ := bytes.Cut(file.Data, []byte("\n\n"))
			contentType, disposition := "", ""
			for line := range strings.Lines(string(head)) {
				key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
				switch key {
				case "Content-Type":
					contentType = value
				case "Content-Disposition":
					disposition = value
				}
			}
			f.Add(byte(i), contentType, disposition, body)
		}
	}
	f.Fuzz(func(t *testing.T, choice byte, contentType, disposition string, body []byte) {
		op := api.Operations[int(choice)%len(api.Operations)]
		status := 200
		if choice&0x10 != 0 {
			status = 500
		}
		var reader io.Reader = bytes.NewReader(body)
		if choice&0x20 != 0 {
			reader = io.MultiReader(reader, timeoutReader{})
		}
		resp := &http.Response{StatusCode: status, ContentLength: int64(len(body)), Body: io.NopCloser(reader),
			Header: http.Header{"Content-Type": {contentType}, "Content-Disposition": {disposition}}}
		size, parts, more := 0, 0, false
		err := readParts(op.Answers, resp, func(p answer.Part) error {
			if parts > 0 && !more {
				t.Fatal("a part after the last")
			}
			size, parts, more = size+len(p.Data), parts+1, p.More
			switch p.Kind {
			case answer.JSON:
				info, err := jsonscan.Scan(p.Data, jsonscan.Options{MaxDepth: jsonscan.DefaultMaxDepth + 2})
				if err != nil || info.Spaced {
					t.Fatalf("not compact JSON: %v: %q", err, p.Data)
				}
			case answer.Text:
				if !utf8.Valid(p.Data) {
					t.Fatalf("not UTF-8: %q", p.Data)
				}
			case answer.Image, answer.Audio, answer.Binary:
			}
			if p.Wrapped && p.Drift == "" && op.Output == nil {
				t.Fatal("wrapped without a schema")
			}
			for _, name := range []string{p.File, p.Field} {
				if len(name) > 255 || strings.ContainsAny(name, "/\\\r\n\x00") || !utf8.ValidString(name) {
					t.Fatalf("name %q", name)
				}
			}
			return nil
		})
		if err == nil && more {
			t.Fatal("the last part says that more follows")
		}
		var broken *answer.Error
		switch {
		case err == nil:
		case errors.As(err, &broken):
			if parts > 0 {
				t.Fatalf("%d parts of an answer that is refused: %v", parts, err)
			}
			if m := broken.ToolMessage(); !utf8.ValidString(m) || len(m) > 600 {
				t.Fatalf("message %q", m)
			}
		case choice&0x20 == 0 || !strings.HasPrefix(err.Error(), "read answer: "):
			t.Fatal(err)
		}
		if most := 8*len(body) + 256; size > most {
			t.Fatalf("%d bytes of parts of %d of the answer", size, len(body))
		}
	})
}
