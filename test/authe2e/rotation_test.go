package authe2e

import (
	"context"
	"sync"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

// The keys turn while calls run. Nobody with a good token notices: not who has one signed with the old key, nor the first
// with one that was signed with a key the gateway has never seen. A key that is withdrawn takes its tokens along, and
// who had one gets in again.
func testRotation(t *testing.T, s *suite) {
	for _, server := range []string{oidcProvider, ownServer} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			s.each(t, "key rotation", server, []string{sdkV1, clientV2, goSDK}, func(t *testing.T, client string) {
				defer s.busy()()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				w := newWorld(t, s, setup{server: server}) // its own: a gateway fetches unknown keys five times in a row, no more
				old := w.enter(ctx, t, client)
				stopOld := w.hammer(ctx, t, w.look(ctx, t, old).Access)
				stopCalls := keepCalling(ctx, t, old)

				turn := func(retire bool) {
					t.Helper()
					if err := w.auth.rotate(ctx, retire); err != nil {
						t.Fatal(err)
					}
				}
				turn(false)
				middle := w.enter(ctx, t, client)
				token := w.look(ctx, t, middle).Access
				stopMiddle := w.hammer(ctx, t, token)
				for range 20 {
					reading.make(ctx, t, middle)
				}
				calls := stopOld() + stopMiddle() + stopCalls()
				st := w.look(ctx, t, old)
				if len(st.Asked) != 1 || len(st.Grants) != 1 {
					t.Errorf("the old client asked again: %q, %q", st.Asked, st.Grants)
				}

				turn(true)
				w.enter(ctx, t, client)
				fetched, err := w.auth.keySets(ctx)
				if err != nil || fetched != 3 {
					t.Errorf("the key set was fetched %d times, %v; want once at first and once for each turn", fetched, err)
				}
				for _, token := range []string{st.Access, token} {
					if status, err := w.try(ctx, token); err != nil || status != 401 {
						t.Errorf("a token signed with a key that was withdrawn: status %d, %v", status, err)
					}
				}
				reading.make(ctx, t, old)
				if again := w.look(ctx, t, old); again.Access == st.Access {
					t.Error("the old client got in with its old token")
				}
				t.Logf("%d calls while the key turned", calls)
			})
		})
	}
}

// enter logs a new session in.
func (w *world) enter(ctx context.Context, t *testing.T, client string) session {
	t.Helper()
	s := w.newSession(t, client, choices{refresh: true})
	if err := s.connect(ctx); err != nil {
		t.Fatalf("connect: %v", err)
	}
	reading.make(ctx, t, s)
	return s
}

// keepCalling has the client call, one call after the other, until stop is called.
func keepCalling(ctx context.Context, t *testing.T, s session) (stop func() int) {
	done := make(chan struct{})
	calls := 0
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			o, err := s.call(ctx, reading.tool, reading.arguments)
			if err != nil || o.IsError {
				t.Errorf("call %d: %v %s", calls, err, o.text())
				return
			}
			calls++
		}
	})
	return func() int {
		close(done)
		timebox.Done(t, wg.Wait)
		return calls
	}
}
