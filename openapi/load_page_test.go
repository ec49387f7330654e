package openapi

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/openapi/fetch"

	"golang.org/x/tools/txtar"
)

// TestPages checks that the URL of a page that shows a document is as good as that of the document. Each file of a case
// is a response of the service under its name, where "page" is the configured one; requests lists the requests in
// order.
func TestPages(t *testing.T) {
	eachCase(t, "pages", func(t *testing.T, a *txtar.Archive) map[string]string {
		var asked strings.Builder
		var server *httptest.Server
		server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.WriteString(r.URL.RequestURI() + "\n")
			name := strings.TrimPrefix(r.URL.Path, "/")
			if to := file(a, name+".redirect"); to != "" {
				http.Redirect(w, r, strings.TrimSpace(to), http.StatusFound)
				return
			}
			if index(a, name) < 0 {
				http.NotFound(w, r)
				return
			}
			io.WriteString(w, strings.ReplaceAll(file(a, name), "$HERE", server.URL))
		}))
		defer server.Close()
		here := func(text string) string { return strings.ReplaceAll(text, server.URL, "$HERE") }

		location := server.URL + "/docs/page"
		o := LoadOptions{Client: server.Client()}
		doc, err := Load(t.Context(), location, o)
		if err != nil {
			return map[string]string{"requests": asked.String(), "want": "error: " + here(err.Error()) + "\n"}
		}
		api, err := doc.Compile(t.Context(), CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		b.WriteString(doc.Title + " " + doc.Location + "\n")
		for _, op := range api.Operations {
			b.WriteString(op.Position.String() + ": " + op.Method + " " + op.Base.String() + " " + op.Path + "\n")
		}
		for _, p := range api.Problems {
			b.WriteString(p.Code + " " + p.String() + "\n")
		}
		first := asked.String()
		o.Previous = &doc.Stamp
		if _, err := Load(t.Context(), location, o); !errors.Is(err, fetch.ErrUnchanged) {
			t.Errorf("second load: %v", err)
		}
		return map[string]string{"requests": here(first), "want": here(b.String())}
	})
}
