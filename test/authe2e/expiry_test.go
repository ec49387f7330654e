package authe2e

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

const life = 12 * time.Second

// A token ends, and the client gets the next one with its refresh token, without a page for the user. The Go SDK fetches
// it ten seconds before the end, the others when they are refused: tokens live long enough for both to make a difference.
func testExpiry(t *testing.T, s *suite) {
	for _, server := range []string{oidcProvider, ownServer} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s, setup{server: server, life: life})
			s.each(t, "expiry and refresh", server, []string{sdkV1, clientV2, goSDK}, func(t *testing.T, client string) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				c := w.newSession(t, client, choices{refresh: true})
				if err := c.connect(ctx); err != nil {
					t.Fatalf("connect: %v", err)
				}
				reading.make(ctx, t, c)
				first := w.look(ctx, t, c)
				if first.Refresh == "" {
					t.Fatal("the client got no refresh token")
				}
				if after := w.awaitRefusal(ctx, t, first.Access); after > life+2*time.Second {
					t.Errorf("the token was good for %s more, not for %s and a second of skew", after, life)
				}
				if client == sdkV1 {
					w.awaitRefresh(ctx, t, c, first.Access)
				}
				reading.make(ctx, t, c)
				second := w.look(ctx, t, c)
				if len(second.Asked) != 1 || !slices.Contains(second.Grants, "refresh_token") {
					t.Errorf("after %q the user was asked for %q", second.Grants, second.Asked)
				}
				if second.Access == first.Access || second.Refresh == first.Refresh || second.Refresh == "" {
					t.Error("the tokens are those of before") // both: refresh tokens rotate
				}
				if status, err := w.try(ctx, second.Access); err != nil || status != 200 && client != goSDK {
					t.Errorf("the new token: status %d, %v", status, err)
				}
			})
		})
		t.Run(server+"/bound", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s, setup{server: server, life: life, dpop: true})
			s.each(t, "expiry and refresh, bound to a key (DPoP)", server, []string{clientV2}, func(t *testing.T, client string) {
				refreshBound(t, w, client)
			})
		})
	}
}

// awaitRefresh waits until a client has noticed by itself that its token has ended: its stream ends, and is refused when it
// is opened again. Version 1 of the TypeScript client refreshes for each request that is refused. Two at a time use the
// same refresh token, which the authorization server takes for theft, and the user has to log in anew; so that no call
// may be made at that moment.
func (w *world) awaitRefresh(ctx context.Context, t *testing.T, c session, old string) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for w.look(ctx, t, c).Access == old {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the client did not notice that its token has ended")
		}
	}
}

// refreshBound has a client call until it has refreshed a token that is bound to its key.
func refreshBound(t *testing.T, w *world, client string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := w.newSession(t, client, choices{refresh: true, dpop: true})
	if err := c.connect(ctx); err != nil {
		t.Fatalf("connect: %v", err)
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		reading.make(ctx, t, c)
		if st := w.look(ctx, t, c); slices.Contains(st.Grants, "refresh_token") {
			if len(st.Asked) != 1 || !strings.EqualFold(st.Kind, "DPoP") {
				t.Errorf("token type %q, after the user was asked for %q", st.Kind, st.Asked)
			}
			return
		}
		<-tick.C
	}
}
