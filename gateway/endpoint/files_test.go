package endpoint_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

const fileDocument = `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /report: {get: {operationId: report, responses: {"200": {description: ok, content: {application/pdf: {}}}}}}
  /export: {post: {operationId: export, responses: {"200": {description: ok, content: {text/csv: {schema: {type: string}}}}}}}
  /any: {get: {operationId: any, parameters: [{name: kind, in: query, schema: {type: string}}], responses: {"200": {description: ok, content: {"*/*": {}}}}}}
`

// fileService answers with files of many kinds. The name of one is hostile.
func fileService(t *testing.T) (service *httptest.Server, report, export []byte) {
	t.Helper()
	report = make([]byte, 300_000)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(report)
	copy(report, "%PDF-1.7\n")
	var rows bytes.Buffer
	rows.WriteString("id,name\n")
	for n := range 20_000 {
		fmt.Fprintf(&rows, "%d,Chair %d\n", n+1, n+1)
	}
	export = bytes.Replace(rows.Bytes(), []byte("Chair 15000\n"), []byte("upstream-key\n"), 1)
	service = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		send := func(mediaType string, content []byte) {
			w.Header().Set("Content-Type", mediaType)
			_, _ = w.Write(content)
		}
		switch r.URL.Path + r.URL.Query().Get("kind") {
		case "/report":
			w.Header().Set("Content-Disposition", `attachment; filename="../../etc/r\"éport.pdf"`)
			send("application/pdf", report)
		case "/export":
			send("text/csv", export)
		case "/anysmall":
			send("application/pdf", report[:50_000])
		case "/anyexact":
			send("application/pdf", report[:100_000])
		case "/anyone-more":
			send("application/pdf", report[:100_001])
		case "/anyjson":
			send("application/json", []byte(`{"data":"`+strings.Repeat("x ", 100_000)+`"}`))
		case "/anyhidden-json":
			send("application/octet-stream", []byte(`{"data":"`+strings.Repeat("x ", 100_000)+`"}`))
		case "/anypage":
			send("text/html", []byte("<!DOCTYPE html><script>alert(1)</script>"+strings.Repeat("<p>x</p>", 30_000)))
		case "/anyfalse-page":
			send("application/pdf", []byte("<!DOCTYPE html><script>alert(1)</script>"+strings.Repeat("<p>x</p>", 30_000)))
		case "/anysvg":
			send("image/svg+xml", []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script>`+strings.Repeat("<g/>", 50_000)+"</svg>"))
		case "/anyhuge":
			send("application/pdf", bytes.Repeat(report, 4))
		case "/anyhuge-stream":
			for range 4 {
				send("application/pdf", report)
				_ = http.NewResponseController(w).Flush()
			}
		case "/anyhostile-labels":
			w.Header().Set("Content-Disposition", "attachment; filename*=UTF-8''"+strings.Repeat("%3C%26", 100)+"%0D%0ASet-Cookie%3A%20a%3Db%E2%80%AEfdp.exe%22")
			send("application/x-"+strings.Repeat("y", 5000), report[9:])
		case "/anycut":
			w.Header().Set("Content-Length", strconv.Itoa(len(report)))
			send("application/pdf", report[:200_000])
		}
	}))
	t.Cleanup(service.Close)
	return service, report, export
}

// fileGateway is a gateway that stores files.
func fileGateway(t *testing.T, idp *gatewaytest.IDP, base, limits string) (g *gateway.Gateway, dir string) {
	t.Helper()
	dir = t.TempDir()
	cfg := strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(idp)), "server: {",
		fmt.Sprintf("server: {state_dir: %q, seal_keys: [%q], ", dir, strings.Repeat("k", 32)), 1)
	return gatewaytest.Start(t, fileDocument, cfg+"files: {"+limits+"}\n", base), dir
}

const fileLimits = "max_size: 1MB, quota: 4MB, max_total: 10MB"

// fileResult is a result with a link to a file.
type fileResult struct {
	IsError bool
	Content []struct {
		Type, Text, URI, Name, MIMEType string
		Size                            int
	}
	Contents []struct {
		URI, MIMEType, Text string
		Blob                []byte
	}
}

func fileAnswer(t *testing.T, w *httptest.ResponseRecorder) (r fileResult) {
	t.Helper()
	var answer struct{ Result fileResult }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%v: %.300s", err, w.Body)
	}
	return answer.Result
}

// storedFile calls a tool that answers with a file, and returns its URI.
func storedFile(t *testing.T, c *gatewaytest.Client, tool, arguments string) (uri string, r fileResult) {
	t.Helper()
	w := c.Send("tools/call", tool, arguments)
	r = fileAnswer(t, w)
	if len(r.Content) != 2 || r.Content[1].Type != "resource_link" || r.IsError {
		t.Fatalf("%s %s is no file: %.500s", tool, arguments, w.Body)
	}
	return r.Content[1].URI, r
}

// download gets a file over HTTP.
func download(g *gateway.Gateway, path, token string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "https://mcp.example.com"+path, nil)
	for name, values := range header {
		r.Header[name] = values
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	g.Handler().ServeHTTP(w, r)
	return w
}

// TestFiles holds that a response that is too large for a model becomes a file of the caller, whatever its method, which comes back byte for
// byte in each way: as a resource, in slices, and as a download.
func TestFiles(t *testing.T) {
	idp := gatewaytest.NewIDP(t)
	service, report, export := fileService(t)
	g, _ := fileGateway(t, idp, service.URL, fileLimits)
	token := idp.Token(t, nil)
	for _, revision := range gatewaytest.Eras {
		c := gatewaytest.NewClient(t, g.Handler(), revision, token)
		uri, r := storedFile(t, c, "report", "{}")
		if link := r.Content[1]; link.Name != `r"éport.pdf` || link.MIMEType != "application/pdf" || link.Size != len(report) {
			t.Errorf("%s: %+v", revision, link)
		}
		if contents := fileAnswer(t, c.Read(uri)).Contents; len(contents) != 1 || !bytes.Equal(contents[0].Blob, report) {
			t.Errorf("%s: the resource differs", revision)
		}
		if contents := fileAnswer(t, c.Read(uri+"?bytes=1000-1999")).Contents; len(contents) != 1 || !bytes.Equal(contents[0].Blob, report[1000:2000]) {
			t.Errorf("%s: a range of the resource differs", revision)
		}
		if w := c.Read(uri + "?bytes=300000-300001"); !strings.Contains(w.Body.String(), "the file has 300000 bytes") {
			t.Errorf("%s: %s", revision, w.Body)
		}
		if text := fileAnswer(t, c.Send("tools/call", "read_file", `{"uri":"`+uri+`"}`)).Content[0].Text; !strings.Contains(text, "is not text") {
			t.Errorf("%s: %s", revision, text)
		}

		uri, r = storedFile(t, c, "export", "{}")
		if text := r.Content[0].Text; !strings.Contains(text, "It begins:\nid,name\n1,Chair 1\n") || strings.Contains(text, "Chair 20\n") {
			t.Errorf("%s: %s", revision, text)
		}
		clean := bytes.Replace(export, []byte("upstream-key"), []byte("[redacted]"), 1)
		if contents := fileAnswer(t, c.Read(uri)).Contents; len(contents) != 1 || contents[0].Text != string(clean) {
			t.Errorf("%s: the export differs", revision)
		}
		if text := fileAnswer(t, c.Send("tools/call", "read_file", `{"uri":"`+uri+`","contains":"chair 19999"}`)).Content[0].Text; !strings.Contains(text, "\nid,name\n20000: 19999,Chair 19999\n") {
			t.Errorf("%s: %s", revision, text)
		}
		if w := c.Send("tools/list", "", ""); strings.Count(w.Body.String(), `"read_file"`) != 1 {
			t.Errorf("%s: read_file is not listed", revision)
		}
	}
	if w := gatewaytest.NewClient(t, g.Handler(), "2024-11-05", token).Send("tools/call", "report", "{}"); strings.Contains(w.Body.String(), "resource_link") || !strings.Contains(w.Body.String(), "drawbridge-file:") {
		t.Errorf("2024-11-05: %.300s", w.Body)
	}
}

// TestStoredKinds holds which responses are stored: what a model can read in another way, and what a browser would execute, is not.
func TestStoredKinds(t *testing.T) {
	idp := gatewaytest.NewIDP(t)
	service, _, _ := fileService(t)
	g, dir := fileGateway(t, idp, service.URL, fileLimits)
	c := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", idp.Token(t, nil))
	for kind, want := range map[string]bool{"small": false, "exact": false, "one-more": true, "json": false, "hidden-json": false, "page": false, "false-page": false, "svg": true} {
		if w := c.Send("tools/call", "any", `{"kind":"`+kind+`"}`); strings.Contains(w.Body.String(), "drawbridge-file:") != want || strings.Contains(w.Body.String(), `"isError":true`) {
			t.Errorf("%s: %.300s", kind, w.Body)
		}
	}
	before := filesBelow(t, dir)
	for kind, want := range map[string]string{
		"huge": "TOO LARGE", "huge-stream": "The file is larger than 1000000 bytes", "cut": "broke off",
	} {
		w := c.Send("tools/call", "any", `{"kind":"`+kind+`"}`)
		if r := fileAnswer(t, w); !r.IsError || want != "TOO LARGE" && !strings.Contains(r.Content[0].Text, want) {
			t.Errorf("%s: %.400s", kind, w.Body)
		}
	}
	if after := filesBelow(t, dir); after != before {
		t.Errorf("%d files are on disk, %d were", after, before)
	}
}

func filesBelow(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "files"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestDownload holds the headers and ranges of downloads, and that none is displayed or carries a cookie.
func TestDownload(t *testing.T) {
	idp := gatewaytest.NewIDP(t)
	service, report, _ := fileService(t)
	g, _ := fileGateway(t, idp, service.URL, fileLimits)
	token := idp.Token(t, nil)
	c := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", token)
	uri, _ := storedFile(t, c, "report", "{}")
	id := strings.TrimPrefix(uri, "drawbridge-file:")
	svg, _ := storedFile(t, c, "any", `{"kind":"svg"}`)
	for _, path := range []string{"/files/" + id, "/files/" + strings.TrimPrefix(svg, "drawbridge-file:")} {
		w := download(g, path, token, nil)
		h := w.Header()
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox", "Set-Cookie": "", "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", path, name, h.Get(name), want)
			}
		}
		if w.Code != 200 || !strings.HasPrefix(h.Get("Content-Disposition"), "attachment") || strings.Contains(h.Get("Content-Disposition"), "etc") {
			t.Errorf("%s: %d %v", path, w.Code, h)
		}
	}
	hostile, _ := storedFile(t, c, "any", `{"kind":"hostile-labels"}`)
	if h := download(g, "/files/"+strings.TrimPrefix(hostile, "drawbridge-file:"), token, nil).Header(); h.Get("Set-Cookie") != "" || strings.Contains(h.Get("Content-Disposition"), "%E2%80%AE") || len(h.Get("Content-Type")) > 200 {
		t.Errorf("hostile labels: %v", h)
	}
	etag := `"` + id + `"`
	for _, tt := range []struct {
		header http.Header
		status int
		body   []byte
	}{
		{nil, 200, report},
		{http.Header{"Range": {"bytes=10-19"}}, 206, report[10:20]},
		{http.Header{"Range": {"bytes=-5"}}, 206, report[len(report)-5:]},
		{http.Header{"Range": {"bytes=299999-"}}, 206, report[299_999:]},
		{http.Header{"Range": {"bytes=300000-"}}, 416, nil},
		{http.Header{"Range": {"bytes=5-2"}}, 416, nil},
		{http.Header{"Range": {"lines=1-2"}}, 416, nil},
		{http.Header{"Range": {"bytes=" + strings.Repeat("0-,", 2000) + "0-"}}, 200, report},   // more bytes than the file has
		{http.Header{"Range": {"bytes=" + strings.Repeat("0-0,", 2000) + "0-0"}}, 200, report}, // each would cost a chunk of the file
		{http.Header{"Range": {"bytes=10-19"}, "If-Range": {`"other"`}}, 200, report},
		{http.Header{"Range": {"bytes=10-19"}, "If-Range": {etag}}, 206, report[10:20]},
		{http.Header{"If-None-Match": {etag}}, 304, []byte{}},
	} {
		w := download(g, "/files/"+id, token, tt.header)
		if w.Code != tt.status || tt.body != nil && !bytes.Equal(w.Body.Bytes(), tt.body) {
			t.Errorf("%.60v = %d, %d bytes", tt.header, w.Code, w.Body.Len())
		}
	}
	r := httptest.NewRequest(http.MethodDelete, "https://mcp.example.com/files/"+id, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	if g.Handler().ServeHTTP(w, r); w.Code != 405 {
		t.Errorf("DELETE = %d", w.Code)
	}
}

// TestForeignFiles holds that nobody but its caller learns of a file, in any way: a foreign one answers as one that never existed.
func TestForeignFiles(t *testing.T) {
	idp := gatewaytest.NewIDP(t)
	service, _, _ := fileService(t)
	g, _ := fileGateway(t, idp, service.URL, fileLimits)
	alice := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", idp.Token(t, nil))
	uri, _ := storedFile(t, alice, "report", "{}")
	id := strings.TrimPrefix(uri, "drawbridge-file:")
	const never = "aaaaaaaaaaaaaaaa"
	bobs := idp.Token(t, map[string]any{"sub": "bob"})
	bob := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", bobs)
	if got, want := download(g, "/files/"+id, bobs, nil), download(g, "/files/"+never, bobs, nil); got.Code != 404 || got.Body.String() != want.Body.String() {
		t.Errorf("GET = %d %s, want %d %s", got.Code, got.Body, want.Code, want.Body)
	}
	same := func(what string, get func(id string) *httptest.ResponseRecorder) {
		t.Helper()
		got, want := get(id), get(never)
		if got.Code != want.Code || strings.ReplaceAll(got.Body.String(), id, never) != want.Body.String() && !strings.Contains(got.Body.String(), "There is no such file for you") || bytes.Contains(got.Body.Bytes(), []byte("PDF")) {
			t.Errorf("%s = %d %s, want %d %s", what, got.Code, got.Body, want.Code, want.Body)
		}
	}
	same("resources/read", func(id string) *httptest.ResponseRecorder { return bob.Read("drawbridge-file:" + id) })
	same("read_file", func(id string) *httptest.ResponseRecorder {
		return bob.Send("tools/call", "read_file", `{"uri":"drawbridge-file:`+id+`"}`)
	})
	for _, path := range []string{"/files/" + strings.ToUpper(id), "/files/" + id + "%2f..", "/files/..%2f" + id, "/files/" + id + "/", "/files/" + id + ".file", "/files/.writing-" + id, "/files/"} {
		if w := download(g, path, idp.Token(t, nil), nil); w.Code != 404 {
			t.Errorf("%s = %d", path, w.Code)
		}
	}
	for _, uri := range []string{"drawbridge-file:../" + id, "drawbridge-file:" + id + "?bytes=0-9&x", "drawbridge-file:" + id + "#1", "drawbridge-file://" + id} {
		if w := alice.Read(uri); !strings.Contains(w.Body.String(), "resource not found") {
			t.Errorf("%s: %s", uri, w.Body)
		}
	}
	for name, token := range map[string]string{"no token": "", "an expired token": idp.Token(t, map[string]any{"exp": 1}), "a foreign token": gatewaytest.NewIDP(t).Token(t, nil)} {
		if w := download(g, "/files/"+id, token, nil); w.Code != 401 {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	if w := download(g, "/files/"+id, idp.Token(t, nil), http.Header{"Origin": {"https://evil.example.com"}}); w.Code != 403 {
		t.Errorf("a foreign origin: %d", w.Code)
	}
}

// TestFileQuota holds that a caller with full quota gets a clear error that does not invite to repeat the call, and that others go on.
func TestFileQuota(t *testing.T) {
	idp := gatewaytest.NewIDP(t)
	service, _, _ := fileService(t)
	g, _ := fileGateway(t, idp, service.URL, "max_size: 350KB, quota: 500KB, max_total: 1MB")
	alice, bob := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", idp.Token(t, nil)), gatewaytest.NewClient(t, g.Handler(), "2026-07-28", idp.Token(t, map[string]any{"sub": "bob"}))
	storedFile(t, alice, "report", "{}")
	if r := fileAnswer(t, alice.Send("tools/call", "export", "{}")); !r.IsError || !strings.Contains(r.Content[0].Text, "larger than 500000 bytes together") || !strings.Contains(r.Content[0].Text, "The call took effect: do not repeat it") {
		t.Errorf("%+v", r)
	}
	if r := fileAnswer(t, alice.Send("tools/call", "any", `{"kind":"small"}`)); r.IsError {
		t.Errorf("a small answer: %+v", r)
	}
	storedFile(t, bob, "report", "{}")
}

const passDocument = `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /report: {get: {operationId: report, responses: {"200": {description: ok, content: {application/pdf: {}}}}}}
  /secret: {get: {operationId: purge, responses: {"200": {description: ok, content: {application/pdf: {}}}}}}
  /binary: {put: {operationId: binary, requestBody: {required: true, content: {application/pdf: {schema: {type: string, format: binary}}}}, responses: {"200": {description: ok}}}}
  /form:
    post:
      operationId: form
      requestBody: {required: true, content: {multipart/form-data: {schema: {type: object, properties: {note: {type: string}, file: {type: string, format: binary}}}}}}
      responses: {"200": {description: ok}}
  /json:
    post:
      operationId: json
      parameters: [{name: q, in: query, schema: {type: string}}]
      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {note: {type: string}}}}}}
      responses: {"200": {description: ok}}
  /mail:
    post:
      operationId: mail
      parameters: [{name: key, in: query, schema: {type: string, format: byte}}]
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties:
                note: {type: string}
                attachments: {type: array, items: {$ref: "#/components/schemas/Attachment"}}
                signature: {type: string, contentEncoding: base64url, description: Signed by the sender.}
      responses: {"200": {description: ok}}
  /base64: {put: {operationId: base64, requestBody: {required: true, content: {application/pdf: {schema: {type: string, contentEncoding: base64}}}}, responses: {"200": {description: ok}}}}
components:
  schemas:
    Attachment:
      type: object
      properties: {name: {type: string}, content: {type: string, format: byte}, thread: {$ref: "#/components/schemas/Attachment"}}
`

// TestFileArguments holds that the URI of a file stands for its content where a tool takes a file, also if the request is repeated, and that
// it is refused everywhere else.
func TestFileArguments(t *testing.T) {
	idp := gatewaytest.NewIDP(t)
	_, report, _ := fileService(t)
	var got []byte
	name, mediaType, requests, length := "", "", 0, int64(0)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/report", "/secret":
			w.Header().Set("Content-Type", "application/pdf")
			w.Header().Set("Content-Disposition", `attachment; filename="Rechnung Nr. 7 ä.pdf"`)
			_, _ = w.Write(report)
			return
		case "/form":
			f, head, err := r.FormFile("file")
			if err != nil {
				http.Error(w, err.Error(), 400)
				return
			}
			name, mediaType = head.Filename, head.Header.Get("Content-Type")
			got, _ = io.ReadAll(f)
		default:
			mediaType, length = r.Header.Get("Content-Type"), r.ContentLength
			got, _ = io.ReadAll(r.Body)
		}
		if requests++; requests == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, `{"done":true}`)
	}))
	t.Cleanup(service.Close)
	dir := t.TempDir()
	cfg := strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(idp)), "server: {", fmt.Sprintf("server: {state_dir: %q, seal_keys: [%q], ", dir, strings.Repeat("k", 32)), 1) +
		"  - {match: {operation: report}, set: {name: report}}\nfiles: {" + fileLimits + "}\n"
	g := gatewaytest.Start(t, passDocument, cfg, service.URL)
	token := idp.Token(t, nil)
	c := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", token)
	uri, _ := storedFile(t, c, "report", "{}")
	for _, tt := range []struct{ tool, arguments string }{
		{"binary", `{"body":%q}`}, {"form", `{"note":"n","file":%q}`}, {"form", `{"file":{"data":%q}}`},
	} {
		got, requests = nil, 1
		if tt.tool == "binary" {
			requests = 0 // PUT is repeated after 503
		}
		w := c.Send("tools/call", tt.tool, fmt.Sprintf(tt.arguments, uri))
		if !bytes.Equal(got, report) || mediaType != "application/pdf" || strings.Contains(w.Body.String(), `"isError":true`) {
			t.Errorf("%s %s: %d bytes of %s: %.400s", tt.tool, tt.arguments, len(got), mediaType, w.Body)
		}
		if tt.tool == "form" && name != "Rechnung Nr. 7 ä.pdf" {
			t.Errorf("%s: the name is %q", tt.arguments, name)
		}
		if tt.tool == "binary" && (length != int64(len(report)) || requests != 2) {
			t.Errorf("the length is %d after %d requests", length, requests)
		}
	}
	// Members of a body that are base64 take files, too, at any depth and more than once.
	standard, urlSafe := base64.StdEncoding.EncodeToString(report), base64.RawURLEncoding.EncodeToString(report)
	for _, tt := range []struct{ tool, arguments, want string }{
		{"mail", `{"note":"n","attachments":[{"name":"a","content":"$"},{"thread":{"content":"$"}}]}`, `{"note":"n","attachments":[{"name":"a","content":"` + standard + `"},{"thread":{"content":"` + standard + `"}}]}`},
		{"mail", `{"signature":"$"}`, `{"signature":"` + urlSafe + `"}`},
		{"base64", `{"body":"$"}`, standard},
	} {
		got, requests = nil, 1
		w := c.Send("tools/call", tt.tool, strings.ReplaceAll(tt.arguments, "$", uri))
		if string(got) != tt.want || length != int64(len(tt.want)) || strings.Contains(w.Body.String(), `"isError":true`) {
			t.Errorf("%s: %d bytes, want %d: %.300s, %.400s", tt.arguments, len(got), len(tt.want), got, w.Body)
		}
	}
	listed := c.Send("tools/list", "", "").Body.String()
	for _, want := range []string{`"content":{"type":"string","format":"byte","description":"Or a drawbridge-file: URI."}`, `"description":"Signed by the sender. Or a drawbridge-file: URI."`} {
		if !strings.Contains(listed, want) {
			t.Errorf("%s is not in %s", want, listed)
		}
	}
	if strings.Contains(listed, `"key":{"type":"string","format":"byte","description"`) {
		t.Error("a parameter is said to take files")
	}
	requests, got = 1, nil
	refused := func(what string, c *gatewaytest.Client, tool, arguments, want string) {
		t.Helper()
		if w := c.Send("tools/call", tool, arguments); !strings.Contains(w.Body.String(), want) || !strings.Contains(strings.ToLower(w.Body.String()), "nothing was sent") || requests > 1 {
			t.Errorf("%s: %d requests, %.500s", what, requests-1, w.Body)
		}
	}
	refused("a text", c, "json", `{"note":"`+uri+`"}`, "takes no file")
	refused("a query", c, "json", `{"q":"`+uri+`","note":"n"}`, "takes no file")
	refused("a text of a form", c, "form", `{"note":"`+uri+`"}`, "takes no file")
	refused("a parameter in base64", c, "mail", `{"key":"`+uri+`","note":"n"}`, "takes no file")
	refused("a text of JSON beside one in base64", c, "mail", `{"note":"`+uri+`","signature":"`+uri+`"}`, "takes no file")
	refused("an unknown file", c, "binary", `{"body":"drawbridge-file:aaaaaaaaaaaaaaaa"}`, "There is no file")
	bob := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", idp.Token(t, map[string]any{"sub": "bob"}))
	refused("a foreign file", bob, "binary", `{"body":"`+uri+`"}`, "There is no file")
	admin := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", idp.Token(t, map[string]any{"scope": "orders:all"}))
	secret, _ := storedFile(t, admin, "purge", "{}")
	refused("a file of a tool that the caller may not call any more", c, "binary", `{"body":"`+secret+`"}`, "came from a tool that you may not call")
	for what, w := range map[string]*httptest.ResponseRecorder{
		"resources/read": c.Read(secret), "read_file": c.Send("tools/call", "read_file", `{"uri":"`+secret+`","bytes":"0-9"}`), "GET": download(g, "/files/"+strings.TrimPrefix(secret, "drawbridge-file:"), token, nil),
	} {
		if strings.Contains(w.Body.String(), "PDF") || w.Body.Len() > 2000 {
			t.Errorf("%s of such a file: %.300s", what, w.Body)
		}
	}
	if w := download(g, "/files/"+strings.TrimPrefix(secret, "drawbridge-file:"), idp.Token(t, map[string]any{"scope": "orders:all"}), nil); w.Code != 200 {
		t.Errorf("the caller of the tool: %d", w.Code)
	}
}

// TestFilePairs holds that a file goes to another API only if the operator allows the pair.
func TestFilePairs(t *testing.T) {
	_, report, _ := fileService(t)
	got := 0
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			n, _ := io.Copy(io.Discard, r.Body)
			got = int(n)
			return
		}
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = w.Write(report)
	}))
	t.Cleanup(service.Close)
	for pass, want := range map[string]bool{"{from: shop, to: mail}": true, "{from: mail, to: shop}": false} {
		cfg := fmt.Sprintf("server: {state_dir: %q, seal_keys: [%q]}\nfiles: {pass: [%s]}\n", t.TempDir(), strings.Repeat("k", 32), pass) +
			"apis: [{name: shop, spec: $SPEC, base_url: $BASE}, {name: mail, spec: $SPEC, base_url: $BASE}]\n"
		g := gatewaytest.Start(t, passDocument, cfg, service.URL)
		tool := func(api, id string) string {
			for _, p := range g.Plans() {
				if p.Tool.API == api && p.Tool.Operation.ID == id {
					return p.Tool.Name
				}
			}
			t.Fatalf("no tool of %s %s", api, id)
			return ""
		}
		c := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", "")
		uri, _ := storedFile(t, c, tool("shop", "report"), "{}")
		got = 0
		w := c.Send("tools/call", tool("mail", "binary"), `{"body":"`+uri+`"}`)
		if passed := got == len(report); passed != want || !want && (got > 0 || !strings.Contains(w.Body.String(), "passes no files of shop on to mail")) {
			t.Errorf("%s: %d bytes, %.500s", pass, got, w.Body)
		}
	}
}
