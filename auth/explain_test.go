package auth

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestExplain holds that the reason is that of a request with the token, and that nothing is kept.
func TestExplain(t *testing.T) {
	h := newHouse(t, nil)
	good := func(change map[string]any) string { return h.keyA.token(h.a.url, h.now, change) }
	for name, c := range map[string]struct{ text, reason, advice string }{
		"a token":                   {text: good(nil)},
		"with its scheme":           {text: "Bearer " + good(nil)},
		"expired":                   {good(map[string]any{"exp": h.now.Add(-time.Hour).Unix()}), "expired", "expired"},
		"for another audience":      {good(map[string]any{"aud": "https://orders.example.com"}), "audience", "its aud must have one of: http"},
		"of an unknown issuer":      {good(map[string]any{"iss": "https://elsewhere.example.com"}), "unknown issuer", h.a.url},
		"an ID token":               {good(map[string]any{"nonce": "n"}), "not an access token", "access token"},
		"an opaque token":           {"opaque-one", "not a JWT", "opaque"},
		"signed with another's key": {h.keyB.token(h.a.url, h.now, nil), "unknown key", ""},
		"too long":                  {strings.Repeat("a", maxToken+1), "token too long", ""},
		"two lines":                 {good(nil) + "\r\nX: y", "not a token: it has characters that none may have", ""},
	} {
		e := h.guard.Explain(t.Context(), c.text)
		if e.Accepted != (c.reason == "") || e.Accepted != (e.Principal != nil) {
			t.Errorf("%s: accepted %t, %+v", name, e.Accepted, e)
		}
		if e.Reason != c.reason && name != "signed with another's key" {
			t.Errorf("%s: reason %q, want %q", name, e.Reason, c.reason)
		}
		if !strings.Contains(e.Advice, c.advice) {
			t.Errorf("%s: advice %q, want %q in it", name, e.Advice, c.advice)
		}
	}
	carol := good(map[string]any{"sub": "carol"})
	e := h.guard.Explain(t.Context(), carol)
	if e.Subject != "carol" || e.Issuer != h.a.url || e.Algorithm == "" || e.Expiry.IsZero() || !slices.Equal(e.Scopes, e.Principal.Scopes) {
		t.Errorf("%+v", e)
	}
	if h.guard.cache.get(sha256.Sum256([]byte(carol)), h.now) != nil {
		t.Error("the token is cached")
	}
}

// TestExplainOpaque holds that the issuer is asked each time, and that its result is not cached.
func TestExplainOpaque(t *testing.T) {
	h := opaqueHouse(t, nil)
	h.a.change(func() { h.a.answers["opaque-one"] = h.activeAnswer(h.now, nil) })
	before := h.a.asked.Load()
	for range 2 {
		if e := h.guard.Explain(t.Context(), "opaque-one"); !e.Accepted || !e.Opaque || e.Issuer != h.a.url {
			t.Errorf("%+v", e)
		}
	}
	if e := h.guard.Explain(t.Context(), "opaque-two"); e.Accepted || e.Reason != "not active" {
		t.Errorf("%+v", e)
	}
	if got := h.a.asked.Load() - before; got != 3 {
		t.Errorf("the issuer was asked %d times", got)
	}
	if h.guard.IsAccessToken(t.Context(), "opaque-one") {
		t.Error("the result is cached")
	}
}
