package auth

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// FuzzVerifyToken looks for tokens that crash the verifier, that are accepted
// without our having signed them, or of which a part comes out in an error.
func FuzzVerifyToken(f *testing.F) {
	h := newHouse(f, nil)
	good := h.keyA.token(h.a.url, h.now, nil)
	other := h.keyB.token(h.b.url, h.now, map[string]any{"header.typ": nil, "aud": []string{resource}})
	f.Add(good)
	f.Add(other)
	f.Add(unsigned(`{"alg":"none"}`, `{"iss":"http://localhost:7001","exp":1e300,"aud":[]}`))
	f.Add("a.b.c")
	f.Fuzz(func(t *testing.T, token string) {
		p, err := h.guard.authenticate(t.Context(), credential{token: token})
		if err == nil {
			signed := token[:strings.LastIndexByte(token, '.')+1]
			if !strings.HasPrefix(good, signed) && !strings.HasPrefix(other, signed) || p.Subject != "alice" {
				t.Fatalf("accepted %q", token)
			}
			return
		}
		var rejected *rejection
		if !errors.As(err, &rejected) || rejected.outcome == noToken {
			t.Fatalf("refused with %v", err)
		}
	})
}

// FuzzClaims puts any header and payload into a token that is signed as it
// should be: accepted ones keep the rules.
func FuzzClaims(f *testing.F) {
	h := newHouse(f, nil)
	const head = `{"alg":"ES256","typ":"at+jwt","kid":"shared"}`
	f.Add(head, `{"iss":"http://localhost:7001","sub":"a","aud":"https://mcp.example.com/mcp","exp":1795176060,"scope":"a b"}`)
	f.Add(head, `{"iss":"http://localhost:7001","sub":"a","aud":["x","https://mcp.example.com/mcp"],"exp":1.795176060e9,"scp":["a"],"nbf":0}`)
	f.Add(`{"alg":"ES256","typ":"at+jwt","kid":"shared","x":[{}]}`, `{"iss":"http://localhost:7001"}`)
	f.Fuzz(func(t *testing.T, header, payload string) {
		token := h.keyA.sign(header, payload)
		p, err := h.guard.authenticate(t.Context(), credential{token: token})
		if err != nil {
			return
		}
		if p.Issuer != h.a.url || p.Expiry.Before(h.now.Add(-2*60e9)) || p.Subject == "" && p.ClientID == "" {
			t.Fatalf("accepted %+v", p)
		}
		for _, s := range p.Scopes {
			if !IsScope(s) {
				t.Fatalf("scope %q", s)
			}
		}
		header403, _ := h.guard.Forbidden(p, []string{"x"})
		if challenge := header403.Get("WWW-Authenticate"); strings.ContainsAny(challenge, "\r\n\\") || strings.Count(challenge, `"`) != 8 {
			t.Fatalf("challenge %q", challenge)
		}
	})
}

// FuzzIntrospectionAnswer looks for answers that crash, or that let a token in
// without saying what they must.
func FuzzIntrospectionAnswer(f *testing.F) {
	h := opaqueHouse(f, nil)
	f.Add(h.activeAnswer(h.now, nil))
	f.Add(h.activeAnswer(h.now, map[string]string{"active": `"true"`, "aud": `["x"]`, "cnf": `{"jkt":"x"}`}))
	f.Add(`{"active":true,"Active":false,"exp":1e99}`)
	i := h.guard.opaqueIssuer
	f.Fuzz(func(t *testing.T, text string) {
		c, err := i.parseIntrospection([]byte(text))
		if err == nil {
			err = i.checkClaims(&c, h.now)
		}
		if err != nil {
			return
		}
		var answer map[string]any
		if json.Unmarshal([]byte(text), &answer) != nil || answer["active"] != true || answer["cnf"] != nil {
			t.Fatalf("accepted %q", text)
		}
		if exp, _ := answer["exp"].(float64); exp <= float64(h.now.Unix())-61 {
			t.Fatalf("accepted %q", text)
		}
	})
}
