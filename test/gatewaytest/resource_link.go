package gatewaytest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// LinkDocument is a document of operations with large responses.
const LinkDocument = `openapi: 3.1.0
info: {title: Files, version: "1"}
paths:
  /files/{name}:
    get:
      operationId: getFile
      parameters:
        - {name: name, in: path, required: true, schema: {type: string}}
        - {name: X-Part, in: header, schema: {type: string}}
      responses: {"200": {description: ok, content: {application/json: {schema: {type: object, properties: {data: {type: string}}}}}}}
    post:
      operationId: postFile
      parameters: [{name: name, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: ok}}
`

// FileService answers with as many bytes of JSON as the name says, or with a picture.
func FileService(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/picture") {
			w.Header().Set("Content-Type", "image/png")
			_, _ = io.WriteString(w, "\x89PNG\r\n\x1a\n")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/large") {
			_, _ = fmt.Fprintf(w, `{"data":%q,"part":%q}`, strings.Repeat("x", 2000), r.Header.Get("X-Part"))
			return
		}
		_, _ = io.WriteString(w, `{"data":"x"}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// LinkConfig is a configuration that turns them into links.
const LinkConfig = "apis: [{name: files, spec: $SPEC, base_url: $BASE, links: {over: 1KiB, binary: true, ttl: 1m}}]\n"
