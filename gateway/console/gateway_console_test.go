package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
)

const operatorToken = "operator-0123456789"

// TestConsole holds what is let in on the admin listener with the console, and that nothing of it is on the listener of clients (O12).
func TestConsole(t *testing.T) {
	const apis = "apis: [{spec: %s, name: a, refresh: 0s}]\n"
	o := gatewaytest.NewChanging(t, gatewaytest.Document("A", "one", "two"))
	file := func(admin string) map[string]string {
		return map[string]string{"drawbridge.yaml": admin + strings.Replace(apis, "%s", o.URL+"/a.yaml", 1)}
	}
	t.Run("on", func(t *testing.T) {
		r := gatewaytest.Run(t, file("admin: {token: "+operatorToken+", console: {url: 'https://console.example.com'}}\n"))
		r.Served()
		session := gatewaytest.SignInToConsole(t, r.Gateway, operatorToken)
		if w := gatewaytest.Do(r.Admin(), http.MethodGet, "/", nil); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/console" {
			t.Errorf("/: %d %q", w.Code, w.Header().Get("Location"))
		}
		page := gatewaytest.Do(r.Admin(), http.MethodGet, "/console", session)
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
			if w := gatewaytest.Do(r.Admin(), http.MethodGet, "/console", with("Host", host)); w.Code != want || want == 403 && strings.Contains(w.Body.String(), "console/apis") {
				t.Errorf("a page for the host %s: %d %s", host, w.Code, w.Body)
			}
			h := with("Sec-Fetch-Site", "same-origin") // so says a browser of a host that was rebound
			h.Set("Host", host)
			if w := gatewaytest.PostForm(r.Admin(), "/console/reload", url.Values{"csrf": {csrf}}, h); (w.Code == http.StatusForbidden) != (want == 403) {
				t.Errorf("a reload for the host %s: %d %s", host, w.Code, w.Body)
			}
		}
		if w := gatewaytest.Do(r.Admin(), http.MethodPost, "/reload", session); w.Code != http.StatusUnauthorized {
			t.Errorf("a session reloads by the route for programs: %d", w.Code)
		}
		if w := gatewaytest.Do(r.Admin(), http.MethodGet, "/console/apis", http.Header{"Authorization": {"Bearer " + operatorToken}}); w.Code != http.StatusSeeOther {
			t.Errorf("a page without a session: %d", w.Code)
		}
		for _, path := range []string{"/console", "/console/", "/console/signin", "/console/static/console.css"} {
			if w := gatewaytest.Do(r.Handler(), http.MethodGet, path, session); w.Code != http.StatusNotFound {
				t.Errorf("%s on the listener of clients: %d", path, w.Code)
			}
		}
		if state := r.State(0).State; state != admin.Ready {
			t.Errorf("the API is %s", state)
		}
	})
	for name, text := range map[string]string{
		"off": "admin: {token: " + operatorToken + ", console: {enabled: false}}\n", "other address": "admin: {listen: '0.0.0.0:9090', token: " + operatorToken + "}\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := gatewaytest.Run(t, file(text))
			r.Served()
			for _, path := range []string{"/", "/console", "/console/signin", "/console/static/console.css"} {
				if w := gatewaytest.Do(r.Admin(), http.MethodGet, path, nil); w.Code != http.StatusNotFound {
					t.Errorf("%s: %d %s", path, w.Code, w.Body)
				}
			}
		})
	}
}
