package openapi

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"drawbridge/openapi/fetch"
)

// web simulates other machines: URL → body. It is an [http.RoundTripper].
type web struct {
	pages map[string]string
	asked []string
}

func (w *web) RoundTrip(req *http.Request) (*http.Response, error) {
	u := req.URL.String()
	w.asked = append(w.asked, u)
	body, ok := w.pages[u]
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: -1, Request: req}
	switch to, moved := strings.CutPrefix(body, "moved "); {
	case !ok:
		resp.StatusCode, resp.Status = http.StatusNotFound, "404 Not Found"
	case moved:
		resp.StatusCode = http.StatusFound
		resp.Header.Set("Location", to)
		body = ""
	}
	resp.Body = io.NopCloser(strings.NewReader(body))
	return resp, nil
}

// TestForeignReferences checks S2 for references to URLs: to the document's own origin with its credential, to those of
// allow_refs without, to nothing else; the scheme can't be disguised (pains row 2).
func TestForeignReferences(t *testing.T) {
	const root, own, other = "https://docs.example/v1/spec.yaml", "https://docs.example", "https://schemas.example"
	dir := t.TempDir()
	for _, tt := range []struct {
		ref        string
		asked      string // requests of the client for the own origin, or
		askedOther string // of the one without a credential
		problem    string // "" if the reference was read
		file       string // the problem in a document from a file
	}{
		{ref: "p.json", asked: own + "/v1/p.json", file: `can't use "` + dir + `/p.json": no such file or directory`},
		{ref: other + "/p.json", askedOther: other + "/p.json"},
		{ref: "HTTPS://Schemas.Example:443/p.json", askedOther: "https://Schemas.Example:443/p.json"},
		{ref: "//schemas.example/p.json", askedOther: other + "/p.json", file: `can't use "//schemas.example/p.json": a document may only refer to files in or below its own directory (or root, in the configuration)`},
		{ref: other + "/moved.json", askedOther: other + "/moved.json", problem: "fetch: redirect to another origin"},
		{ref: own + "/moved.json", asked: own + "/moved.json", problem: "fetch: redirect to another origin", file: "*"},
		{ref: other + "/none.json", askedOther: other + "/none.json", problem: `fetch: the server answered "404 Not Found"`},
		{ref: "https://u:p@schemas.example/p.json", problem: "*", file: "*"},
		{ref: "http://schemas.example/p.json", problem: "*", file: "*"},
		{ref: "https://schemas.example:8443/p.json", problem: "*", file: "*"},
		{ref: "https://schemas.example.evil.example/p.json", problem: "*", file: "*"},
		{ref: "http://169.254.169.254/latest/meta-data", problem: "*", file: "*"},
		{ref: "//169.254.169.254/", problem: "*", file: `can't use "//169.254.169.254/": a document may only refer to files in or below its own directory (or root, in the configuration)`},
		{ref: `\\\\169.254.169.254\\x`, asked: own + "/v1/%5C%5C%5C%5C169.254.169.254%5C%5Cx", problem: `fetch: the server answered "404 Not Found"`, file: "no such file or directory"},
		{ref: "file:///etc/passwd", problem: "*", file: "*"},
		{ref: "FILE:///etc/passwd", problem: "*", file: "*"},
		{ref: "%66ile:///etc/passwd", problem: "it is no URL", file: `can't use "` + dir + `/file:/etc/passwd": no such file or directory`},
		{ref: "file%3A///etc/passwd", asked: own + "/v1/file%3A///etc/passwd", problem: `fetch: the server answered "404 Not Found"`, file: "no such file or directory"},
		{ref: "https:%2f%2f169.254.169.254/", problem: "*", file: "*"},
		{ref: "https:schemas.example/p.json", problem: "*", file: "*"},
		{ref: "/etc/passwd", asked: own + "/etc/passwd", problem: `fetch: the server answered "404 Not Found"`, file: "a document may only refer to files in or below its own directory (or root, in the configuration)"},
		{ref: "../../../../etc/passwd", asked: own + "/etc/passwd", problem: `fetch: the server answered "404 Not Found"`, file: "a document may only refer to files in or below its own directory (or root, in the configuration)"},
		{ref: "data:application/json,{}", problem: "*", file: "*"},
		{ref: "gopher://schemas.example/p.json", problem: "*", file: "*"},
	} {
		t.Run(tt.ref, func(t *testing.T) {
			pages := map[string]string{
				root: referring(tt.ref), own + "/v1/p.json": parameterFile, other + "/p.json": parameterFile,
				"https://Schemas.Example:443/p.json": parameterFile,
				other + "/moved.json":                "moved http://169.254.169.254/", own + "/moved.json": "moved " + other + "/p.json",
			}
			client := func(w *web) *http.Client {
				return &http.Client{Transport: w, CheckRedirect: func(req *http.Request, via []*http.Request) error {
					if req.URL.Host != via[0].URL.Host {
						return errors.New("redirect to another origin")
					}
					return nil
				}}
			}
			check := func(location, wantOwn, problem, any string) {
				t.Helper()
				mine, others := &web{pages: pages}, &web{pages: pages}
				o := LoadOptions{Client: client(mine), RefClient: client(others), AllowRefs: []string{other}}
				names, problems := arguments(t, location, o)
				asked := mine.asked
				if location == root {
					asked = asked[1:]
				}
				if got := strings.Join(asked, " "); got != wantOwn {
					t.Errorf("%s: asked its own origin for %q, want %q", location, got, wantOwn)
				}
				if got := strings.Join(others.asked, " "); got != tt.askedOther {
					t.Errorf("%s: asked others for %q, want %q", location, got, tt.askedOther)
				}
				if problem == "*" {
					problem = any
				}
				if read := len(names) == 1; read != (problem == "") || !strings.Contains(problems, problem) {
					t.Errorf("%s: read %v, want problem %s, got %s", location, names, problem, problems)
				}
			}
			check(root, tt.asked, tt.problem, "a document may only refer to its own origin, "+own+", and to those in allow_refs")
			if tt.askedOther != "" && tt.file == "" {
				tt.file = tt.problem
			} else {
				tt.askedOther = ""
			}
			scheme, _, _ := strings.Cut(tt.ref, ":")
			check(write(t, dir, "spec.yaml", referring(tt.ref)), "", tt.file,
				`a document from a file may only refer to files in or below its own directory (or root, in the configuration) and to the origins in allow_refs, not to this "`+scheme+`" URL`)
		})
	}
}

// TestForeignReferrer checks that files that a document of another origin refers to are not fetched with the API's
// credential, not even from the API's own origin: it could have parts of the service's private documents published, or
// calls of GET made (E4).
func TestForeignReferrer(t *testing.T) {
	const own, other, third = "https://docs.example", "https://schemas.example", "https://more.example"
	authorized := map[string]string{} // URL → header
	client := func(w *web, credential string) *http.Client {
		return &http.Client{Transport: transport(func(req *http.Request) (*http.Response, error) {
			if credential != "" {
				req.Header.Set("Authorization", credential)
			}
			authorized[req.URL.String()] = req.Header.Get("Authorization")
			return w.RoundTrip(req)
		})}
	}
	for _, tt := range []struct{ name, ref, problem string }{
		{"the own origin", own + "/private.json", "a document of another origin may only refer to other origins in allow_refs, not to that of the API"},
		{"the own origin in other words", "HTTPS://DOCS.example:443/private.json", "a document of another origin may only refer to other origins in allow_refs, not to that of the API"},
		{"an origin that leads there", third + "/back.json", "a document of another origin may only refer to other origins in allow_refs, not to that of the API"},
		{"text", own + "/private.md", "a document of another origin may only refer to other origins in allow_refs, not to that of the API"},
		{"itself", "q.json", ""},
	} {
		for _, allowed := range [][]string{{other, third}, {other, third, own}} {
			t.Run(fmt.Sprint(tt.name, len(allowed)), func(t *testing.T) {
				clear(authorized)
				schema := fmt.Sprintf(`{"$ref": %q}`, tt.ref)
				if tt.name == "text" {
					schema = fmt.Sprintf(`{"description": {"$ref": %q}}`, tt.ref)
				}
				w := &web{pages: map[string]string{
					own + "/spec.yaml":    referring(other + "/p.json"),
					own + "/private.json": `{"type": "string", "description": "private"}`,
					own + "/private.md":   "private",
					other + "/p.json":     `{"name": "p", "in": "query", "schema": ` + schema + `}`,
					other + "/q.json":     `{"type": "string"}`,
					third + "/back.json":  fmt.Sprintf(`{"$ref": %q}`, own+"/private.json"),
				}}
				o := LoadOptions{Client: client(w, "Bearer canary"), RefClient: client(w, ""), AllowRefs: allowed}
				doc, err := Load(t.Context(), own+"/spec.yaml", o)
				if err != nil {
					t.Fatal(err)
				}
				api, err := doc.Compile(t.Context(), CompileOptions{})
				if err != nil || len(api.Operations) != 1 {
					t.Fatal(err)
				}
				if got := string(api.Operations[0].Input); strings.Contains(got, "private") {
					t.Errorf("published: %s", got)
				}
				if problems := fmt.Sprint(api.Problems); !strings.Contains(problems, tt.problem) || tt.problem == "" && len(api.Problems) > 0 {
					t.Errorf("problems %s, want %s", problems, tt.problem)
				}
				check := func() {
					t.Helper()
					for u, header := range authorized {
						if (header != "") != (u == own+"/spec.yaml") {
							t.Errorf("%s was asked for with Authorization %q", u, header)
						}
					}
				}
				check()
				// The next load doesn't know which file refers to them.
				o.Previous = &doc.Stamp
				if _, err := Load(t.Context(), own+"/spec.yaml", o); !errors.Is(err, fetch.ErrUnchanged) {
					t.Errorf("the second time: %v", err)
				}
				check()
			})
		}
	}
}

// transport is an [http.RoundTripper] of one function.
type transport func(req *http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestForeignReferencesBounds checks the limits of documents of other origins, 50 in all and five levels deep; those
// beyond count as missing, without further effects (S2).
func TestForeignReferencesBounds(t *testing.T) {
	const other = "https://schemas.example"
	many := &web{pages: map[string]string{}}
	var b strings.Builder
	b.WriteString("openapi: 3.0.3\ninfo: {title: R, version: '1'}\npaths:\n  /a:\n    get:\n      responses: {}\n      parameters:\n")
	for i := range 60 {
		fmt.Fprintf(&b, "        - {$ref: '%s/p%d.json'}\n", other, i)
		many.pages[fmt.Sprintf("%s/p%d.json", other, i)] = fmt.Sprintf(`{"name": "p%d", "in": "query", "schema": {"type": "string"}}`, i)
	}
	load := func(w *web, text string) ([]string, string) {
		return arguments(t, write(t, t.TempDir(), "spec.yaml", text), LoadOptions{RefClient: &http.Client{Transport: w}, AllowRefs: []string{other}})
	}
	names, problems := load(many, b.String())
	if len(names) != 50 || len(many.asked) != 50 || strings.Count(problems, "a document may refer to 50 documents of other origins") != 10 {
		t.Errorf("%d parameters of %d documents; %s", len(names), len(many.asked), problems)
	}

	deep := &web{pages: map[string]string{}}
	for i := range 9 {
		deep.pages[fmt.Sprintf("%s/%d.json", other, i)] = fmt.Sprintf(`{"name": "p", "in": "query", "schema": {"$ref": "%d.json"}, "properties": {"p": {"$ref": "%d.json"}}}`, i+1, i+1)
	}
	names, problems = load(deep, referring(other+"/0.json"))
	if len(names) != 1 || len(deep.asked) != 5 || !strings.Contains(problems, `can't use "`+other+`/5.json": documents of other origins may lead 5 levels deep`) {
		t.Errorf("%v of %q; %s", names, deep.asked, problems)
	}
}
