package auth

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestScopeSeparator: %x20 alone separates scopes (RFC 6749 section 3.3), and an element of a list is one scope. A
// space of another kind, which a user may have put into a name, must not make a scope of its end. (pains row 105)
func TestScopeSeparator(t *testing.T) {
	jwts := newHouse(t, nil)
	opaque := opaqueHouse(t, nil)
	scopes := func(t *testing.T, claim any) [2][]string {
		t.Helper()
		text, err := json.Marshal(claim)
		if err != nil {
			t.Fatal(err)
		}
		token := "opaque-" + t.Name()
		opaque.a.change(func() {
			opaque.a.answers[token] = opaque.activeAnswer(opaque.now, map[string]string{"scope": string(text)})
		})
		var all [2][]string
		for i, c := range []struct {
			h     *house
			token string
		}{{jwts, jwts.keyA.token(jwts.a.url, jwts.now, map[string]any{"scope": claim})}, {opaque, token}} {
			p, err := c.h.guard.authenticate(t.Context(), credential{token: c.token})
			if err != nil {
				t.Fatal(err)
			}
			all[i] = p.Scopes
		}
		return all
	}
	for name, space := range map[string]string{
		"tab": "\t", "line feed": "\n", "vertical tab": "\v", "form feed": "\f", "carriage return": "\r", "next line": "\u0085",
		"no-break space": "\u00a0", "ogham space": "\u1680", "em space": "\u2003", "line separator": "\u2028",
		"narrow no-break space": "\u202f", "ideographic space": "\u3000",
	} {
		t.Run(name, func(t *testing.T) {
			for _, got := range scopes(t, "mcp:tools"+space+"orders:admin other") {
				if !slices.Equal(got, []string{"other"}) {
					t.Errorf("%q separates: %q", space, got)
				}
			}
		})
	}
	t.Run("element", func(t *testing.T) {
		for _, got := range scopes(t, []string{"x orders:admin", " padded", "whole"}) {
			if !slices.Equal(got, []string{"whole"}) {
				t.Errorf("an element of a list was taken apart: %q", got)
			}
		}
	})
	t.Run("space", func(t *testing.T) {
		for _, got := range scopes(t, " mcp:tools  orders:admin ") {
			if !slices.Equal(got, []string{"mcp:tools", "orders:admin"}) {
				t.Errorf("%q, want both", got)
			}
		}
	})
}
