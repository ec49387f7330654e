package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	nethtml "golang.org/x/net/html"

	"drawbridge/gateway/console/signin"
	"drawbridge/gateway/history"
)

// rendered returns the text of a component.
func rendered(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// attributes returns the values of an attribute in the order of the page.
func attributes(t *testing.T, page, name string) (values []string) {
	t.Helper()
	root, err := nethtml.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if a.Key == name {
				values = append(values, a.Val)
			}
		}
	}
	return values
}

// FuzzPages: no text changes the elements of a page, whichever context it is in, and a browser reads it as it is.
func FuzzPages(f *testing.F) {
	for _, s := range append(payloads, "", "a b", "a+b", "' onload='x", "JaVaScRiPt:x", "mailto:a@b", "/a%2Fb%zz%", "\xff", "é😀", ":x", "a/b:c", "&amp;", "&#x27;", "\u0085", "a\nb", "\\") {
		f.Add(s)
	}
	v := func(s string) view {
		return view{Path: s, Version: s, Now: time.Unix(0, 0), Session: &signin.Session{Identity: signin.Identity{Name: s, Role: signin.Operate}, CSRF: s}, Navigation: navigation, mark: "mark"}
	}
	all := func(s string) []content {
		fields := []tryField{{Name: s, Input: "arg." + s, ID: s, Description: s, Kind: fieldText, Value: s, Placeholder: s, Problem: s}, {Kind: fieldJSON, Value: s, Placeholder: s}, {Kind: fieldChoice, Options: []tryOption{{s, s}}}}
		return []content{
			tryData{Tool: TrialTool{Name: s, Title: s, API: s, Method: s, Path: s}, Fields: fields, Arguments: s, Problem: s, Consent: "x" + s},
			liveData{Filter: liveFilter{API: s, Tool: s, Outcome: s}, Callers: true, Calls: []liveCall{{Call: history.Call{RPC: s, Tool: s, API: "x" + s, Outcome: s, Cache: "x" + s, Client: "x" + s}}}},
			connectData{Chosen: connectEndpoint{Name: "x" + s, URL: s}, Clients: []connectClient{{Name: s, ID: "id", Guide: s, Steps: []string{s}, Snippets: []connectSnippet{{s, s}}}}},
			guideData{Name: s, Text: "x" + s, Back: "/x"},
			documentData{API: s, File: s, Lines: []line{{1, s, true}}},
			overviewData{Done: "x" + s, Failed: "x" + s, Charts: []chart{{Title: s, Lines: []chartLine{{s, s}}}}, Attention: []attention{{State: s, Kind: s, Name: s, URL: "/", Reason: s, Next: s, Command: "x" + s, Accept: "/x", Digest: s}}},
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		harmless := all("harmless")
		for i, p := range all(s) {
			page := rendered(t, layout(v(s), p))
			if s != "" {
				if got, want := shape(t, page), shape(t, rendered(t, layout(v("harmless"), harmless[i]))); got != want && !strings.Contains(s, "\x00") {
					t.Errorf("%q changes %T:\n%s\nwithout it:\n%s", s, p, got, want)
				}
			}
		}
		if strings.ContainsAny(s, "\x00\r") || s == "" {
			return // which HTML does not keep
		}
		page := rendered(t, layout(v(s), signInData{Next: s, Tokens: true}))
		var found bool
		for _, value := range attributes(t, page, "value") {
			found = found || value == s
		}
		if !found && !strings.ContainsFunc(s, func(r rune) bool { return r == '\uFFFD' }) {
			t.Errorf("a form does not send %q: %s", s, page)
		}
	})
}

// TestURLs: a URL that runs a script, or leaves HTTP, is never written, whichever attribute it is in.
func TestURLs(t *testing.T) {
	v := view{mark: "mark"}
	for _, u := range []string{"javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,<script>alert(1)</script>", "vbscript:x", " javascript:alert(1)", "java\tscript:alert(1)", "\x01javascript:alert(1)", "file:x"} {
		for _, page := range []string{
			rendered(t, signedInData{u}.main(v)),
			rendered(t, neighbours(pageLinks{Before: u, After: u})),
			rendered(t, connectData{Endpoints: []connectEndpoint{{Path: u}, {Path: u}}}.main(v)),
		} {
			links := attributes(t, page, "href")
			if len(links) == 0 {
				t.Errorf("%q: no link in %s", u, page)
			}
			for _, l := range links {
				if l != string(templ.FailedSanitizationURL) {
					t.Errorf("%q is written as %q", u, l)
				}
			}
		}
	}
}

// TestTemplates: no template of the console bypasses the escaping.
func TestTemplates(t *testing.T) {
	files, err := filepath.Glob("*.templ")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, bypass := range []string{"templ.Raw", "SafeURL", "SafeCSS", "FromGoHTML", "ComponentScript", "templ.JSUnsafe", "{!"} {
			if strings.Contains(string(text), bypass) {
				t.Errorf("%s has %s, which writes text that is not escaped", name, bypass)
			}
		}
	}
}
