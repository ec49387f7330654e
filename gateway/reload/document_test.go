package reload_test

import (
	"bytes"
	"compress/flate"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
)

// TestDocumentCredential: the document's own lock is opened by spec_credential, the API's by credential, and nobody else
// gets either: not the origins of allow_refs, not where a redirect leads (S2, E3, E4). Neither shows up in what a caller
// or an operator sees (pains row 9).
func TestDocumentCredential(t *testing.T) {
	service := gatewaytest.NewShelf(t, map[string]string{"/echo": `{"seen":"the-lock-of-docs","own":"the-key-of-the-api"}`})
	others := gatewaytest.NewShelf(t, map[string]string{"/q.json": `{"name":"q","in":"query","schema":{"type":"string"}}`})
	docs := gatewaytest.NewShelf(t, map[string]string{"/p.json": `{"name":"p","in":"query","schema":{"type":"string"}}`, "/r.json": "moved " + others.URL + "/q.json"})
	docs.Files["/spec.json"] = `{"openapi":"3.1.0","info":{"title":"Shop","version":"1"},"paths":{"/echo":{"get":{"operationId":"echo",
		"parameters":[{"$ref":"p.json"},{"$ref":"r.json"},{"$ref":"` + others.URL + `/q.json"},{"$ref":"` + service.URL + `/x.json"}],
		"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"object"}}}}}}}}}`
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": `apis:
  - spec: ` + docs.URL + `/spec.json
    base_url: ` + service.URL + `
    credential: {type: bearer, token: the-key-of-the-api}
    spec_credential: {type: api_key, in: header, name: X-Key, value: the-lock-of-docs}
    allow_refs: [` + others.URL + `]
`})
	r.Served()
	if got, want := docs.Taken(), []string{"/spec.json the-lock-of-docs", "/p.json the-lock-of-docs", "/r.json the-lock-of-docs"}; !slices.Equal(got, want) {
		t.Errorf("the document's server was asked for %q, want %q", got, want)
	}
	if got, want := others.Taken(), []string{"/q.json"}; !slices.Equal(got, want) {
		t.Errorf("the server of allow_refs was asked for %q, want %q", got, want)
	}
	status, answer := gatewaytest.Ask(t, r.Handler(), gatewaytest.Eras[0], "tools/call", "echo", `"name":"echo","arguments":{"p":"1","q":"2"}`)
	if got, want := service.Taken(), []string{"/echo Bearer the-key-of-the-api"}; status != 200 || !slices.Equal(got, want) {
		t.Errorf("the API was asked for %q, want %q; %d %s", got, want, status, answer)
	}
	if text := string(answer); strings.Contains(text, "the-lock") || strings.Contains(text, "the-key") || !strings.Contains(text, "[redacted]") {
		t.Errorf("the answer shows a credential: %s", text)
	}

	docs.Put("/spec.json", `{"openapi":"the-lock-of-docs"}`)
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := `document "` + docs.URL + `/spec.json": ` + docs.URL + `/spec.json:1:2: openapi "[redacted]" is not supported; convert the document to swagger 2.0 or openapi 3.0, 3.1 or 3.2`
	if s := r.State(0); s.State != admin.Stale || s.Error != want {
		t.Errorf("state %s, error %s\nwant %s", s.State, s.Error, want)
	}
}

// TestDocumentUnchanged: a document that its server calls unchanged is not read again (S1).
func TestDocumentUnchanged(t *testing.T) {
	docs := gatewaytest.NewShelf(t, map[string]string{"/spec.yaml": gatewaytest.Document("A", "one")})
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "- " + docs.URL + "/spec.yaml\n"})
	r.Served()
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := gatewaytest.MetricLines(r.Gateway, `drawbridge_api_loads_total{`), []string{
		`drawbridge_api_loads_total{api="a",outcome="changed"} 1`, `drawbridge_api_loads_total{api="a",outcome="unchanged"} 1`,
	}; !slices.Equal(got, want) {
		t.Errorf("loads: %q", got)
	}
	docs.Put("/spec.yaml", gatewaytest.Document("A", "one", "two"))
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.Tools(); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("tools %q", got)
	}
}

// TestDocumentCA: ca_file is for the fetch of the document too, and for its parts on other origins (pains row 9).
func TestDocumentCA(t *testing.T) {
	docs := &gatewaytest.Shelf{Files: map[string]string{"/p.json": `{"name":"p","in":"query","schema":{"type":"string"}}`}}
	docs.Server = httptest.NewUnstartedServer(docs)
	docs.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // of handshakes that fail
	docs.StartTLS()
	t.Cleanup(docs.Close)
	docs.Files["/spec.yaml"] = gatewaytest.Document("A", "one")
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: docs.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func(text string) []gateway.Outcome {
		t.Helper()
		file := filepath.Join(dir, "drawbridge.yaml")
		for name, data := range map[string]string{file: text, filepath.Join(dir, "local.yaml"): "openapi: 3.1.0\ninfo: {title: L, version: '1'}\npaths: {/a: {get: {parameters: [{$ref: '" + docs.URL + "/p.json'}], responses: {}}}}\n"} {
			if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c, problems := config.Load(file, func(string) string { return "" })
		if c == nil {
			t.Fatal(problems)
		}
		g, err := gateway.New(gateway.Options{Config: c})
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := g.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return outcomes
	}
	outcomes := load("apis:\n  - {spec: " + docs.URL + "/spec.yaml, ca_file: ca.pem}\n  - {spec: " + docs.URL + "/spec.yaml, name: without}\n" +
		"  - {spec: local.yaml, allow_refs: [" + docs.URL + "], ca_file: ca.pem}\nlimits: {connect_timeout: 1m, tls_timeout: 1m, first_byte_timeout: 1m}\n")
	if outcomes[0].Err != nil || len(outcomes[0].API.Operations) != 1 {
		t.Errorf("with ca_file: %v", outcomes[0].Err)
	}
	if err := outcomes[1].Err; err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without ca_file: %v", err)
	}
	if outcomes[2].Err != nil || !strings.Contains(string(outcomes[2].API.Operations[0].Input), `"p"`) {
		t.Errorf("a reference from a file: %v %v", outcomes[2].Err, outcomes[2].API.Problems)
	}
}

// TestDocumentZeros: two gigabytes of zeros that arrive as two megabytes of gzip are refused long before they are unpacked (S1, S3).
func TestDocumentZeros(t *testing.T) {
	// A stream of blocks that all say the same: a mebibyte of zeros.
	var first, block bytes.Buffer
	zeros := make([]byte, 1<<20)
	z, err := flate.NewWriter(&first, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	for _, into := range []*bytes.Buffer{&first, &block} {
		before := first.Len()
		if _, err := z.Write(zeros); err != nil {
			t.Fatal(err)
		}
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
		if into == &block {
			block.Write(first.Bytes()[before:])
			first.Truncate(before)
		}
	}
	docs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff})
		_, _ = w.Write(first.Bytes())
		for range 2047 {
			if _, err := w.Write(block.Bytes()); err != nil {
				return
			}
		}
	}))
	t.Cleanup(docs.Close)
	c, problems := config.Load(docs.URL+"/spec.json", nil)
	if c == nil {
		t.Fatal(problems)
	}
	g, err := gateway.New(gateway.Options{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	outcomes, err := g.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	got := regexp.MustCompile(`\d+ bytes out of \d+`).ReplaceAllString(fmt.Sprint(outcomes[0].Err), "N bytes out of M")
	if want := `document "` + docs.URL + `/spec.json": fetch: call API "127-0-0-1": too_large: answer of N bytes out of M, more than 200 to 1`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
		t.Errorf("%d MiB were allocated", n>>20)
	}
}

// TestDocumentQuery: what stands behind the "?" of a document's URL may be a key. The page of an API viewer, or the server,
// may repeat it, and every place in the document has the URL in front of it; operators see none of that.
func TestDocumentQuery(t *testing.T) {
	const key = "key=canary-7d\\1c\u00e9-of-the-document"
	const document = `{"openapi":"3.1.0","info":{"title":"Shop","version":"1"},"servers":[{"url":"/"}],"paths":{
		"/a":{"get":{"operationId":"a","parameters":[{"$ref":"#/gone"},{"$ref":"p.json?` + `KEY"},{"name":"x","in":"nowhere","schema":{}}],"responses":{}}},
		"/b":{"get":{"operationId":"b","parameters":[{"name":"x","in":"matrix","required":true}],"responses":{}}}}}`
	inURL := strings.ReplaceAll(key, "\\", "%5C")
	docs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			_, _ = io.WriteString(w, `<html><script>swagger({url: "/spec.json?`+r.URL.RawQuery+`"})</script></html>`)
		case "/spec.json":
			_, _ = io.WriteString(w, strings.ReplaceAll(document, "KEY", r.URL.RawQuery))
		case "/odd.json":
			_, _ = io.WriteString(w, `{"openapi":"`+r.URL.RawQuery+`"}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer docs.Close()
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": `apis:
  - {name: spec, spec: '` + docs.URL + `/spec.json?` + inURL + `'}
  - {name: page, spec: '` + docs.URL + `/page?` + inURL + `'}
  - {name: none, spec: '` + docs.URL + `/none?` + inURL + `'}
  - {name: odd, spec: '` + docs.URL + `/odd.json?` + inURL + `'}
`})
	r.Eventually("all were tried", func() bool {
		return !slices.ContainsFunc(r.Status().APIs, func(a admin.API) bool { return a.State == admin.Loading })
	})
	for i, want := range []admin.State{admin.Ready, admin.Ready, admin.Failed, admin.Failed} {
		if s := r.State(i); s.State != want {
			t.Errorf("%s is %s: %s", s.Name, s.State, s.Error)
		}
	}
	for _, target := range []string{"/apis", "/apis/spec", "/apis/page", "/apis/none", "/apis/odd", "/metrics", "/readyz?verbose"} {
		w := gatewaytest.Do(r.Admin(), http.MethodGet, target, nil)
		if text := w.Body.String(); w.Code != 200 || strings.Contains(text, "canary") || strings.Contains(text, "of-the-document") {
			t.Errorf("%s = %d %s", target, w.Code, text)
		}
	}
}
