package auth

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/test/race"
)

// checks notes what it is told.
type checks struct {
	mu  sync.Mutex
	all []Check
}

func (c *checks) note(_ *http.Request, one Check) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, one)
}

// taken tells what was noted since, in short.
func (c *checks) taken() (told []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.all {
		told = append(told, fmt.Sprint(one.Kind, " ", one.Issuer, " ", one.End.Sub(one.Begin), " ", one.Failed))
	}
	c.all = nil
	return told
}

func (c *checks) want(t *testing.T, what string, want ...string) {
	t.Helper()
	if got := c.taken(); !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestChecked: what a good token has cost is told with its time, and so is what came to nothing; of tokens that are no good, or known, nothing is.
func TestChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told checks
		h := newHouse(t, func(o *Options) { o.Now, o.OnCheck = nil, told.note })
		token := func(sub string) string { return h.keyA.token(h.a.url, time.Now(), map[string]any{"sub": sub}) }
		h.wantStatus("first", token("a"), http.StatusOK)
		told.want(t, "cold keys", "keys "+h.a.url+" 0s false")
		b := token("b")
		h.wantStatus("second", b, http.StatusOK)
		told.want(t, "known keys", "signature "+h.a.url+" 0s false")
		h.wantStatus("second again", b, http.StatusOK)
		h.wantStatus("bad", h.keyB.token(h.a.url, time.Now(), nil), http.StatusUnauthorized)
		h.wantStatus("none", "x", http.StatusUnauthorized)
		told.want(t, "known, and bad")
		h.a.change(func() { h.a.hang = true })
		unknown := newES256("new").token(h.a.url, time.Now(), nil)
		gone, waits := h.ask(unknown), h.ask(unknown)
		gone.leave()
		<-gone.served
		<-waits.served
		waits.leave()
		if got := told.taken(); len(got) == 0 || slices.ContainsFunc(got, func(s string) bool { return s != "keys "+h.a.url+" 2s true" }) {
			t.Errorf("an issuer that hangs: %q", got)
		}
	})
}

// TestCheckedIntrospection: the issuer is asked once in a while, and then it is told.
func TestCheckedIntrospection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told checks
		h := opaqueHouse(t, func(o *Options) { o.Now, o.OnCheck = nil, told.note })
		h.a.change(func() { h.a.answers["good"] = h.activeAnswer(time.Now(), nil) })
		h.wantStatus("first", "good", http.StatusOK)
		told.want(t, "first", "introspection "+h.a.url+" 0s false")
		h.wantStatus("again", "good", http.StatusOK)
		h.wantStatus("bad", "bad", http.StatusUnauthorized)
		h.wantStatus("bad again", "bad", http.StatusUnauthorized)
		told.want(t, "known, and bad")
		time.Sleep(activeTTL + time.Second)
		h.wantStatus("later", "good", http.StatusOK)
		told.want(t, "later", "introspection "+h.a.url+" 0s false")
	})
}

// TestCheckedWhoWaits: two ask for one answer that does not come, and both are told of.
func TestCheckedWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told checks
		h := opaqueHouse(t, func(o *Options) { o.Now, o.OnCheck = nil, told.note })
		h.a.change(func() { h.a.hang = true })
		for _, a := range []*asking{h.ask("one"), h.ask("one")} {
			<-a.served
			a.leave()
			if a.status != http.StatusServiceUnavailable {
				t.Errorf("status %d", a.status)
			}
		}
		told.want(t, "an issuer that hangs", "introspection "+h.a.url+" 2s true", "introspection "+h.a.url+" 2s true")
	})
}

// TestCheckedProof: a proof is checked for each request.
func TestCheckedProof(t *testing.T) {
	var told checks
	h := dpopHouse(t, DPoPRequire, DPoPRequire)
	h.guard.onCheck = told.note
	key := newES256("device")
	token := h.keyA.token(h.a.url, h.now, map[string]any{"cnf": map[string]any{"jkt": key.thumbprint()}})
	for n, want := range []string{"keys", "proof"} {
		if w := h.prove(token, key.proof(token, fmt.Sprint(n), h.now, nil)); w.Code != http.StatusOK {
			t.Fatal(w.Code, h.log)
		}
		told.want(t, want, want+" "+h.a.url+" 0s false")
	}
	if w := h.prove(token, key.proof(token, "1", h.now, nil)); w.Code != http.StatusUnauthorized {
		t.Error(w.Code)
	}
	told.want(t, "a proof that was used")
	h.guard.dpop.replays = brokenReplays{}
	if w := h.prove(token, key.proof(token, "2", h.now, nil)); w.Code != http.StatusServiceUnavailable {
		t.Error(w.Code)
	}
	told.want(t, "nobody knows", "proof "+h.a.url+" 0s true")
}

// TestCheckedAllocates nothing for a token that is known.
func TestCheckedAllocates(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	h := newHouse(t, nil)
	token := h.keyA.token(h.a.url, h.now, nil)
	c := credential{token: token, request: httptest.NewRequest(http.MethodPost, "/mcp", nil)}
	cost := func() float64 {
		return testing.AllocsPerRun(100, func() {
			if _, err := h.guard.authenticate(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
	}
	without := cost()
	h.guard.onCheck = func(*http.Request, Check) { t.Error("a token that is known was checked") }
	if with := cost(); with > without || with > 0 {
		t.Errorf("%v allocations, %v if nobody wants to know", with, without)
	}
}
