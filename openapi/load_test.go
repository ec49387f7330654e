package openapi

import (
	"compress/gzip"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"drawbridge/openapi/fetch"
	"drawbridge/openapi/tree"
	"drawbridge/test/timebox"
)

const smallSpec = `{"openapi":"3.0.3","info":{"title":"Small","version":"1"},"paths":{"/a":{"get":{"operationId":"a","responses":{}}}}}`

// write puts a file below dir and returns its name.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// writeFile puts a document into a directory of its own.
func writeFile(tb testing.TB, text string) string {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "spec.yaml")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
	return name
}

// referring is a document whose only parameter is in another file.
func referring(ref string) string {
	return "openapi: 3.0.3\ninfo: {title: R, version: '1'}\npaths:\n  /a:\n    get:\n      parameters: [{$ref: '" + ref + "'}]\n      responses: {}\n"
}

const parameterFile = `{"name": "fromFile", "in": "query", "schema": {"type": "string"}}`

func arguments(t *testing.T, location string, o LoadOptions) (names []string, problems string) {
	t.Helper()
	doc, err := Load(t.Context(), location, o)
	if err != nil {
		t.Fatal(err)
	}
	api, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range api.Operations {
		for _, a := range op.arguments {
			names = append(names, a.name)
		}
	}
	var b strings.Builder
	for _, p := range api.Problems {
		b.WriteString(p.Message + "\n")
	}
	return names, b.String()
}

// TestFileReferences checks S2 for files: in or below the root document's directory, symbolic links followed; never
// absolute, never a URL (pains row 2).
func TestFileReferences(t *testing.T) {
	dir := t.TempDir()
	outside := write(t, dir, "outside.json", parameterFile)
	write(t, dir, "in/sub/p.json", parameterFile)
	write(t, dir, "in/same.json", parameterFile)
	if err := os.Symlink(outside, filepath.Join(dir, "in", "link.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("sub/p.json", filepath.Join(dir, "in", "inner.json")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		ref  string
		read bool
	}{
		{"same.json", true},
		{"./sub/p.json", true},
		{"sub/../same.json", true},
		{"inner.json", true},
		{"../outside.json", false},
		{"sub/../../outside.json", false},
		{"link.json", false},
		{"%2e%2e/outside.json", false},
		{outside, false},
		{"file://" + outside, false},
		{"FILE:" + outside, false},
		{"//" + outside, false},
		{"http://127.0.0.1:1/p.json", false},
		{"/etc/passwd", false},
		{"/dev/zero", false},
		{"sub", false},
	} {
		t.Run(tt.ref, func(t *testing.T) {
			names, problems := arguments(t, write(t, dir, "in/spec.yaml", referring(tt.ref)), LoadOptions{})
			if read := len(names) == 1; read != tt.read {
				t.Errorf("read = %v, want %v; problems: %s", read, tt.read, problems)
			}
			if !tt.read && problems == "" {
				t.Error("nothing is said of the reference that was refused")
			}
		})
	}
}

// TestMountedFiles reads a Kubernetes volume, in which each file is behind two symbolic links.
func TestMountedFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "..2026/spec.yaml", referring("p.json"))
	write(t, dir, "..2026/p.json", parameterFile)
	for link, target := range map[string]string{"..data": "..2026", "spec.yaml": "..data/spec.yaml", "p.json": "..data/p.json"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if names, problems := arguments(t, filepath.Join(dir, "spec.yaml"), LoadOptions{}); len(names) != 1 {
		t.Errorf("the reference was not read: %s", problems)
	}
}

// TestUnchanged checks that an unchanged document is not parsed, and that a change in any of its files is detected.
func TestUnchanged(t *testing.T) {
	dir := t.TempDir()
	spec := write(t, dir, "spec.yaml", referring("p.json"))
	write(t, dir, "p.json", parameterFile)
	doc, err := Load(t.Context(), spec, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Stamp.Files) != 2 {
		t.Fatalf("files: %q", doc.Stamp.Files)
	}
	if _, err := Load(t.Context(), spec, LoadOptions{Previous: &doc.Stamp}); !errors.Is(err, fetch.ErrUnchanged) {
		t.Errorf("second load: %v", err)
	}
	write(t, dir, "p.json", strings.Replace(parameterFile, "fromFile", "other", 1))
	next, err := Load(t.Context(), spec, LoadOptions{Previous: &doc.Stamp})
	if err != nil {
		t.Fatalf("after a change: %v", err)
	}
	write(t, dir, "spec.yaml", referring("q.json"))
	write(t, dir, "q.json", parameterFile)
	last, err := Load(t.Context(), spec, LoadOptions{Previous: &next.Stamp})
	if err != nil {
		t.Fatalf("with another file: %v", err)
	}
	if strings.Contains(strings.Join(last.Stamp.Files, " "), "p.json") {
		t.Errorf("a file that is no longer referred to is still watched: %q", last.Stamp.Files)
	}
}

// TestNotModifiedUnasked checks that "not modified" in response to an unconditional request is not trusted: the
// document may have changed.
func TestNotModifiedUnasked(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header["If-None-Match"])+len(r.Header["If-Modified-Since"]) > 0 {
			t.Errorf("a condition without a validator: %v", r.Header)
		}
		w.WriteHeader(status)
		if status == http.StatusOK {
			w.Write([]byte(smallSpec))
		}
	}))
	defer server.Close()
	o := LoadOptions{Client: server.Client()}
	doc, err := Load(t.Context(), server.URL, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Previous, status = &doc.Stamp, http.StatusNotModified
	if _, err := Load(t.Context(), server.URL, o); err == nil || err.Error() != `document "`+server.URL+`": fetch: the server answered "304 Not Modified"` {
		t.Errorf("err = %v", err)
	}
}

// TestURLDocument loads a document by URL, and checks whether it has changed (pains rows 7 and 8).
func TestURLDocument(t *testing.T) {
	requests := 0
	mux := http.NewServeMux()
	mux.HandleFunc("/spec.json", func(w http.ResponseWriter, r *http.Request) {
		requests++
		if r.Header.Get("If-None-Match") == `"v1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `"v1"`)
		w.Write([]byte(smallSpec))
	})
	mux.HandleFunc("/dated.json", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-Modified-Since") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		w.Write([]byte(smallSpec))
	})
	mux.HandleFunc("/plain.json", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(smallSpec)) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/deep/refers.yaml", http.StatusFound)
	})
	mux.HandleFunc("/deep/refers.yaml", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(referring("p.json"))) })
	mux.HandleFunc("/deep/p.json", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(parameterFile)) })
	mux.HandleFunc("/foreign.yaml", func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(referring("http://169.254.169.254/latest/meta-data")))
	})
	mux.HandleFunc("/local.yaml", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(referring("file:///etc/passwd"))) })
	server := httptest.NewServer(mux)
	defer server.Close()
	o := LoadOptions{Client: server.Client()}

	for _, path := range []string{"/spec.json", "/dated.json", "/plain.json"} {
		doc, err := Load(t.Context(), server.URL+path, o)
		if err != nil {
			t.Fatal(err)
		}
		if doc.Title != "Small" || doc.Standard != "3.0.3" || doc.Version != "1" {
			t.Errorf("%s: %q %q %q", path, doc.Title, doc.Standard, doc.Version)
		}
		again := o
		again.Previous = &doc.Stamp
		if _, err := Load(t.Context(), server.URL+path, again); !errors.Is(err, fetch.ErrUnchanged) {
			t.Errorf("%s: second load: %v", path, err)
		}
	}
	if requests != 2 {
		t.Errorf("%d requests for /spec.json, want 2", requests)
	}
	if names, problems := arguments(t, server.URL+"/moved", o); len(names) != 1 {
		t.Errorf("a reference relative to where a redirect led was not read: %s", problems)
	}
	for _, path := range []string{"/foreign.yaml", "/local.yaml"} {
		names, problems := arguments(t, server.URL+path, o)
		if len(names) != 0 || !strings.Contains(problems, "a document may only refer to its own origin, "+server.URL) {
			t.Errorf("%s: %v, problems %s", path, names, problems)
		}
	}
}

// TestURLServers checks S7 for documents by URL.
func TestURLServers(t *testing.T) {
	spec := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(spec)) }))
	defer server.Close()
	for _, tt := range []struct {
		standard, members string
		allow             []string
		base, problem     string
	}{
		{`"openapi":"3.0.3"`, ``, nil, server.URL + "/", ""},
		{`"openapi":"3.0.3"`, `,"servers":[{"url":"v2/"}]`, nil, server.URL + "/docs/v2/", ""},
		{`"openapi":"3.0.3"`, `,"servers":[{"url":"/v2"}]`, nil, server.URL + "/v2", ""},
		{`"openapi":"3.0.3"`, `,"servers":[{"url":"https://other.example/v1"}]`, nil, "",
			"the server https://other.example has another origin than the document, " + server.URL + ", and is not listed in allow_servers; set base_url for this API"},
		{`"openapi":"3.0.3"`, `,"servers":[{"url":"https://other.example/v1"}]`, []string{"https://OTHER.example"}, "https://other.example/v1", ""},
		{`"openapi":"3.0.3"`, `,"servers":[{"url":"//other.example/v1"}]`, nil, "",
			"the server http://other.example has another origin than the document, " + server.URL + ", and is not listed in allow_servers; set base_url for this API"},
		{`"swagger":"2.0"`, `,"basePath":"/v2"`, nil, server.URL + "/v2/", ""},
		{`"swagger":"2.0"`, `,"host":"` + strings.TrimPrefix(server.URL, "http://") + `"`, nil, server.URL, ""},
	} {
		spec = `{` + tt.standard + `,"info":{"title":"S","version":"1"}` + tt.members + `,"paths":{"/a":{"get":{"responses":{}}}}}`
		doc, err := Load(t.Context(), server.URL+"/docs/spec.json", LoadOptions{Client: server.Client()})
		if err != nil {
			t.Fatal(err)
		}
		api, err := doc.Compile(t.Context(), CompileOptions{AllowServers: tt.allow})
		if err != nil {
			t.Fatal(err)
		}
		op := api.Operations[0]
		base := ""
		if op.Base != nil {
			base = op.Base.String()
		}
		if base != tt.base || op.BaseProblem != tt.problem {
			t.Errorf("%s: base %q, problem %q; want %q, %q", tt.members, base, op.BaseProblem, tt.base, tt.problem)
		}
	}
}

// TestLoadErrors checks that an error names the type of a file that is not a document, and the next step. If want is
// empty, the error is that of package tree, which has the cases.
func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	mux := http.NewServeMux()
	mux.HandleFunc("/secret", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	mux.HandleFunc("/to-secret", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/secret?session=1", http.StatusFound)
	})
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html><script>SwaggerUIBundle({configUrl: '/secret?x=1'})</script></html>"))
	})
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		zeros := make([]byte, 1<<20)
		for range 5 {
			z.Write(zeros)
		}
		z.Close()
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	client := server.Client()
	for _, tt := range []struct {
		location string
		client   *http.Client
		limits   tree.Limits
		want     string
	}{
		{filepath.Join(dir, "none.yaml"), nil, tree.Limits{}, "no such file or directory"},
		{dir, nil, tree.Limits{}, "is not a regular file"},
		{"ftp://x/y", nil, tree.Limits{}, `location "ftp://x/y" has the scheme "ftp"; give an http or https URL, or a file path`},
		{server.URL, nil, tree.Limits{}, "documents by URL are not allowed here"},
		{"http:///x", client, tree.Limits{}, `URL "http:///x" has no host`},
		{"http://u:p@x/", client, tree.Limits{}, "URL holds a user name or password; give it as the credential of the API instead"},
		{server.URL + "/none", client, tree.Limits{}, `fetch: the server answered "404 Not Found"`},
		{server.URL + "/secret", client, tree.Limits{}, `fetch: the server answered "401 Unauthorized"; if the document is protected, give the API a credential`},
		{server.URL + "/to-secret", client, tree.Limits{}, `fetch: the server answered "401 Unauthorized" at "` + server.URL + `/secret", to which it redirects; if the document is protected, give the API a credential`},
		{server.URL + "/page", client, tree.Limits{}, `this is the page of an API viewer, and "` + server.URL + `/secret?x=1", which may name its document: fetch: the server answered "401 Unauthorized"; if the document is protected, give the API a credential`},
		{server.URL + "/bomb", client, tree.Limits{Bytes: 4 << 20}, "fetch: is larger than 4 MiB; the limit is there to protect the gateway"},
		{write(t, dir, "empty.yaml", " \n"), nil, tree.Limits{}, ""},
		{write(t, dir, "page.html", "<!DOCTYPE html>\n<html></html>"), nil, tree.Limits{}, ""},
		{write(t, dir, "zip.json", "PK\x03\x04aaaa"), nil, tree.Limits{}, ""},
		{write(t, dir, "broken.json", `{"openapi": "3.0.0", "paths": {`), nil, tree.Limits{}, ""},
		{write(t, dir, "v1.json", `{"swaggerVersion": "1.2", "apis": []}`), nil, tree.Limits{}, ""},
		{write(t, dir, "v4.json", `{"openapi": "4.0.0", "paths": {}}`), nil, tree.Limits{}, ""},
		{write(t, dir, "v3swagger.json", `{"swagger": "3.0", "paths": {}}`), nil, tree.Limits{}, ""},
		{write(t, dir, "async.yaml", "asyncapi: 3.0.0\n"), nil, tree.Limits{}, ""},
		{write(t, dir, "list.yaml", "- a\n"), nil, tree.Limits{}, ""},
		{write(t, dir, "other.yaml", "name: x\n"), nil, tree.Limits{}, ""},
		{write(t, dir, "large.json", smallSpec), nil, tree.Limits{Bytes: 10}, ""},
	} {
		_, err := Load(t.Context(), tt.location, LoadOptions{Client: tt.client, Limits: tt.limits})
		if err == nil {
			t.Errorf("%s: no error", tt.location)
			continue
		}
		got, ok := strings.CutPrefix(err.Error(), `document "`+tt.location+`": `)
		got = strings.ReplaceAll(got, dir+"/", "")
		if !ok || got == "" {
			t.Errorf("%s: the error doesn't name the document: %v", tt.location, err)
		}
		if tt.want != "" && got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.location, got, tt.want)
		}
	}
}

// TestLoadSwappedPipe checks a name that becomes a pipe between check and open. A user with write access to a directory
// of documents must not be able to block their loading.
func TestLoadSwappedPipe(t *testing.T) {
	dir := t.TempDir()
	pipe, spec, name := filepath.Join(dir, "pipe"), write(t, dir, "spec", "openapi: 3.0.3\ninfo: {title: T, version: '1'}\npaths: {}\n"), filepath.Join(dir, "a.yaml")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for next := filepath.Join(dir, "next"); ; {
			for _, target := range []string{pipe, spec} {
				if os.Link(target, next) != nil || os.Rename(next, name) != nil {
					t.Error("the files can't be swapped")
					return
				}
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	for range 500 {
		_, err := Load(t.Context(), name, LoadOptions{})
		if err != nil && !strings.HasSuffix(err.Error(), "is not a regular file") && !strings.HasSuffix(err.Error(), "no such file or directory") {
			t.Fatal(err)
		}
	}
	close(stop)
	timebox.Wait(t, stopped)
}

// TestLoadPipe checks that a pipe among the files of a document does not block the load, which would wait for a writer
// forever.
func TestLoadPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.yaml")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	const want = "is not a regular file"
	if _, err := Load(t.Context(), pipe, LoadOptions{}); err == nil || err.Error() != `document "`+pipe+`": `+want {
		t.Errorf("as the root: got %v, want %s", err, want)
	}
	spec := write(t, dir, "spec.yaml", "openapi: 3.0.3\ninfo: {title: T, version: '1'}\npaths: {/a: {$ref: pipe.yaml}}\n")
	doc, err := Load(t.Context(), spec, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(api.Skipped) != 1 || !strings.Contains(api.Skipped[0].Reason, want) {
		t.Errorf("as a reference: got %v, want %s", api.Skipped, want)
	}
}

// TestLoadCanceled checks that reading of a file stops once the load is cancelled.
func TestLoadCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(ctx, "testdata/corpus/museum.yaml", LoadOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestOperationLimit checks the last limit of S3.
func TestOperationLimit(t *testing.T) {
	doc, err := Load(t.Context(), "testdata/corpus/museum.yaml", LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = doc.Compile(t.Context(), CompileOptions{MaxOperations: 7})
	if want := "testdata/corpus/museum.yaml:1:1: the document has 8 operations; at most 7 are allowed"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
