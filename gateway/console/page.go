package console

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/a-h/templ"

	"drawbridge/gateway/console/signin"
	"drawbridge/openapi/unseen"
)

//go:embed static
var staticFiles embed.FS

// page is a page of the navigation.
type page struct {
	Path, Title string
	role        signin.Role // that sees it
}

// navigation is the navigation, in its order.
var navigation = []page{
	{"/console", "Overview", signin.View},
	{"/console/apis", "APIs", signin.View},
	{"/console/tools", "Tools", signin.View},
	{"/console/try", "Try", signin.Operate},
	{"/console/live", "Live", signin.View},
	{"/console/drift", "Drift", signin.View},
	{"/console/access", "Access", signin.View},
	{"/console/connect", "Connect", signin.View},
}

// content is what the layout is filled with: the data of a page, whose methods write it. The components beside them are generated from
// the files *.templ by make generate.
type content interface {
	// title returns the title of the page.
	title() string
	// main returns its main part.
	main(v view) templ.Component
}

// refreshed is a content whose rows htmx loads without the rest of the page.
type refreshed interface{ rows() templ.Component }

// view is what pages know besides their data.
type view struct {
	Path       string // of the request
	Navigation []page
	Session    *signin.Session // nil on the page to sign in
	Version    string
	Now        time.Time
	mark       string // see exact
}

// isOperator reports whether the session may change something.
func (v view) isOperator() bool { return v.Session != nil && v.Session.Role.Includes(signin.Operate) }

// isHere reports whether the page of the navigation is that of the request, or the page that it belongs to.
func (v view) isHere(p page) bool {
	return v.Path == p.Path || p.Path != navigation[0].Path && strings.HasPrefix(v.Path, p.Path+"/")
}

// render writes a page. A request by htmx whose HX-Target is "rows" gets the rows alone, if the page has some.
func (c *Console) render(w http.ResponseWriter, r *http.Request, p content) {
	c.renderStatus(w, r, http.StatusOK, p)
}

func (c *Console) renderStatus(w http.ResponseWriter, r *http.Request, status int, p content) {
	v := view{Path: r.URL.Path, Session: c.session(r), Version: c.o.Version, Now: c.o.Now(), mark: rand.Text()}
	for _, p := range navigation {
		if v.Session != nil && v.Session.Role.Includes(p.role) {
			v.Navigation = append(v.Navigation, p)
		}
	}
	component := layout(v, p)
	if p, ok := p.(refreshed); ok && r.Header.Get("HX-Request") != "" && r.Header.Get("HX-Target") == "rows" {
		component = p.rows()
	}
	var b bytes.Buffer
	if err := component.Render(context.WithoutCancel(r.Context()), &b); err != nil { // a client that went away is no fault of the page
		c.o.Log.Error("a page of the console can't be rendered", "page", p.title(), "error", err)
		http.Error(w, "This page can't be rendered; the log has the reason.", http.StatusInternalServerError)
		return
	}
	body := b.Bytes()
	if c.o.Clean != nil {
		body = c.o.Clean(body)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(bytes.ReplaceAll(body, []byte(v.mark), []byte("&#x")))
}

// exact returns a value for an attribute or a text area, with references instead of characters that the page is cleaned of: a form sends
// it as it is. References survive the escaping and the cleaning as a mark, which no text can contain: it is random for each page.
func (v view) exact(value string) string {
	var b strings.Builder
	for _, r := range value {
		if unseen.Is(r) && (r < 0x80 || r >= 0xa0) { // references to C1 characters mean others in HTML
			fmt.Fprintf(&b, "%s%x;", v.mark, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// errorData is what the page of an error shows.
type errorData struct{ Title, Reason string }

// fail writes a page that says why a request is not served, as one or more sentences.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, status int, reason string) {
	c.renderStatus(w, r, status, errorData{http.StatusText(status), reason})
}

// staticTypes are the media types of the static files that are served.
var staticTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// serveStatic serves a style sheet or script of the binary. Their URLs contain a digest, so browsers may keep them.
func serveStatic(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	body, err := staticFiles.ReadFile("static/" + name)
	kind := staticTypes[path.Ext(name)]
	if err != nil || kind == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	_, _ = w.Write(body)
}

// staticURL returns the URL of a static file, which changes with its content.
func staticURL(name string) (string, error) {
	body, err := staticFiles.ReadFile("static/" + name)
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256(body)
	return "/console/static/" + name + "?v=" + hex.EncodeToString(digest[:6]), nil
}
