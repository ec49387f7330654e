package auth

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestEndpoints holds that a token for one endpoint is good for no other, whichever saw it first, and that each
// endpoint speaks of itself.
func TestEndpoints(t *testing.T) {
	orders, open := resource+"/orders", resource+"/open"
	h := opaqueHouse(t, func(o *Options) {
		o.Endpoints = []Endpoint{{Resource: orders, DefaultScopes: []string{"orders:read"}}, {Resource: open}}
		o.Issuers = append(o.Issuers, Issuer{URL: "http://localhost:7003", Audiences: []string{"api://mcp"}})
	})
	newIDP(t, h.network, "7003", h.keyB)
	guards := map[string]*Guard{"main": h.guard, "orders": h.guard.Endpoint(0), "open": h.guard.Endpoint(1)}
	h.a.answers = map[string]string{
		"for-main":   h.activeAnswer(h.now, nil),
		"for-orders": h.activeAnswer(h.now, map[string]string{"aud": `"` + orders + `"`}),
		"for-both":   h.activeAnswer(h.now, map[string]string{"aud": `["` + orders + `","` + resource + `"]`}),
	}
	jwt := func(aud any) string { return h.keyB.token(h.b.url, h.now, map[string]any{"aud": aud}) }
	for _, tt := range []struct {
		name, token string
		good        string // where
	}{
		{"opaque, main", "for-main", "main"},
		{"opaque, orders", "for-orders", "orders"},
		{"opaque, both", "for-both", "main orders"},
		{"jwt, main", jwt(resource), "main"},
		{"jwt, orders", jwt(orders), "orders"},
		{"jwt, orders, other case of the host", jwt("https://MCP.example.com/mcp/orders"), "orders"},
		{"jwt, open", jwt([]string{"x", open}), "open"},
		{"jwt, slash", jwt(orders + "/"), ""},
		{"jwt, none", jwt(nil), ""},
		{"configured audience", h.keyB.token("http://localhost:7003", h.now, map[string]any{"aud": "api://mcp"}), "main orders open"},
		{"other audience than the configured", h.keyB.token("http://localhost:7003", h.now, map[string]any{"aud": resource}), ""},
	} {
		for range 2 { // from the cache too
			for name, g := range guards {
				r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader("{}"))
				r.Header.Set("Authorization", "Bearer "+tt.token)
				w := httptest.NewRecorder()
				g.Protect(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
				if want := strings.Contains(" "+tt.good+" ", " "+name+" "); want != (w.Code == 200) || !want && w.Code != 401 {
					t.Errorf("%s at %s = %d %s", tt.name, name, w.Code, w.Body)
				}
			}
		}
	}
	for name, want := range map[string]struct{ path, resource, scope string }{
		"main":   {"/mcp", resource, "mcp:tools"},
		"orders": {"/mcp/orders", orders, "orders:read"},
		"open":   {"/mcp/open", open, "mcp:tools"},
	} {
		g := guards[name]
		w := httptest.NewRecorder()
		g.Protect(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/mcp", nil))
		challenge := fmt.Sprintf(`Bearer scope="%s", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource%s"`, want.scope, want.path)
		if got := w.Header().Get("WWW-Authenticate"); got != challenge {
			t.Errorf("%s: %s", name, got)
		}
		w = httptest.NewRecorder()
		g.Metadata().ServeHTTP(w, httptest.NewRequest(http.MethodGet, g.MetadataPaths()[0], nil))
		var doc struct {
			Resource        string
			ScopesSupported []string `json:"scopes_supported"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || doc.Resource != want.resource || fmt.Sprint(doc.ScopesSupported) != "["+want.scope+"]" {
			t.Errorf("%s: %s, %v", name, w.Body, err)
		}
		p := &Principal{Scopes: []string{want.scope}}
		if !g.Allows(p, nil) || g.Allows(&Principal{Scopes: []string{"other"}}, nil) {
			t.Errorf("%s: the default scopes are others", name)
		}
	}
	if h.guard.Endpoint(0).MetadataPaths()[0] != "/.well-known/oauth-protected-resource/mcp/orders" {
		t.Errorf("paths %q", h.guard.Endpoint(0).MetadataPaths())
	}
}

// TestBadEndpoints holds what New refuses.
func TestBadEndpoints(t *testing.T) {
	for _, tt := range []struct {
		endpoint Endpoint
		want     string
	}{
		{Endpoint{Resource: resource}, `auth: resource identifier "https://mcp.example.com/mcp" is listed twice`},
		{Endpoint{Resource: "HTTPS://MCP.example.com/mcp"}, `auth: resource identifier "HTTPS://MCP.example.com/mcp" is listed twice`},
		{Endpoint{Resource: resource + "/first"}, `auth: resource identifier "https://mcp.example.com/mcp/first" is listed twice`},
		{Endpoint{Resource: "mcp/x"}, `auth: resource identifier "mcp/x" is not an http or https URL without user, query and fragment`},
		{Endpoint{Resource: resource + "/x", DefaultScopes: []string{"a b"}}, `auth: "a b" is not a scope`},
	} {
		_, err := New(Options{
			Resource: resource, Endpoints: []Endpoint{{Resource: resource + "/first"}, tt.endpoint}, Issuers: []Issuer{{URL: "https://idp.example.com"}},
			DefaultScopes: []string{"a"}, Client: client(t, &memory{}),
		})
		if fmt.Sprint(err) != tt.want {
			t.Errorf("%+v: %v", tt.endpoint, err)
		}
	}
}
