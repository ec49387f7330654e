package endpoint_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// send sends a file over HTTP.
func send(g *gateway.Gateway, method, path, token string, body io.Reader, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "https://mcp.example.com"+path, body)
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

// uploaded returns the URI of a file that was stored.
func uploaded(t *testing.T, w *httptest.ResponseRecorder) (uri, name, mediaType string) {
	t.Helper()
	var stored struct {
		URI, Name, Type string
		Size            int64
	}
	if err := json.Unmarshal(w.Body.Bytes(), &stored); err != nil || w.Code != 201 {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return stored.URI, stored.Name, stored.Type
}

// TestUpload holds that a file that a program sends with the caller's token is the caller's, and goes to tools of every API.
func TestUpload(t *testing.T) {
	idp := gatewaytest.NewIDP(t)
	var got []byte
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got, _ = io.ReadAll(r.Body) }))
	t.Cleanup(service.Close)
	dir := t.TempDir()
	cfg := strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(idp)), "server: {", fmt.Sprintf("server: {state_dir: %q, seal_keys: [%q], ", dir, strings.Repeat("k", 32)), 1) +
		"files: {max_size: 1MB, quota: 2MB, max_total: 10MB}\n"
	g := gatewaytest.Start(t, passDocument, cfg, service.URL)
	token, bobs := idp.Token(t, nil), idp.Token(t, map[string]any{"sub": "bob"})
	_, report, _ := fileService(t)

	w := send(g, "POST", "/files", token, bytes.NewReader(report), http.Header{"Content-Disposition": {`attachment; filename="../../etc/passwd"`}, "Content-Type": {"text/html"}})
	uri, name, mediaType := uploaded(t, w)
	if name != "passwd" || mediaType != "application/pdf" {
		t.Errorf("%s of %s", name, mediaType)
	}
	alice, bob := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", token), gatewaytest.NewClient(t, g.Handler(), "2026-07-28", bobs)
	if alice.Send("tools/call", "binary", `{"body":"`+uri+`"}`); !bytes.Equal(got, report) {
		t.Errorf("the service got %d bytes", len(got))
	}
	if w := download(g, "/files/"+strings.TrimPrefix(uri, "drawbridge-file:"), token, nil); !bytes.Equal(w.Body.Bytes(), report) {
		t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
	}
	got = nil
	if w := bob.Send("tools/call", "binary", `{"body":"`+uri+`"}`); got != nil || !strings.Contains(w.Body.String(), "There is no file") {
		t.Errorf("another principal: %s", w.Body)
	}
	before := filesBelow(t, dir)
	broken := io.MultiReader(bytes.NewReader(report), iotestError{})
	for _, tt := range []struct {
		what, method, token string
		body                io.Reader
		header              http.Header
		status              int
	}{
		{"no token", "POST", "", bytes.NewReader(report), nil, 401},
		{"an expired token", "POST", idp.Token(t, map[string]any{"exp": 1}), bytes.NewReader(report), nil, 401},
		{"a foreign origin", "POST", token, bytes.NewReader(report), http.Header{"Origin": {"https://evil.example.com"}}, 403},
		{"too large", "POST", token, bytes.NewReader(make([]byte, 1_000_001)), nil, 413},
		{"too large without a length", "POST", token, struct{ io.Reader }{bytes.NewReader(make([]byte, 1_000_001))}, nil, 413},
		{"broken off", "POST", token, broken, nil, 400},
		{"compressed", "POST", token, bytes.NewReader(report), http.Header{"Content-Encoding": {"gzip"}}, 415},
		{"GET", "GET", token, nil, nil, 405},
	} {
		if w := send(g, tt.method, "/files", tt.token, tt.body, tt.header); w.Code != tt.status {
			t.Errorf("%s: %d %s", tt.what, w.Code, w.Body)
		}
	}
	if after := filesBelow(t, dir); after != before {
		t.Errorf("%d files are on disk, %d were", after, before)
	}
	// Requests at once don't exceed the quota together.
	var wait sync.WaitGroup
	codes := make([]int, 12)
	for i := range codes {
		wait.Go(func() { codes[i] = send(g, "POST", "/files", token, bytes.NewReader(report), nil).Code })
	}
	timebox.Done(t, wait.Wait)
	stored := 0
	for _, code := range codes {
		switch code {
		case 201:
			stored++
		case 429:
		default:
			t.Errorf("%d", code)
		}
	}
	if stored > 5 { // 6 with that of before
		t.Errorf("%d files are in a quota of 6", stored+1)
	}
	if w := send(g, "POST", "/files", bobs, strings.NewReader("x"), nil); w.Code != 201 {
		t.Errorf("another principal: %d %s", w.Code, w.Body)
	}
	if text := fileAnswer(t, alice.Send("tools/call", "upload_file", `{"name":"a.pdf","size":300000}`)).Content[0].Text; !strings.Contains(text, "drawbridge upload FILE --url https://mcp.example.com") || strings.Contains(text, "/files/upload/") {
		t.Errorf("%s", text)
	}
	if w := send(g, "PUT", "/files/upload/x", "", strings.NewReader("x"), nil); w.Code != 404 {
		t.Errorf("a URL without capability_urls: %d", w.Code)
	}
}

// iotestError is a reader that breaks off.
type iotestError struct{}

func (iotestError) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

var (
	uploadURL = regexp.MustCompile(`https://mcp\.example\.com(/files/upload/[A-Za-z0-9_-]+)`)
	offeredID = regexp.MustCompile(`drawbridge-file:[a-z2-7]{16}`)
)

// TestUploadURL holds that a URL that a model gets stores one file of the announced size for its caller, for five minutes.
func TestUploadURL(t *testing.T) {
	idp := gatewaytest.NewIDP(t)
	g, dir := fileGateway(t, idp, "http://127.0.0.1:1", fileLimits+", capability_urls: true")
	token := idp.Token(t, nil)
	alice := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", token)
	offer := func(size int) (path, uri string) {
		t.Helper()
		text := fileAnswer(t, alice.Send("tools/call", "upload_file", fmt.Sprintf(`{"name":"a.pdf","size":%d,"type":"application/pdf"}`, size))).Content[0].Text
		found := uploadURL.FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("%s", text)
		}
		return found[1], offeredID.FindString(text)
	}
	content := []byte("%PDF-1.7 content")
	path, uri := offer(len(content))
	other := []byte(path)
	other[len(other)-9] ^= 1
	for what, tt := range map[string]struct {
		path   string
		body   io.Reader
		status int
	}{
		"smaller":                  {path, bytes.NewReader(content[1:]), 400},
		"larger":                   {path, bytes.NewReader(append(content, 'x')), 400},
		"larger without a length":  {path, struct{ io.Reader }{bytes.NewReader(append(content, 'x'))}, 400},
		"smaller without a length": {path, struct{ io.Reader }{bytes.NewReader(content[1:])}, 400},
		"tampered":                 {string(other), bytes.NewReader(content), 404},
		"cut":                      {path[:len(path)-4], bytes.NewReader(content), 404},
		"of a file":                {"/files/upload/" + strings.TrimPrefix(uri, "drawbridge-file:"), bytes.NewReader(content), 404},
	} {
		if w := send(g, "PUT", tt.path, "", tt.body, nil); w.Code != tt.status {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
	if n := filesBelow(t, dir); n != 0 {
		t.Errorf("%d files are on disk", n)
	}
	// Two at once: one is stored.
	var wait sync.WaitGroup
	codes := make([]int, 8)
	for i := range codes {
		wait.Go(func() { codes[i] = send(g, "PUT", path, "", bytes.NewReader(content), nil).Code })
	}
	timebox.Done(t, wait.Wait)
	stored := 0
	for _, code := range codes {
		if code == 201 {
			stored++
		} else if code != 404 && code != 409 {
			t.Errorf("%d", code)
		}
	}
	if stored != 1 {
		t.Errorf("%d of %v were stored", stored, codes)
	}
	if w := send(g, "PUT", path, "", bytes.NewReader(content), nil); w.Code != 404 {
		t.Errorf("again: %d", w.Code)
	}
	id := strings.TrimPrefix(uri, "drawbridge-file:")
	if w := download(g, "/files/"+id, token, nil); !bytes.Equal(w.Body.Bytes(), content) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := download(g, "/files/"+id, idp.Token(t, map[string]any{"sub": "bob"}), nil); w.Code != 404 {
		t.Errorf("another principal: %d", w.Code)
	}
	if w := send(g, "GET", path, "", nil, nil); w.Code != 404 {
		t.Errorf("GET: %d", w.Code)
	}
	for arguments, want := range map[string]string{
		`{"name":"../a","size":1}`:              "without a path",
		`{"name":"a\\b","size":1}`:              "without a path",
		`{"name":"a\nb","size":1}`:              "without a path",
		`{"size":1}`:                            "name must be",
		`{"name":"a"}`:                          "size must be the exact size",
		`{"name":"a","size":-1}`:                "size must be the exact size",
		`{"name":"a","size":1e3}`:               "size must be the exact size",
		`{"name":"a","size":1000001}`:           "size must be at most 1000000",
		`{"name":"a","size":1,"type":"a\r\nb"}`: "type must be a media type",
	} {
		if r := fileAnswer(t, alice.Send("tools/call", "upload_file", arguments)); !r.IsError || !strings.Contains(r.Content[0].Text, want) {
			t.Errorf("%s: %+v", arguments, r)
		}
	}
}
