package authe2e

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"
	"time"
)

// The authorization server is down. Who has a token that the gateway knows, or can verify with the keys that it has, goes
// on; who has another is told to come back, and is not sent to a login that is down as well. When the server is back, the
// other token is refused.
func testOutage(t *testing.T, s *suite) {
	for _, server := range []string{oidcProvider, ownServer} {
		for _, opaque := range []bool{false, true} {
			scenario := "authorization server down"
			if opaque {
				scenario += ", opaque tokens"
			}
			t.Run(server+"/"+scenario, func(t *testing.T) {
				t.Parallel()
				s.each(t, scenario, server, []string{sdkV1, clientV2, goSDK}, func(t *testing.T, client string) {
					w := newWorld(t, s, setup{server: server, opaque: opaque}) // its own, to be taken down
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					c := w.enter(ctx, t, client)
					other := newSecret()
					if !opaque {
						other = w.forge(t)
					}
					if err := w.auth.down(ctx, true); err != nil {
						t.Fatal(err)
					}
					for range 5 {
						reading.make(ctx, t, c)
					}
					w.expect(ctx, t, other, http.StatusServiceUnavailable)
					if err := w.auth.down(ctx, false); err != nil {
						t.Fatal(err)
					}
					w.expect(ctx, t, other, http.StatusUnauthorized)
					reading.make(ctx, t, c)
					if st := w.look(ctx, t, c); len(st.Asked) != 1 || len(st.Grants) != 1 {
						t.Errorf("the client asked again: %q, %q", st.Asked, st.Grants)
					}
				})
			})
		}
	}
}

// expect makes a raw call.
func (w *world) expect(ctx context.Context, t *testing.T, token string, want int) {
	t.Helper()
	if status, err := w.try(ctx, token); err != nil || status != want {
		t.Errorf("status %d, %v; want %d", status, err, want)
	}
}

// forge makes a token that looks right but for its key, which nobody has.
func (w *world) forge(t *testing.T) string {
	t.Helper()
	now := time.Now().Unix()
	token := ""
	for _, part := range []map[string]any{
		{"alg": "ES256", "typ": "at+jwt", "kid": "nobody's"},
		{"iss": w.issuer, "aud": w.endpoint, "sub": "developer", "client_id": "forger", "scope": scopes[0], "iat": now, "exp": now + 600},
	} {
		text, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		token += base64.RawURLEncoding.EncodeToString(text) + "."
	}
	signature := make([]byte, 64)
	rand.Read(signature)
	token += base64.RawURLEncoding.EncodeToString(signature)
	w.secrets.add("a forged token", token)
	return token
}
