package gateway

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"drawbridge/gateway/admin"
)

const operatorToken = "operator-0123456789"

// signInToConsole signs in with a token, and returns the header with the session's cookie.
func signInToConsole(t *testing.T, g *Gateway, token string) http.Header {
	t.Helper()
	w := postForm(g.Admin(), "/console/signin", url.Values{"token": {token}}, http.Header{"Sec-Fetch-Site": {"same-origin"}})
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || len(cookies) != 1 {
		t.Fatalf("signing in: %d %v %s", w.Code, cookies, w.Body)
	}
	return http.Header{"Cookie": {cookies[0].Name + "=" + cookies[0].Value}}
}

// postForm sends a form.
func postForm(h http.Handler, target string, form url.Values, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:9090"+target, strings.NewReader(form.Encode()))
	for name, values := range header {
		r.Header[name] = values
	}
	if host := header.Get("Host"); host != "" {
		r.Host = host
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

var consoleLink = regexp.MustCompile(`(?:href|action)="(/console[^"#]*)"`)

// consolePages returns the pages that links lead to, from the overview, at most 200, without static files.
func consolePages(t *testing.T, g *Gateway, session http.Header) (found []string) {
	t.Helper()
	seen := map[string]bool{"/console": true}
	found = []string{"/console"}
	for i := 0; i < len(found) && len(found) < 200; i++ {
		for _, m := range consoleLink.FindAllStringSubmatch(do(g.Admin(), http.MethodGet, found[i], session).Body.String(), -1) {
			path := strings.ReplaceAll(m[1], "&amp;", "&")
			forms := strings.HasSuffix(path, "/accept") || strings.HasSuffix(path, "/reload") || strings.HasSuffix(path, "/signout")
			if !seen[path] && !forms && !strings.HasPrefix(path, "/console/static/") {
				seen[path] = true
				found = append(found, path)
			}
		}
	}
	if len(found) < 5 {
		t.Errorf("the overview leads to %q alone", found)
	}
	return found
}

// TestConsole holds what is let in on the admin listener with the console, and that nothing of it is on the listener of clients (O12).
func TestConsole(t *testing.T) {
	const apis = "apis: [{spec: %s, name: a, refresh: 0s}]\n"
	o := newChanging(t, document("A", "one", "two"))
	file := func(admin string) map[string]string {
		return map[string]string{"drawbridge.yaml": admin + strings.Replace(apis, "%s", o.URL+"/a.yaml", 1)}
	}
	t.Run("on", func(t *testing.T) {
		r := run(t, file("admin: {token: "+operatorToken+", console: {url: 'https://console.example.com'}}\n"))
		r.served()
		session := signInToConsole(t, r.Gateway, operatorToken)
		if w := do(r.Admin(), http.MethodGet, "/", nil); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/console" {
			t.Errorf("/: %d %q", w.Code, w.Header().Get("Location"))
		}
		page := do(r.Admin(), http.MethodGet, "/console", session)
		if page.Code != http.StatusOK || !strings.Contains(page.Body.String(), `href="/console/apis/a"`) {
			t.Fatalf("%d %s", page.Code, page.Body)
		}
		_, rest, _ := strings.Cut(page.Body.String(), `name="csrf" value="`)
		csrf, _, _ := strings.Cut(rest, `"`)
		with := func(name, value string) http.Header {
			h := session.Clone()
			h.Set(name, value)
			return h
		}
		for host, want := range map[string]int{"evil.example.com": 403, "evil.example.com:9090": 403, "127.0.0.1.evil.example.com": 403, "console.example.com": 200, "localhost:9090": 200} {
			if w := do(r.Admin(), http.MethodGet, "/console", with("Host", host)); w.Code != want || want == 403 && strings.Contains(w.Body.String(), "console/apis") {
				t.Errorf("a page for the host %s: %d %s", host, w.Code, w.Body)
			}
			h := with("Sec-Fetch-Site", "same-origin") // so says a browser of a host that was rebound
			h.Set("Host", host)
			if w := postForm(r.Admin(), "/console/reload", url.Values{"csrf": {csrf}}, h); (w.Code == http.StatusForbidden) != (want == 403) {
				t.Errorf("a reload for the host %s: %d %s", host, w.Code, w.Body)
			}
		}
		if w := do(r.Admin(), http.MethodPost, "/reload", session); w.Code != http.StatusUnauthorized {
			t.Errorf("a session reloads by the route for programs: %d", w.Code)
		}
		if w := do(r.Admin(), http.MethodGet, "/console/apis", http.Header{"Authorization": {"Bearer " + operatorToken}}); w.Code != http.StatusSeeOther {
			t.Errorf("a page without a session: %d", w.Code)
		}
		for _, path := range []string{"/console", "/console/", "/console/signin", "/console/static/console.css"} {
			if w := do(r.Handler(), http.MethodGet, path, session); w.Code != http.StatusNotFound {
				t.Errorf("%s on the listener of clients: %d", path, w.Code)
			}
		}
		if state := r.state(0).State; state != admin.Ready {
			t.Errorf("the API is %s", state)
		}
	})
	for name, text := range map[string]string{
		"off": "admin: {token: " + operatorToken + ", console: {enabled: false}}\n", "other address": "admin: {listen: '0.0.0.0:9090', token: " + operatorToken + "}\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, file(text))
			r.served()
			for _, path := range []string{"/", "/console", "/console/signin", "/console/static/console.css"} {
				if w := do(r.Admin(), http.MethodGet, path, nil); w.Code != http.StatusNotFound {
					t.Errorf("%s: %d %s", path, w.Code, w.Body)
				}
			}
		})
	}
}
