package authtest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"drawbridge/test/timebox"
)

// fetch reads a document as a client does.
func fetch(t *testing.T, ctx context.Context, url string) (int, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// Tests decide what a token says, who can verify it, and when it ends.
func TestTokensForTests(t *testing.T) {
	for _, algorithm := range []string{ES256, RS256} {
		now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		s, err := Start(Options{Algorithm: algorithm, DefaultResource: "https://mcp.example.com/mcp", Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		verify := func(token string) (map[string]any, string, bool) {
			_, text, err := fetch(t, t.Context(), s.Issuer()+"/jwks")
			var set jose.JSONWebKeySet
			if err != nil || json.Unmarshal([]byte(text), &set) != nil {
				t.Fatalf("%s %v", text, err)
			}
			jws, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(algorithm)})
			if err != nil {
				t.Fatal(err)
			}
			keys := set.Key(jws.Signatures[0].Header.KeyID)
			if len(keys) != 1 || !keys[0].IsPublic() {
				return nil, "", false
			}
			payload, err := jws.Verify(keys[0])
			if err != nil {
				t.Fatal(err)
			}
			var claims map[string]any
			if err := json.Unmarshal(payload, &claims); err != nil {
				t.Fatal(err)
			}
			kind, _ := jws.Signatures[0].Header.ExtraHeaders[jose.HeaderType].(string)
			return claims, kind, true
		}
		plain, err := s.Issue(Token{Scopes: []string{"a", "b"}})
		if err != nil {
			t.Fatal(err)
		}
		claims, kind, ok := verify(plain)
		delete(claims, "jti")
		want := map[string]any{"iss": s.Issuer(), "sub": "developer", "client_id": "authtest", "aud": "https://mcp.example.com/mcp", "scope": "a b",
			"iat": float64(now.Unix()), "exp": float64(now.Add(10 * time.Minute).Unix())}
		if diff := cmp.Diff(want, claims); diff != "" || kind != "at+jwt" || !ok {
			t.Errorf("typ %q, verified: %t, (-want +got)\n%s", kind, ok, diff)
		}
		odd, err := s.Issue(Token{Subject: "eve", ClientID: "c", Audience: []string{"x", "y"}, Life: -time.Minute, Type: "JWT", Claims: map[string]any{"jti": nil, "iss": "http://localhost:1", "scp": []string{"z"}}})
		if err != nil {
			t.Fatal(err)
		}
		claims, kind, _ = verify(odd)
		want = map[string]any{"iss": "http://localhost:1", "sub": "eve", "client_id": "c", "aud": []any{"x", "y"}, "scp": []any{"z"},
			"iat": float64(now.Unix()), "exp": float64(now.Add(-time.Minute).Unix())}
		if diff := cmp.Diff(want, claims); diff != "" || kind != "JWT" {
			t.Errorf("typ %q, (-want +got)\n%s", kind, diff)
		}

		if err := s.RotateKeys(); err != nil {
			t.Fatal(err)
		}
		newer, err := s.Issue(Token{})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, ok := verify(plain); !ok {
			t.Error("the old key is not published any more")
		}
		s.DropOldKeys()
		if _, _, ok := verify(plain); ok {
			t.Error("the old key is still published")
		}
		if _, _, ok := verify(newer); !ok {
			t.Error("the new key is not published")
		}

		opaque, err := s.Issue(Token{Opaque: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range []string{newer, opaque} {
			if !s.isActive(token) {
				t.Error("a fresh token is not active")
			}
			if err := s.Revoke(token); err != nil || s.isActive(token) {
				t.Errorf("a revoked token is active, or %v", err)
			}
		}
		if s.isActive(odd) {
			t.Error("an expired token is active")
		}
		if err := s.Revoke("x"); err == nil {
			t.Error("what is no token was revoked")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An endpoint fails as often as it is told to, and how; requests are counted all the same.
func TestFailures(t *testing.T) {
	s, err := Start(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	url := s.Issuer() + "/jwks"
	status := func() int {
		code, _, err := fetch(t, t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	s.Fail(KeySet, &Failure{Times: 2})
	if a, b, c := status(), status(), status(); a != 503 || b != 503 || c != 200 {
		t.Errorf("%d %d %d", a, b, c)
	}
	s.Fail(KeySet, &Failure{Status: 200, Body: "{}"})
	if code, text, err := fetch(t, t.Context(), url); code != 200 || text != "{}" || err != nil {
		t.Errorf("%d %s %v", code, text, err)
	}
	s.Fail(KeySet, &Failure{Hang: true})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { _, _, err := fetch(t, ctx, url); ended <- err }()
	for s.Requests(KeySet) < 5 { // until the request is there
		select {
		case err := <-ended:
			t.Fatalf("it answered: %v", err)
		default:
		}
	}
	cancel()
	if err := timebox.Receive(t, ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.Fail(KeySet, nil)
	if status() != 200 || s.Requests(KeySet) != 6 || s.Requests(TokenEndpoint) != 0 {
		t.Errorf("%d requests for keys, %d for tokens", s.Requests(KeySet), s.Requests(TokenEndpoint))
	}
}
