package console_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

// consoleForm returns the CSRF token of a session.
func consoleForm(t *testing.T, g *gateway.Gateway, session http.Header) string {
	t.Helper()
	_, rest, _ := strings.Cut(gatewaytest.Do(g.Admin(), http.MethodGet, "/console", session).Body.String(), `name="csrf" value="`)
	csrf, _, _ := strings.Cut(rest, `"`)
	return csrf
}

// TestConsoleAccess holds that Access says of a token what the guard would, and that nothing of the token stays on a page, in
// the log, or in the metrics of refused requests.
func TestConsoleAccess(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	var log bytes.Buffer
	text := "admin: {token: " + operatorToken + "}\n" + fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i))
	g, err := gateway.New(gateway.Options{Config: gatewaytest.Configure(t, t.TempDir(), gatewaytest.Document("Shop", "list", "purge"), text, service.URL), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	session := gatewaytest.SignInToConsole(t, g, operatorToken)
	csrf := consoleForm(t, g, session)
	form := session.Clone()
	form.Set("Sec-Fetch-Site", "same-origin")
	refusals := func() (lines []string) {
		for line := range strings.Lines(gatewaytest.Do(g.Admin(), http.MethodGet, "/metrics", nil).Body.String()) {
			if strings.Contains(line, "refused") || strings.Contains(line, "denied") || strings.Contains(line, "auth") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	page := gatewaytest.Do(g.Admin(), http.MethodGet, "/console/access", session).Body.String()
	if !strings.Contains(page, "scope=orders%3Aadmin") || !strings.Contains(page, "scope=mcp%3Atools") {
		t.Errorf("the table by scope: %s", page)
	}
	before := refusals()
	for _, tt := range []struct {
		name, token string
		want        []string
	}{
		{"good", i.Token(t, map[string]any{"sub": "carol"}), []string{"carol", i.URL, "1 of 2 tools", `href="/console/tools/list"`}},
		{"good for all", i.Token(t, map[string]any{"scope": "orders:all"}), []string{"2 of 2 tools", `href="/console/tools/purge"`}},
		{"expired", i.Token(t, map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}), []string{"The token is refused: expired"}},
		{"of another gateway", i.Token(t, map[string]any{"aud": "https://other.example.com/mcp"}), []string{"refused: audience", "https://other.example.com/mcp"}},
		{"opaque", "opaque-canary-0123456789", []string{"refused: not a JWT"}},
	} {
		w := gatewaytest.PostForm(g.Admin(), "/console/access", url.Values{"csrf": {csrf}, "token": {tt.token}}, form)
		page := w.Body.String()
		for _, want := range tt.want {
			if w.Code != http.StatusOK || !strings.Contains(page, want) {
				t.Errorf("%s: %d, the page lacks %q: %s", tt.name, w.Code, want, page)
			}
		}
		signature := tt.token[strings.LastIndexByte(tt.token, '.')+1:]
		if strings.Contains(page, signature) || strings.Contains(log.String(), signature) {
			t.Errorf("%s: the token is on the page or in the log", tt.name)
		}
		if got := w.Header().Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: Cache-Control %q", tt.name, got)
		}
		if w := gatewaytest.Do(g.Admin(), http.MethodGet, "/console/access?token="+url.QueryEscape(tt.token), session); strings.Contains(w.Body.String(), "token-result") {
			t.Errorf("%s: a token in the address is examined", tt.name)
		}
	}
	if w := gatewaytest.PostForm(g.Admin(), "/console/access", url.Values{"token": {"x"}}, form); w.Code != http.StatusForbidden {
		t.Errorf("without a CSRF token: %d", w.Code)
	}
	if after := refusals(); !slices.Equal(before, after) {
		t.Errorf("metrics:\n%s\nbefore:\n%s", after, before)
	}
}

// TestConsoleTools holds the filters of tools, and what the page of a tool shows, without the credential.
func TestConsoleTools(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge", "show"), "admin: {token: "+operatorToken+"}\n"+fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), service.URL)
	session := gatewaytest.SignInToConsole(t, g, operatorToken)
	for query, want := range map[string]string{
		"": "list purge show", "?q=purge": "purge", "?scope=orders:admin": "purge", "?scope=mcp:tools": "list show", "?api=shop": "list purge show", "?api=other": "",
		"?tag=none": "", "?fate=exposed": "list purge show", "?fate=changed": "", "?q=purge&scope=mcp:tools": "",
		"?q=U": "purge", "?q=u&scope=mcp:tools": "", "?q=zz": "",
	} {
		w := gatewaytest.Do(g.Admin(), http.MethodGet, "/console/tools"+query, session)
		var got []string
		for _, name := range []string{"list", "purge", "show"} {
			if strings.Contains(w.Body.String(), `href="/console/tools/`+name+`"`) {
				got = append(got, name)
			}
		}
		if w.Code != http.StatusOK || strings.Join(got, " ") != want {
			t.Errorf("%s: %d %q, want %q", query, w.Code, got, want)
		}
	}
	for query, want := range map[string]bool{"?revision=2024-11-05": false, "?revision=2025-11-25": true, "?revision=1999-01-01": true} {
		page := gatewaytest.Do(g.Admin(), http.MethodGet, "/console/tools/purge"+query, session).Body.String()
		if got := strings.Contains(page, "&#34;outputSchema&#34;"); got != want {
			t.Errorf("%s: an output schema is shown: %t, want %t", query, got, want)
		}
		for _, text := range []string{"orders:admin", "rules[0]", service.URL, "api_key"} {
			if !strings.Contains(page, text) {
				t.Errorf("%s: the page lacks %q: %s", query, text, page)
			}
		}
		if strings.Contains(page, "upstream-key") {
			t.Errorf("%s: the page has the credential", query)
		}
	}
	if w := gatewaytest.Do(g.Admin(), http.MethodGet, "/console/tools/nothing", session); w.Code != http.StatusNotFound {
		t.Errorf("an unknown tool: %d", w.Code)
	}
}

// BenchmarkConsoleSearch measures search as you type, session and page included, with all documents of OPENAPI_CORPUS. The goal
// is 50 ms.
func BenchmarkConsoleSearch(b *testing.B) {
	corpus := os.Getenv("OPENAPI_CORPUS")
	if corpus == "" {
		b.Skip("OPENAPI_CORPUS is not set")
	}
	index, err := os.ReadFile(filepath.Join(corpus, "INDEX.md"))
	if err != nil {
		b.Fatal(err)
	}
	text := "admin: {token: " + operatorToken + "}\napis:\n"
	for line := range strings.Lines(string(index)) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			name := filepath.Join(corpus, filepath.FromSlash(strings.TrimSpace(cells[1])))
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
				text += fmt.Sprintf("  - {spec: %q, base_url: \"http://127.0.0.1:1\"}\n", name)
			}
		}
	}
	file := filepath.Join(b.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	c, problems := config.Load(file, func(string) string { return "" })
	if c == nil {
		b.Fatal(problems)
	}
	g, err := gateway.New(gateway.Options{Config: c})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := g.Load(b.Context()); err != nil {
		b.Fatal(err)
	}
	w := gatewaytest.PostForm(g.Admin(), "/console/signin", url.Values{"token": {operatorToken}}, http.Header{"Sec-Fetch-Site": {"same-origin"}})
	cookie := w.Result().Cookies()[0]
	for _, query := range []string{"q=c", "q=create+a+customer", "q=delete+the+user%27s+session+token&fate=changed", "q=", "scope=none"} {
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:9090/console/tools?"+query, nil)
				r.Header.Set("HX-Request", "true")
				r.Header.Set("HX-Target", "rows")
				r.AddCookie(cookie)
				w := httptest.NewRecorder()
				if g.Admin().ServeHTTP(w, r); w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body)
				}
			}
			b.ReportMetric(float64(g.Status().Tools), "tools")
		})
	}
}

// TestImpliedScopes: the table by scopes, the tools of a token and the list of tools count by the same rule, also where a scope implies others.
func TestImpliedScopes(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	config := strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), `"orders:all": [`, `"orders:admin": ["mcp:tools"], "orders:all": [`, 1)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge", "show"), "admin: {token: "+operatorToken+"}\n"+config, service.URL)
	session := gatewaytest.SignInToConsole(t, g, operatorToken)
	page := gatewaytest.Do(g.Admin(), http.MethodGet, "/console/access", session).Body.String()
	if want := `href="/console/tools?granted=orders%3Aadmin">3 tools</a>`; !strings.Contains(page, want) {
		t.Errorf("no %s in %s", want, page)
	}
	for _, want := range []string{`href="/console/tools?granted=mcp%3Atools">2 tools</a>`, `href="/console/tools?granted=orders%3Aall">3 tools</a>`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	form := session.Clone()
	form.Set("Sec-Fetch-Site", "same-origin")
	token := i.Token(t, map[string]any{"scope": "orders:admin"})
	page = gatewaytest.PostForm(g.Admin(), "/console/access", url.Values{"csrf": {consoleForm(t, g, session)}, "token": {token}}, form).Body.String()
	if !strings.Contains(page, "It may call 3 of 3 tools") {
		t.Errorf("the token: %s", page)
	}
	for granted, want := range map[string]string{"orders:admin": "3 of 3 tools", "mcp:tools": "2 of 3 tools", "": "0 of 3 tools"} {
		page := gatewaytest.Do(g.Admin(), http.MethodGet, "/console/tools?granted="+url.QueryEscape(granted), session).Body.String()
		if !strings.Contains(page, want) {
			t.Errorf("granted %q: no %q in %s", granted, want, page)
		}
	}
}
