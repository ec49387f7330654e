package auth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// asking is a request whose token has an issuer asked that hangs.
type asking struct {
	leave  context.CancelFunc
	served chan struct{} // closed when its goroutine has ended
	status int
}

func (h *house) ask(token string) *asking {
	ctx, cancel := context.WithCancel(h.t.Context())
	a := &asking{leave: cancel, served: make(chan struct{})}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	go func() {
		defer close(a.served)
		a.status = h.serve(r).Code
	}()
	synctest.Wait()
	return a
}

// TestRunWaitsForFetches: when the guard's time is over, nothing goes on to ask an issuer that hangs: what nobody waits for ends at once, what
// somebody waits for when he has it.
func TestRunWaitsForFetches(t *testing.T) {
	for _, tt := range []struct {
		name  string
		house func(t *testing.T) *house
		token func(h *house) string
	}{
		{"keys", func(t *testing.T) *house { return newHouse(t, func(o *Options) { o.Now = nil }) },
			func(h *house) string { return newES256("new").token(h.a.url, time.Now(), nil) }},
		{"introspection", func(t *testing.T) *house { return opaqueHouse(t, func(o *Options) { o.Now = nil }) },
			func(*house) string { return "opaque" }},
	} {
		for _, waits := range []struct {
			name  string
			leave int // of two who wait for one answer
			took  time.Duration
		}{
			{"somebody waits", 0, fetchTime},
			{"the first has left", 1, fetchTime},
			{"nobody waits", 2, 0},
		} {
			t.Run(tt.name+", "+waits.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := tt.house(t)
					ctx, end := context.WithCancel(t.Context())
					ended := make(chan struct{})
					go func() { defer close(ended); _ = h.guard.Run(ctx) }()
					synctest.Wait()
					h.a.change(func() { h.a.hang = true })
					all := []*asking{h.ask(tt.token(h)), nil}
					all[1] = h.ask(tt.token(h))
					if n := len(h.guard.fetches.all); n != 1 {
						t.Fatalf("%d fetches are under way", n)
					}
					for _, a := range all[:waits.leave] {
						a.leave()
					}
					synctest.Wait()
					if n := len(h.guard.fetches.all); n != 1 { // those who come next need it
						t.Errorf("%d fetches when they have left", n)
					}
					begin := time.Now()
					end()
					<-ended
					if took := time.Since(begin); took != waits.took {
						t.Errorf("Run ended after %v, want %v", took, waits.took)
					}
					if n := len(h.guard.fetches.all); n != 0 {
						t.Errorf("%d fetches are still under way", n)
					}
					for _, a := range all {
						<-a.served
						a.leave()
						if a.status != http.StatusServiceUnavailable {
							t.Errorf("status %d", a.status)
						}
					}
					// One that begins afterwards is of its request alone.
					h.a.change(func() { h.a.hang = true })
					late := h.ask(newES256("newer").token(h.b.url, time.Now(), nil))
					late.leave()
					synctest.Wait()
					select {
					case <-late.served:
					default:
						t.Error("a fetch that nobody needs goes on")
					}
				})
			})
		}
	}
}

// TestRunGivesUpItsOwnFetch: the fetch of Run itself hangs, and a request waits for it; at the end nobody does.
func TestRunGivesUpItsOwnFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, func(o *Options) { o.Now = nil })
		h.a.change(func() { h.a.hang = true })
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = h.guard.Run(ctx) }()
		synctest.Wait()
		a := h.ask(h.keyA.token(h.a.url, time.Now(), nil))
		begin := time.Now()
		end()
		synctest.Wait()
		select {
		case <-ended:
			t.Fatal("Run does not wait for what a request needs")
		default:
		}
		a.leave()
		<-ended
		<-a.served
		if took := time.Since(begin); took != 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// TestLeftBeforeItsEnd: one that leaves, whether or not it was told yet that its context has ended, is not waited for.
func TestLeftBeforeItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all fetchGroup
		first, leave := context.WithCancel(t.Context())
		f := all.start(first)
		forget := f.addWaiter(t.Context())
		leave()
		forget()
		synctest.Wait()
		go all.drain()
		synctest.Wait()
		if f.ctx.Err() == nil {
			t.Error("a fetch that nobody needs goes on")
		}
		f.finish()
	})
}
