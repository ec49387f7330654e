package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"drawbridge/gateway/admin"
	"drawbridge/gateway/console/signin"
	"drawbridge/gateway/htmltemplate"
)

//go:embed templates/*.html
var templateFiles embed.FS

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
	{"/console/access", "Access", signin.View},
	{"/console/connect", "Connect", signin.View},
}

// pages are the templates of all pages, by name: that of the file without its extension.
type pages struct {
	byName map[string]*htmltemplate.Template
}

// newPages parses the templates. Those of a binary are right: a test parses them.
func newPages() *pages {
	p := &pages{byName: map[string]*htmltemplate.Template{}}
	layout := templateFile("layout.html")
	files, _ := templateFiles.ReadDir("templates")
	for _, f := range files {
		if name := strings.TrimSuffix(f.Name(), ".html"); name != "layout" {
			p.byName[name] = htmltemplate.Must(htmltemplate.Parse(functions, layout, templateFile(f.Name())))
		}
	}
	return p
}

func templateFile(name string) htmltemplate.File {
	text, _ := templateFiles.ReadFile("templates/" + name) // of the binary
	return htmltemplate.File{Name: name, Text: string(text)}
}

// view is what the layout and the template of a page are given.
type view struct {
	Title      string // of the page
	Path       string // of the request
	Navigation []page
	Session    *signin.Session // nil on the page to sign in
	Version    string
	Now        time.Time
	Data       any // of the page
}

// isOperator reports whether the session may change something.
func (v view) isOperator() bool { return v.Session != nil && v.Session.Role.Includes(signin.Operate) }

// isHere reports whether the page of the navigation is that of the request, or the page that it belongs to.
func (v view) isHere(p page) bool {
	return v.Path == p.Path || p.Path != navigation[0].Path && strings.HasPrefix(v.Path, p.Path+"/")
}

// render writes a page: the template of that name within the layout. Its blocks are "title" and "main". A request by htmx
// whose HX-Target is "rows" gets the template's block "rows" alone, if it has one.
func (c *Console) render(w http.ResponseWriter, r *http.Request, name string, data any) {
	c.renderStatus(w, r, http.StatusOK, name, data)
}

func (c *Console) renderStatus(w http.ResponseWriter, r *http.Request, status int, name string, data any) {
	t, block := c.pages.byName[name], "layout.html"
	if r.Header.Get("HX-Request") != "" && r.Header.Get("HX-Target") == "rows" && t.Has("rows") {
		block = "rows"
	}
	v := view{Path: r.URL.Path, Session: c.session(r), Version: c.o.Version, Now: c.o.Now(), Data: data}
	for _, p := range navigation {
		if v.Session != nil && v.Session.Role.Includes(p.role) {
			v.Navigation = append(v.Navigation, p)
		}
	}
	var b bytes.Buffer
	if err := t.Execute(&b, block, v); err != nil {
		c.o.Log.Error("a page of the console can't be rendered", "page", name, "error", err)
		http.Error(w, "This page can't be rendered; the log has the reason.", http.StatusInternalServerError)
		return
	}
	body := b.Bytes()
	if c.o.Clean != nil {
		body = c.o.Clean(body)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// fail writes a page that says why a request is not served, as one or more sentences.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, status int, reason string) {
	c.renderStatus(w, r, status, "error", struct {
		Status int
		Title  string
		Reason string
	}{status, http.StatusText(status), reason})
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

// functions are the functions of templates.
var functions = htmltemplate.Functions{
	"static": staticURL,
	"ago":    ago,
	"utc":    func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
	"clock":  time.Time.Format,
	"zero":   time.Time.IsZero,
	"number": number,
	"join":   strings.Join,
	"ms":     milliseconds,
	"bytes":  byteCount,
	"exact":  exact,

	"operator": view.isOperator,
	"here":     view.isHere,
	"more":     accessData.more,
	"where":    apiData.where,
	"short":    apiData.short,
	"prefix":   (*admin.Setting).Prefix,
	"url":      liveFilter.url,
	"paused":   liveFilter.with,
	"after":    liveFilter.after,
	"trace":    liveCall.traceID,
	"viewBox":  chart.viewBox,
	"fates":    toolsData.fates,
	"tokens":   toolRow.Tokens,
	"body":     func(text []byte) string { return strings.ToValidUTF8(string(text), "\uFFFD") },
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

// ago says how long before now a time was, in its largest unit.
func ago(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Second:
		return "now"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s ago", d/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	}
	return fmt.Sprintf("%d days ago", d/(24*time.Hour))
}

// number writes a count with commas between thousands.
func number(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// milliseconds writes a latency with three significant digits.
func milliseconds(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case d == 0:
		return "–"
	case ms < 10:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", ms/1000)
}

// byteCount writes a number of bytes in its largest unit.
func byteCount(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
