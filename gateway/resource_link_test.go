package gateway

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/gateway/deliver"
)

const linkDocument = `openapi: 3.1.0
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

// fileService answers with as many bytes of JSON as the name says, or with a picture.
func fileService(t *testing.T) *httptest.Server {
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

type linkResult struct {
	Content           []struct{ Type, Text, URI, Name, MIMEType string }
	StructuredContent json.RawMessage
	Contents          []struct{ URI, Text string }
}

func linkAnswer(t *testing.T, w *httptest.ResponseRecorder) (r linkResult) {
	t.Helper()
	var answer struct{ Result linkResult }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return answer.Result
}

const linkConfig = "apis: [{name: files, spec: $SPEC, base_url: $BASE, links: {over: 1KiB, binary: true, ttl: 1m}}]\n"

// TestLinks holds which answers become links, and that a link reads the same call.
func TestLinks(t *testing.T) {
	service := fileService(t)
	g := start(t, linkDocument, linkConfig, service.URL)
	for _, revision := range []string{"2026-07-28", "2025-06-18", "2025-03-26"} {
		c := newClient(t, g.Handler(), revision, "")
		for _, tt := range []struct {
			tool, arguments string
			link            bool
			text            string
		}{
			{"getFile", `{"name":"large","X-Part":"7"}`, true, "The answer, 2022 bytes of JSON, an object with the members data, part, is behind this link. Read the resource within 1m, which repeats the request."},
			{"getFile", `{"name":"small"}`, false, ""},
			{"getFile", `{"name":"picture"}`, true, "The answer, 8 bytes of image/png, is behind this link. Read the resource within 1m, which repeats the request."},
			{"postFile", `{"name":"large"}`, false, ""},
			{"getFile", fmt.Sprintf(`{"name":"large","X-Part":%q}`, strings.Repeat("y", 4000)), false, ""},
		} {
			r := linkAnswer(t, c.send("tools/call", tt.tool, tt.arguments))
			link := len(r.Content) == 2 && r.Content[1].Type == "resource_link"
			if link != (tt.link && revision >= "2025-06-18") {
				t.Errorf("%s, %s: %+v", revision, tt.arguments, r)
				continue
			}
			if !link {
				continue
			}
			if r.Content[0].Text != tt.text || string(r.StructuredContent) != "{}" || r.Content[1].Name != "getFile" {
				t.Errorf("%s, %s: %+v", revision, tt.arguments, r)
			}
			if !strings.Contains(tt.arguments, "7") {
				continue
			}
			contents := linkAnswer(t, c.read(r.Content[1].URI)).Contents
			if len(contents) != 1 || contents[0].URI != r.Content[1].URI || !strings.HasSuffix(contents[0].Text, `x","part":"7"}`) {
				t.Errorf("%s: %+v", revision, contents)
			}
		}
	}
}

// TestLinkToResource holds that an operation that can be read gives its own URI, if that tells all arguments.
func TestLinkToResource(t *testing.T) {
	service := fileService(t)
	g := start(t, linkDocument, linkConfig+`rules: [{match: {method: GET}, set: {resource: {uri: "files:{name}"}}}]`+"\n", service.URL)
	c := newClient(t, g.Handler(), "2026-07-28", "")
	for arguments, want := range map[string]string{`{"name":"large"}`: "files:large", `{"name":"large","X-Part":"7"}`: deliver.LinkScheme} {
		r := linkAnswer(t, c.send("tools/call", "getFile", arguments))
		if len(r.Content) != 2 || !strings.HasPrefix(r.Content[1].URI, want) {
			t.Errorf("%s: %+v", arguments, r)
		}
	}
}

// TestLinksAreBound holds that a link opens for its caller alone, and lets nobody do what he may not.
func TestLinksAreBound(t *testing.T) {
	i, service := newIDP(t), fileService(t)
	cfg := strings.Replace(fmt.Sprintf(protectedConfig, issuers(i)), "base_url: $BASE,", "base_url: $BASE, links: {over: 1KiB},", 1)
	cfg = strings.Replace(cfg, "operation: purge", "operation: getFile", 1)
	g := start(t, linkDocument, cfg, service.URL)
	client := func(subject, scope string) *client {
		return newClient(t, g.Handler(), "2026-07-28", i.token(t, map[string]any{"sub": subject, "scope": scope}))
	}
	uri := linkAnswer(t, client("ada", "orders:admin").send("tools/call", "getFile", `{"name":"large"}`)).Content[1].URI
	if w := client("ada", "orders:admin").read(uri); w.Code != 200 {
		t.Errorf("its caller: %d %s", w.Code, w.Body)
	}
	const lost = "resource not found: a link is good for a limited time"
	if w := client("bob", "orders:admin").read(uri); w.Code != 400 || !strings.Contains(w.Body.String(), lost) {
		t.Errorf("another: %d %s", w.Code, w.Body)
	}
	if w := client("ada", "mcp:tools").read(uri); w.Code != 403 {
		t.Errorf("its caller, with less: %d %s", w.Code, w.Body)
	}
	if w := client("ada", "orders:admin").read(uri[:len(uri)-1]); w.Code != 400 || !strings.Contains(w.Body.String(), lost) {
		t.Errorf("altered: %d %s", w.Code, w.Body)
	}
}

// TestLinksExpire holds that a link ends, and that one of a tool that is gone, or that changes something, reads nothing.
func TestLinksExpire(t *testing.T) {
	service := fileService(t)
	g := start(t, linkDocument, linkConfig, service.URL)
	synctest.Test(t, func(t *testing.T) {
		e := g.current.Load().Main
		seal := func(tool string) string {
			return deliver.LinkScheme + g.links.Seal([]byte(tool+"\n{}"), time.Now().Add(time.Minute), "ada")
		}
		good := seal("getFile")
		if p, args := e.ToRead(good, "ada"); p == nil || string(args) != "{}" {
			t.Errorf("plan %+v, arguments %s", p, args)
		}
		for _, uri := range []string{seal("postFile"), seal("gone"), deliver.LinkScheme, deliver.LinkScheme + strings.Repeat("a", deliver.MaxLink)} {
			if p, _ := e.ToRead(uri, "ada"); p != nil {
				t.Errorf("%s is read by %s", uri, p.Tool.Name)
			}
		}
		time.Sleep(time.Minute)
		if p, _ := e.ToRead(good, "ada"); p != nil {
			t.Error("the link has no end")
		}
	})
}
