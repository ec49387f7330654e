package authe2e

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"drawbridge/auth/authtest"
)

// Two authorization servers: the first, where clients log in, makes JWTs, the second opaque tokens. Each token is a matter
// of its own issuer: a JWT that is no good is refused, and nobody else is asked whether it might be (T14).
func testTwoIssuers(t *testing.T, s *suite) {
	w := newWorld(t, s, setup{server: oidcProvider, second: true})
	s.each(t, "two issuers", oidcProvider+", "+ownServer, []string{sdkV1, clientV2, goSDK}, func(t *testing.T, client string) {
		w.look(t.Context(), t, w.enter(t.Context(), t, client))
	})
	t.Run("tokens", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		good := w.look(ctx, t, w.enter(ctx, t, goSDK)).Access
		issue := func(token authtest.Token) string {
			token.Audience = []string{w.endpoint}
			text, err := w.second.server.Issue(token)
			if err != nil {
				t.Fatal(err)
			}
			w.secrets.add("a token of the second issuer", text)
			return text
		}
		reading := scopes[:1]
		end := strings.LastIndexByte(good, '.') + 1
		asked := func() int { return w.second.server.Requests(authtest.Introspection) }
		for _, c := range []struct {
			name, token string
			status      int
			questions   int
		}{
			{"of the first", good, http.StatusOK, 0},
			{"of the first, with another signature", good[:end] + strings.Repeat("A", len(good)-end), http.StatusUnauthorized, 0},
			{"of the first, without one", good[:end], http.StatusUnauthorized, 0},
			{"of nobody", w.forge(t), http.StatusUnauthorized, 0},
			{"of the second", issue(authtest.Token{Opaque: true, Scopes: reading}), http.StatusOK, 1},
			{"of the second, expired", issue(authtest.Token{Opaque: true, Scopes: reading, Life: -time.Hour}), http.StatusUnauthorized, 1},
			{"of the second, without the scope", issue(authtest.Token{Opaque: true}), http.StatusForbidden, 1},
			{"of neither", newSecret(), http.StatusUnauthorized, 1},
		} {
			before := asked()
			w.expect(ctx, t, c.token, c.status)
			if n := asked() - before; n != c.questions {
				t.Errorf("a token %s: the second issuer was asked %d times, want %d", c.name, n, c.questions)
			}
		}
	})
}
