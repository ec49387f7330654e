package credential

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"drawbridge/auth/authtest"
	"drawbridge/test/timebox"
)

// asking is who a request is from, in tests.
type asking struct{ token, key string }

type callerContext struct{}

func as(ctx context.Context, token, key string) context.Context {
	return context.WithValue(ctx, callerContext{}, asking{token, key})
}

func subject(ctx context.Context) (string, string, bool) {
	c, ok := ctx.Value(callerContext{}).(asking)
	return c.token, c.key, ok
}

func exchangeOptions(tokenURL string, client *http.Client) Options {
	return Options{Kind: TokenExchange, Origin: origin0(), Subject: subject, OAuth: &OAuth{
		TokenURL: tokenURL, Client: client, ClientID: "gateway", ClientSecret: Fixed("s3cret+ /&"), Resources: []string{resource},
	}}
}

// Each caller gets a token of their own, for the service, in which the gateway
// is the actor; nobody ever gets that of another (P9), nor one that came of
// another token of the same caller.
func TestExchange(t *testing.T) {
	s, e := issuer(t, authtest.Options{DefaultResource: "https://mcp.example.com/mcp"})
	rt := mustNew(t, exchangeOptions(tokenURL(s), e.client()))
	var wg sync.WaitGroup
	for i := range 20 {
		user := fmt.Sprintf("user%d", i%10)
		token, err := s.Issue(authtest.Token{Subject: user, Scopes: []string{"orders:read", fmt.Sprintf("s%d", i)}})
		if err != nil {
			t.Fatal(err)
		}
		next := &service{}
		rt := rt(next)
		wg.Go(func() {
			var inner sync.WaitGroup
			for range 20 {
				inner.Go(func() {
					if _, err := send(as(t.Context(), token, user), t, rt, "GET", resource+"/orders", nil); err != nil {
						t.Error(err)
					}
				})
			}
			inner.Wait()
			for _, seen := range next.seen {
				payload := strings.Split(seen, ".")[1]
				claims := decode(t, payload)
				delete(claims, "jti")
				delete(claims, "iat")
				delete(claims, "exp")
				want := map[string]any{"iss": s.Issuer(), "aud": resource, "sub": user, "client_id": "gateway", "act": map[string]any{"sub": "gateway"}, "scope": fmt.Sprintf("orders:read s%d", i)}
				if diff := cmp.Diff(want, claims); diff != "" {
					t.Error(diff)
					return
				}
			}
		})
	}
	timebox.Done(t, wg.Wait)
	if n := e.requests.Load(); n != 20 {
		t.Errorf("%d token requests", n)
	}
	_, err := send(t.Context(), t, rt(&service{}), "GET", resource, nil)
	if want := "credential: token_exchange: the request has no caller whose token could be exchanged"; fmt.Sprint(err) != want {
		t.Error(err)
	}
	_, err = send(as(t.Context(), "eyfoo", "mallory"), t, rt(&service{}), "GET", resource, nil)
	var failure *TokenError
	if !errors.As(err, &failure) || failure.Failure != Refused || failure.Code != "invalid_request" {
		t.Fatal(err)
	}
	if want := "The authorization server gives the user no access to the service. Nothing was sent to the service. Tell the user to log in to the gateway again; if that does not help, the user may lack the permission."; failure.ToolMessage() != want {
		t.Error(failure.ToolMessage())
	}
}

func decode(t testing.TB, payload string) map[string]any {
	t.Helper()
	jws, err := jose.ParseSignedCompact("eyJhbGciOiJFUzI1NiJ9."+payload+".AAAA", []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	if err := json.Unmarshal(jws.UnsafePayloadWithoutVerification(), &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

// unsigned makes a JWT that nobody can verify.
func unsigned(claims string) string {
	return "eyJhbGciOiJFUzI1NiJ9." + strings.TrimRight(base64url(claims), "=") + ".AAAA"
}

// What a token exchange may give (RFC 8693 section 2.2.1, E7). (pains row 112)
func TestExchangeAnswers(t *testing.T) {
	const own = "the.callers.token"
	for _, c := range []struct {
		name, requested, token, issued, kind string
		want                                 string
	}{
		{"access token", "", "opaque", TypeAccessToken, "Bearer", ""},
		{"jwt", "", unsigned(`{"aud":["x","` + resource + `"]}`), TypeJWT, "bearer", ""},
		{"id token as asked", TypeIDToken, unsigned(`{"aud":"` + resource + `"}`), TypeIDToken, "N_A", ""},
		{"BearerToken", "", "opaque", TypeAccessToken, "BearerToken", ""},
		{"space behind Bearer", "", "opaque", TypeAccessToken, "bearer ", ""},
		{"accepted audience", "", unsigned(`{"aud":"orders-api"}`), TypeAccessToken, "Bearer", ""},
		{"three parts that are no JWT", "", "a.b!.c", TypeAccessToken, "Bearer", ""},
		{"nor these", "", "a." + base64url("[]") + ".c", TypeAccessToken, "Bearer", ""},
		{"not asked for", "", "opaque", TypeIDToken, "N_A", "its issued_token_type is not what was asked for"},
		{"other than asked", TypeJWT, "opaque", TypeAccessToken, "Bearer", "its issued_token_type is not what was asked for"},
		{"no type", "", "opaque", "", "Bearer", "its issued_token_type is missing"},
		{"bound, as asked", TypeJWT, "opaque", TypeJWT, "DPoP", "it is not a bearer token"},
		{"not for use", "", "opaque", TypeAccessToken, "N_A", "it is not a bearer token"},
		{"a jwt that is not for use", "", "opaque", TypeJWT, "N_A", "it is not a bearer token"},
		{"bound", "", "opaque", TypeAccessToken, "DPoP", "it is not a bearer token"},
		{"no token type", "", "opaque", TypeAccessToken, "", "it is not a bearer token"},
		{"the caller's own", "", own, TypeAccessToken, "Bearer", "it is the caller's own token"},
		{"for another", "", unsigned(`{"aud":"https://mcp.example.com/mcp"}`), TypeAccessToken, "Bearer", "it is for another audience than was asked for"},
		{"prefix", "", unsigned(`{"aud":"` + resource + `/"}`), TypeAccessToken, "Bearer", "it is for another audience than was asked for"},
		{"for nobody", "", unsigned(`{"sub":"x"}`), TypeAccessToken, "Bearer", "it is for another audience than was asked for"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, err := json.Marshal(map[string]any{"access_token": c.token, "issued_token_type": c.issued, "token_type": c.kind, "expires_in": 60})
			if err != nil {
				t.Fatal(err)
			}
			e := &endpoint{handler: answers(200, "application/json", string(answer))}
			o := exchangeOptions("https://idp.example.com/token", e.client())
			o.OAuth.Exchange.Requested, o.OAuth.Exchange.Accept = c.requested, []string{"orders-api"}
			next := &service{}
			_, err = send(as(t.Context(), own, "alice"), t, mustNew(t, o)(next), "GET", resource, nil)
			if c.want == "" {
				if err != nil || next.seen[0] != "Bearer "+c.token {
					t.Error(err, next.seen)
				}
				return
			}
			if want := `credential: token_exchange: token endpoint "idp.example.com" gave a token that can't be used, status 200: ` + c.want; fmt.Sprint(err) != want || len(next.seen) != 0 {
				t.Error(err, next.seen)
			}
		})
	}
}

// However many callers come, so many are kept, those that came last.
func TestCallersAreBounded(t *testing.T) {
	now := time.Unix(0, 0)
	s := tokenCache{maxEntries: 3}
	key := func(i int) tokenKey { return tokenKey{principal: fmt.Sprint(i)} }
	use := func(i int) *tokenSource {
		c := s.source(key(i), now)
		if c.current.Load() == nil {
			c.current.Store(&token{header: seal([]string{fmt.Sprint(i)}), expiry: now.Add(time.Minute)})
		}
		return c
	}
	first := use(0)
	for i := range 100 {
		if use(0) != first {
			t.Fatalf("forgotten after %d", i)
		}
		if use(i).current.Load().header()[0] != fmt.Sprint(i) || len(s.entries) > 3 {
			t.Fatal(i, len(s.entries))
		}
	}
	now = now.Add(time.Hour)
	use(100)
	if len(s.entries) != 2 {
		t.Errorf("%d are kept: two that ended should go for each that comes", len(s.entries))
	}
}

func base64url(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
