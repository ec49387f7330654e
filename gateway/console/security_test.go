package console

import (
	"bytes"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	nethtml "golang.org/x/net/html"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/drift"
)

// payloads are texts that a document or service may have, which try to leave the place where a page shows them.
var payloads = []string{
	`<script>alert(1)</script>`, `</script><script>alert(1)</script>`, `"><script>alert(1)</script>`, `'><script>alert(1)</script>`,
	`<img src=x onerror=alert(1)>`, `"><img src=x onerror=alert(1)>`, `" onmouseover="alert(1)`, `' onmouseover='alert(1)`, `onload=alert(1)`,
	`<svg onload=alert(1)>`, `<svg><script>alert(1)</script></svg>`, `<iframe src="javascript:alert(1)"></iframe>`, `<body onload=alert(1)>`,
	`javascript:alert(1)`, `java	script:alert(1)`, `data:text/html,<script>alert(1)</script>`, `//evil.example.com/x.js`, `https://evil.example.com/`,
	`<base href="https://evil.example.com/">`, `<meta http-equiv="refresh" content="0;url=https://evil.example.com/">`, `<link rel=stylesheet href=//evil.example.com/x.css>`,
	`<form action="https://evil.example.com/"><button>`, `</textarea><script>alert(1)</script>`, `</title><script>alert(1)</script>`, `<!--`, `--><script>alert(1)</script>`,
	`<div hx-get="https://evil.example.com/" hx-trigger="load">`, `" hx-on:click="alert(1)`, `{{.Session.CSRF}}`, "\u202e<script>alert(1)</script>\u200b", "\x00<script>alert(1)</script>",
	`&lt;script&gt;alert(1)&lt;/script&gt;`, `<style>*{background:url(//evil.example.com)}</style>`, `</pre><script>alert(1)</script>`, `<a href="javascript:alert(1)">x</a>`,
}

// dangerous are the elements that load something, run something or change where something goes.
var dangerous = map[string]bool{"script": true, "iframe": true, "object": true, "embed": true, "base": true, "meta": true, "link": true, "style": true, "img": true, "svg": true, "form": true}

// shape returns what a page has of elements and attributes with a danger, of which no text may change anything.
func shape(t *testing.T, page string) string {
	t.Helper()
	root, err := nethtml.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for n := range root.Descendants() {
		if n.Type == nethtml.CommentNode {
			b.WriteString("comment\n")
		}
		if n.Type != nethtml.ElementNode {
			continue
		}
		if dangerous[n.Data] {
			fmt.Fprintln(&b, n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"), strings.HasPrefix(a.Key, "hx-on"), a.Key == "style", a.Key == "srcdoc":
				t.Errorf("a page has the attribute %s=%q", a.Key, a.Val)
			case a.Key == "href", a.Key == "src", a.Key == "action", strings.HasPrefix(a.Key, "hx-"):
				if a.Key != "hx-headers" && a.Key != "hx-target" && a.Key != "hx-swap" && a.Key != "hx-trigger" && a.Key != "hx-push-url" && !local(a.Val) {
					t.Errorf("a page refers to %s=%q", a.Key, a.Val)
				}
				fmt.Fprintln(&b, n.Data, a.Key)
			}
		}
	}
	return b.String()
}

// local reports whether a reference stays on this listener, without a scheme.
func local(ref string) bool {
	u, err := url.Parse(ref)
	return err == nil && u.Scheme == "" && u.Host == "" && (strings.HasPrefix(ref, "/") && !strings.HasPrefix(ref, "//") || strings.HasPrefix(ref, "#"))
}

// hostile is a gateway whose every text is the same.
func hostile(text string) fixed {
	now := time.Now()
	return fixed{
		status: admin.Status{
			APIs: []admin.API{{
				Name: text, Title: text, Version: text, State: admin.Ready, Breaker: text, LoadedAt: &now, Held: &admin.HeldDocument{Digest: text, Lost: 1, Of: 2},
			}},
			Config: admin.Config{Error: text, Opens: []string{text}, Prompts: []string{text}, Clashes: []string{text}, Selectors: []string{text}, PassedOver: []string{text}},
		},
		report: admin.Report{
			API: admin.API{Name: text, Title: text, Version: text, State: admin.Ready, LoadedAt: &now, Drift: &admin.Drift{Since: now, Total: 1, Places: 1, Differences: []admin.Difference{{
				Method: text, Path: text, Difference: drift.Difference{Kind: drift.ArgumentType, Pointer: "/" + text, Declared: text, Got: text}, Count: 1, Last: now,
			}}}},
			Problems:   []admin.Problem{{Message: text, Place: admin.Place{File: text, Line: 3, Pointer: text}}},
			Operations: []admin.Operation{{Method: text, Path: text, ID: text, Tool: text, Fate: admin.Skipped, Uncallable: text, Problems: []int{0}}},
		},
	}
}

// TestPayloads holds that no text of a document becomes markup, on any page that shows it.
func TestPayloads(t *testing.T) {
	pages := func(text string) (all []string) {
		c := newTestConsole(t, func(o *Options) { o.Gateway, o.Clean = hostile(text), answer.CleanData })
		b := signedIn(t, c, operateToken)
		for _, path := range []string{"/console", "/console/apis", "/console/apis/" + url.PathEscape(text), "/console/apis/" + url.PathEscape(text) + "/readiness", "/console/apis/" + url.PathEscape(text) + "/document?line=2&file=" + url.QueryEscape(text)} {
			if strings.Contains(text, "\x00") {
				path = strings.ReplaceAll(path, "%00", "x")
			}
			all = append(all, b.get(path).Body.String())
		}
		for _, path := range []string{"/console/tools?q=" + url.QueryEscape(text), "/console/live?tool=" + url.QueryEscape(text) + "&api=" + url.QueryEscape(text), "/console/nothing/" + url.PathEscape(text)} {
			all = append(all, b.get(path).Body.String())
		}
		out := &browser{t: t, console: c}
		all = append(all, out.get("/console/signin?next="+url.QueryEscape("/console/"+text)).Body.String(), out.post("/console/signin", url.Values{"token": {text}, "next": {text}}).Body.String())
		return all
	}
	harmless := pages("harmless")
	for _, text := range payloads {
		for i, page := range pages(text) {
			if got, want := shape(t, page), shape(t, harmless[i]); got != want && !strings.Contains(text, "\x00") {
				t.Errorf("%q changes page %d:\n%s\nwithout it:\n%s", text, i, got, want)
			}
			if strings.ContainsAny(page, "\u202e\u200b\x00") {
				t.Errorf("%q: page %d has invisible characters", text, i)
			}
		}
	}
	if !strings.Contains(harmless[0], "harmless") || !strings.Contains(harmless[2], "harmless") || !strings.Contains(pages(payloads[0])[2], html.EscapeString(payloads[0])[:6]) {
		t.Error("the pages do not show the texts")
	}
}

// TestHeaders holds the headers of each response: nothing inline runs, nobody frames a page, and no cache keeps it.
func TestHeaders(t *testing.T) {
	b := signedIn(t, newTestConsole(t, nil), operateToken)
	for _, path := range []string{"/console", "/console/apis", "/console/nothing", "/console/signin", "/console/static/console.css", "/console/static/nothing"} {
		h := b.get(path).Header()
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
			"X-Frame-Options":         "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if cache := h.Get("Cache-Control"); cache != "no-store" && !strings.HasPrefix(path, "/console/static/console.css") {
			t.Errorf("%s: Cache-Control is %q", path, cache)
		}
	}
}

// TestForeignOrigins holds that no page of another site signs anybody in or out, or changes anything.
func TestForeignOrigins(t *testing.T) {
	c := newTestConsole(t, nil)
	b := signedIn(t, c, operateToken)
	token := b.csrf()
	for _, path := range []string{"/console/signin", "/console/signout", "/console/reload"} {
		for _, header := range [][2]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example.com"}, {"Origin", "null"}, {"Origin", "http://example.com:1"}} {
			r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(url.Values{"csrf": {token}, "token": {operateToken}}.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set(header[0], header[1])
			if w := b.send(r); w.Code != http.StatusForbidden || len(w.Result().Cookies()) > 0 {
				t.Errorf("%s from %s: %d %v", path, header, w.Code, w.Result().Cookies())
			}
		}
	}
}

// TestExpiredSession holds that a session that is over changes nothing and shows nothing.
func TestExpiredSession(t *testing.T) {
	var did []string
	now := time.Now()
	c := newTestConsole(t, func(o *Options) { o.Gateway, o.Now = fixed{done: &did}, func() time.Time { return now } })
	b := signedIn(t, c, operateToken)
	token := b.csrf()
	now = now.Add(12 * time.Hour)
	if w := b.post("/console/reload", url.Values{"csrf": {token}}); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/console/signin" || did != nil {
		t.Errorf("%d %q, did %q", w.Code, w.Header().Get("Location"), did)
	}
	r := httptest.NewRequest(http.MethodGet, "/console/live", nil)
	r.Header.Set("HX-Request", "true")
	if w := b.send(r); w.Code != http.StatusUnauthorized || w.Header().Get("HX-Redirect") != "/console/signin?next=%2Fconsole%2Flive" || w.Body.Len() > 0 {
		t.Errorf("htmx: %d %q %s", w.Code, w.Header().Get("HX-Redirect"), w.Body)
	}
}

// TestWithoutSession holds that every page but that to sign in, and the style sheet, needs a session.
func TestWithoutSession(t *testing.T) {
	b := &browser{t: t, console: newTestConsole(t, nil)}
	for _, p := range navigation {
		if w := b.get(p.Path); w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "/console/signin") || strings.Contains(w.Body.String(), "orders") {
			t.Errorf("%s: %d %s", p.Path, w.Code, w.Body)
		}
	}
}

// TestNextPage holds that a sign-in leads to no other place than the console.
func TestNextPage(t *testing.T) {
	for next, want := range map[string]string{
		"": "/console", "/console/apis?fate=held": "/console/apis?fate=held", "/console/tools/a%2Fb": "/console/tools/a%2Fb", "https://evil.example.com/console/": "/console",
		"//evil.example.com/console/": "/console", `/\evil.example.com/console/`: "/console", "/console/signout": "/console", "javascript:alert(1)": "/console",
		"/console/../apis": "/console", "/reload": "/console", "/console/x#y": "/console/x", "/console/x\r\nSet-Cookie: a=b": "/console",
	} {
		if got := nextPage(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

// TestFailedSignIns holds that too many failures are refused, and that no token is logged.
func TestFailedSignIns(t *testing.T) {
	var log bytes.Buffer
	now := time.Now()
	c := newTestConsole(t, func(o *Options) {
		o.Log, o.Now = slog.New(slog.NewTextHandler(&log, nil)), func() time.Time { return now }
	})
	b := &browser{t: t, console: c}
	for range 10 {
		if w := b.post("/console/signin", url.Values{"token": {"canary-wrong-token"}}); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "canary") {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if w := b.post("/console/signin", url.Values{"token": {operateToken}}); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "30" || b.cookie != nil {
		t.Errorf("the right token after too many failures: %d %q", w.Code, w.Header().Get("Retry-After"))
	}
	now = now.Add(30 * time.Second)
	signedIn(t, c, operateToken)
	if text := log.String(); strings.Contains(text, "canary") || strings.Contains(text, operateToken) || strings.Count(text, "a sign-in to the console failed") != 10 {
		t.Errorf("log: %s", text)
	}
}

// TestFailuresOfOthers: where the address may be that of a proxy, wrong tokens of others never keep the right one out, are refused
// with 429 after ten, and don't fill the log. Sign-ins at the provider are not counted with tokens.
func TestFailuresOfOthers(t *testing.T) {
	var log bytes.Buffer
	c := newTestConsole(t, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		o.Address = func(*http.Request) (netip.Addr, bool) { return netip.MustParseAddr("203.0.113.7"), false }
	})
	attacker := &browser{t: t, console: c}
	for n := range 100 {
		want := http.StatusUnauthorized
		if n >= 10 {
			want = http.StatusTooManyRequests
		}
		if w := attacker.post("/console/signin", url.Values{"token": {"wrong"}}); w.Code != want {
			t.Fatalf("attempt %d: %d", n, w.Code)
		}
	}
	operator := signedIn(t, c, operateToken)
	if w := operator.get("/console"); w.Code != http.StatusOK {
		t.Errorf("the operator gets %d", w.Code)
	}
	if n := strings.Count(log.String(), "a sign-in to the console failed"); n != 10 {
		t.Errorf("%d records of failures", n)
	}
}

// TestNoWayToSignIn: a console without tokens and provider says which key to set.
func TestNoWayToSignIn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(file, []byte("apis: [{spec: 'https://example.com/openapi.json'}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Load(file, os.Getenv)
	if cfg == nil {
		t.Fatal(problems)
	}
	b := &browser{t: t, console: newTestConsole(t, func(o *Options) { o.Config = func() *config.Config { return cfg } })}
	if page := b.get("/console/signin").Body.String(); !strings.Contains(page, "token: ${ADMIN_TOKEN}") || !strings.Contains(page, "admin.console.oidc") {
		t.Error(page)
	}
	for _, token := range []string{"", " ", "x"} {
		if w := b.post("/console/signin", url.Values{"token": {token}}); w.Code != http.StatusUnauthorized {
			t.Errorf("token %q: %d", token, w.Code)
		}
	}
}
