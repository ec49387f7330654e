package auth

import (
	"testing"
	"time"
)

// TestIsAccessToken: what lets its bearer in here is known without a request that presents it, and nothing else is taken for it: a token for
// another audience is what its service is there for.
func TestIsAccessToken(t *testing.T) {
	h := newHouse(t, nil)
	good := func(change map[string]any) string { return h.keyA.token(h.a.url, h.now, change) }
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"a token":                      {good(nil), true},
		"of another caller":            {good(map[string]any{"sub": "bob"}), true},
		"for another audience":         {good(map[string]any{"aud": "https://orders.example.com"}), false},
		"expired":                      {good(map[string]any{"exp": h.now.Add(-time.Hour).Unix()}), false},
		"of an unknown issuer":         {good(map[string]any{"iss": "https://elsewhere.example.com"}), false},
		"signed with another's key":    {h.keyB.token(h.a.url, h.now, nil), false},
		"with a byte more":             {good(nil) + "x", false},
		"no token":                     {"an API key", false},
		"an API key":                   {"sk-1234567890", false},
		"nothing":                      {"", false},
		"more than a token may have":   {string(make([]byte, maxToken+1)), false},
		"a line":                       {good(nil) + "\r\n", false},
		"a token of the other issuer":  {h.keyB.token(h.b.url, h.now, nil), true},
		"an ID token of it":            {good(map[string]any{"nonce": "n"}), false},
		"bound to a key, and not here": {good(map[string]any{"cnf": map[string]any{"jkt": "x"}}), false},
	} {
		if got := h.guard.IsAccessToken(t.Context(), c.text); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	presented := good(map[string]any{"jti": "7"})
	h.call(presented)
	if !h.guard.IsAccessToken(t.Context(), presented) {
		t.Error("a token that was presented")
	}
}

// TestIsAccessTokenOpaque: the issuer of opaque tokens is not asked about what may be a credential of somebody else's.
func TestIsAccessTokenOpaque(t *testing.T) {
	h := opaqueHouse(t, nil)
	h.a.change(func() { h.a.answers["opaque-one"] = h.activeAnswer(h.now, nil) })
	before := h.a.asked.Load()
	if h.guard.IsAccessToken(t.Context(), "opaque-one") || h.a.asked.Load() != before {
		t.Errorf("the issuer was asked, or the token is known already")
	}
	if w := h.call("opaque-one"); w.Code != 200 {
		t.Fatal(w.Code, w.Body)
	}
	if !h.guard.IsAccessToken(t.Context(), "opaque-one") || h.guard.IsAccessToken(t.Context(), "opaque-two") || h.a.asked.Load() != before+1 {
		t.Error("a token that was presented is not known, or the issuer was asked again")
	}
	if jwt := h.keyA.token(h.a.url, h.now, nil); !h.guard.IsAccessToken(t.Context(), jwt) || h.a.asked.Load() != before+1 {
		t.Error("a JWT of an issuer that is asked")
	}
}
