package auth

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestAlternates holds that each identifier of an endpoint names itself in challenges and metadata, and that a token is good
// for the identifier that it names and for no other, unless the identifiers share their audience.
func TestAlternates(t *testing.T) {
	const inside = "https://mcp.internal:8443/mcp"
	outside, orders, insideOrders := resource, resource+"/orders", inside+"/orders"
	for _, shared := range []bool{false, true} {
		h := opaqueHouse(t, func(o *Options) {
			o.Alternates, o.SharedAudience = []string{inside}, shared
			o.Endpoints = []Endpoint{{Resource: orders, Alternates: []string{insideOrders}}}
			o.Issuers = append(o.Issuers,
				Issuer{URL: "http://localhost:7003", Audiences: []string{"api://mcp", outside, inside}},
				Issuer{URL: "http://localhost:7004", Audiences: []string{outside}})
		})
		newIDP(t, h.network, "7003", h.keyB)
		newIDP(t, h.network, "7004", h.keyB)
		main, named := h.guard, h.guard.Endpoint(0)
		guards := map[string]*Guard{"outside": main, "inside": main.Alternate(1), "outside/orders": named, "inside/orders": named.Alternate(1)}
		if main.Alternate(0) != main || named.Alternate(0) != named {
			t.Error("the identifier with index 0 is another")
		}
		h.a.answers = map[string]string{"opaque-inside": h.activeAnswer(h.now, map[string]string{"aud": `"` + inside + `"`})}
		token := func(issuer string, aud any) string { return h.keyB.token(issuer, h.now, map[string]any{"aud": aud}) }
		for _, tt := range []struct {
			name, token string
			good        []string // where
			shared      []string // where, with a shared audience
		}{
			{"outside", token(h.b.url, outside), []string{"outside"}, []string{"outside", "inside"}},
			{"inside", token(h.b.url, inside), []string{"inside"}, []string{"outside", "inside"}},
			{"inside, other case", token(h.b.url, "https://MCP.Internal:8443/mcp"), []string{"inside"}, []string{"outside", "inside"}},
			{"inside, other path", token(h.b.url, inside+"/"), nil, nil},
			{"inside without its port", token(h.b.url, "https://mcp.internal/mcp"), nil, nil},
			{"both", token(h.b.url, []string{outside, inside}), []string{"outside", "inside"}, []string{"outside", "inside"}},
			{"orders inside", token(h.b.url, insideOrders), []string{"inside/orders"}, []string{"outside/orders", "inside/orders"}},
			{"neither", token(h.b.url, "https://other.example/mcp"), nil, nil},
			{"opaque, inside", "opaque-inside", []string{"inside"}, []string{"outside", "inside"}},
			// Audiences that an operator lists hold for all endpoints, but those that are identifiers only under their own URL.
			{"listed", token("http://localhost:7003", "api://mcp"), []string{"outside", "inside", "outside/orders", "inside/orders"}, []string{"outside", "inside", "outside/orders", "inside/orders"}},
			{"listed, inside", token("http://localhost:7003", inside), []string{"inside", "inside/orders"}, []string{"outside", "inside", "outside/orders", "inside/orders"}},
			{"one listed", token("http://localhost:7004", outside), []string{"outside", "outside/orders"}, []string{"outside", "inside", "outside/orders", "inside/orders"}},
			{"not listed", token("http://localhost:7004", inside), nil, nil},
		} {
			want := tt.good
			if shared {
				want = tt.shared
			}
			for range 2 { // from the cache too
				for name, g := range guards {
					r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader("{}"))
					r.Header.Set("Authorization", "Bearer "+tt.token)
					w := httptest.NewRecorder()
					g.Protect(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
					if good := slices.Contains(want, name); good != (w.Code == 200) || !good && w.Code != 401 {
						t.Errorf("shared %t: %s at %s = %d %s", shared, tt.name, name, w.Code, w.Body)
					}
				}
			}
		}
		for name, want := range map[string]string{"outside": outside, "inside": inside, "outside/orders": orders, "inside/orders": insideOrders} {
			w := httptest.NewRecorder()
			guards[name].Protect(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/mcp", nil))
			n := strings.LastIndex(want, "/mcp")
			at := want[:n] + "/.well-known/oauth-protected-resource" + want[n:]
			if got := w.Header().Get("WWW-Authenticate"); !strings.Contains(got, `resource_metadata="`+at+`"`) {
				t.Errorf("%s: challenge %s", name, got)
			}
			w = httptest.NewRecorder()
			guards[name].Metadata().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
			var doc struct{ Resource string }
			if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || doc.Resource != want {
				t.Errorf("%s: metadata %s, %v", name, w.Body, err)
			}
		}
		if e := main.Explain(t.Context(), token(h.b.url, inside)); !e.Accepted {
			t.Errorf("shared %t: a token for an alternate is explained as %q", shared, e.Reason)
		}
	}
}

// TestAlternateProofs holds that a DPoP proof is good for the identifier that it was made for.
func TestAlternateProofs(t *testing.T) {
	const inside = "https://mcp.internal/mcp"
	for _, shared := range []bool{false, true} {
		h := newHouse(t, func(o *Options) {
			o.Alternates, o.SharedAudience, o.Issuers[0].DPoP = []string{inside}, shared, DPoPRequire
		})
		key := newES256("device")
		token := h.keyA.token(h.a.url, h.now, map[string]any{"aud": []string{resource, inside}, "cnf": map[string]any{"jkt": key.thumbprint()}})
		for n, g := range []*Guard{h.guard, h.guard.Alternate(1)} {
			for m, target := range []string{resource, inside} {
				r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader("{}"))
				r.Header.Set("Authorization", "DPoP "+token)
				r.Header.Set("Dpop", key.proof(token, fmt.Sprint(shared, n, m), h.now, map[string]any{"htu": target}))
				w := httptest.NewRecorder()
				g.Protect(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
				if good := shared || n == m; good != (w.Code == 200) {
					t.Errorf("shared %t: a proof for %s at identifier %d: %d", shared, target, n, w.Code)
				}
			}
		}
		// A proof that was used at one identifier is used at the other.
		proof := key.proof(token, "once", h.now, map[string]any{"htu": resource})
		if w := h.prove(token, proof); w.Code != 200 {
			t.Errorf("first use: %d", w.Code)
		}
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader("{}"))
		r.Header.Set("Authorization", "DPoP "+token)
		r.Header.Set("Dpop", proof)
		w := httptest.NewRecorder()
		if h.guard.Alternate(1).Protect(http.NotFoundHandler()).ServeHTTP(w, r); w.Code != 401 {
			t.Errorf("shared %t: second use at the other identifier: %d", shared, w.Code)
		}
	}
}

// TestBadAlternates holds what New refuses.
func TestBadAlternates(t *testing.T) {
	for alternate, want := range map[string]string{
		resource:                       `auth: resource identifier "https://mcp.example.com/mcp" is listed twice`,
		"https://MCP.example.com/mcp":  `auth: resource identifier "https://MCP.example.com/mcp" is listed twice`,
		"https://mcp.example.com/mcp?": `auth: resource identifier "https://mcp.example.com/mcp?" is not an http or https URL without user, query and fragment`,
	} {
		_, err := New(Options{
			Resource: resource, Alternates: []string{alternate}, Issuers: []Issuer{{URL: "https://idp.example.com"}},
			DefaultScopes: []string{"a"}, Client: client(t, &memory{}),
		})
		if fmt.Sprint(err) != want {
			t.Errorf("%s: %v", alternate, err)
		}
	}
}
