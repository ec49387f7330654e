package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestBadTokensOfGuard: an address that has spent what it has for bad tokens is told to wait, and good tokens cost it nothing.
func TestBadTokensOfGuard(t *testing.T) {
	refused := 0
	h := newHouse(t, func(o *Options) {
		o.BadTokens = &BadTokens{
			Burst: 1, Interval: time.Hour, OnReject: func(*http.Request) { refused++ },
			Address: func(*http.Request) (netip.Addr, bool) { return netip.MustParseAddr("192.0.2.1"), true },
		}
	})
	good := func(n int) string { return h.keyA.token(h.a.url, h.now, map[string]any{"n": n}) }
	first := good(0)
	for n, token := range []string{first, good(1), good(2)} {
		h.wantStatus(fmt.Sprint("good token ", n), token, 200)
	}
	kept := 0
	for n := range h.guard.cache.shards {
		kept += len(h.guard.cache.shards[n].tokens)
	}
	if kept != 3 {
		t.Errorf("%d of three good tokens are remembered", kept)
	}
	h.wantStatus("a bad token", "bad", 401)
	h.wantStatus("another one", "worse", 429)
	h.wantStatus("a good one that nobody knows", good(4), 429)
	h.wantStatus("a good one that was seen before", first, 200)
	if refused != 2 {
		t.Errorf("%d requests were refused", refused)
	}
}

// TestUnknownTokensOfGuard: a token that nobody can look at is not on the account of its address.
func TestUnknownTokensOfGuard(t *testing.T) {
	g, err := New(Options{
		Resource: resource, DefaultScopes: []string{"a"}, Client: &http.Client{Transport: status(500)}, Logger: slog.New(slog.DiscardHandler),
		Issuers: []Issuer{{URL: "https://h", Tokens: Opaque, Introspection: &Introspection{Endpoint: "https://h/ask"}}},
		BadTokens: &BadTokens{
			Burst: 1, Interval: time.Hour, OnReject: func(*http.Request) {},
			Address: func(*http.Request) (netip.Addr, bool) { return netip.MustParseAddr("192.0.2.1"), true },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set("Authorization", "Bearer opaque")
		w := httptest.NewRecorder()
		if g.Protect(http.NotFoundHandler()).ServeHTTP(w, r); w.Code != http.StatusServiceUnavailable {
			t.Errorf("request %d: %d", n, w.Code)
		}
	}
}

// TestTokensOfUnknownKeys: tokens for whose keys the issuer is not asked any more are on the account of their address, or it could have tokens looked
// at without end. While the issuer does not answer nobody knows whether they are good, and they are on nobody's.
func TestTokensOfUnknownKeys(t *testing.T) {
	h := newHouse(t, func(o *Options) {
		o.BadTokens = &BadTokens{
			Burst: 10, Interval: time.Minute, OnReject: func(*http.Request) {},
			Address: func(*http.Request) (netip.Addr, bool) { return netip.MustParseAddr("192.0.2.1"), true },
		}
	})
	foreign := newES256("")
	for _, c := range []struct {
		name   string
		status int // of what the issuer publishes
		want   map[int]int
	}{
		{"while the issuer is away", http.StatusBadGateway, map[int]int{503: 100}},
		{"while it answers", 0, map[int]int{401: bucketSize, 503: 10 - bucketSize, 429: 90}},
	} {
		h.now = h.now.Add(time.Hour)
		if err := h.guard.issuers[h.a.url].refresh(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		h.a.change(func() { h.a.status = c.status })
		got := map[int]int{}
		for n := range 100 {
			got[h.call(foreign.token(h.a.url, h.now, map[string]any{"header.kid": nil, "jti": n})).Code]++
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		h.a.change(func() { h.a.status = 0 })
	}
}

// TestWaitingCallers: who waits for what another asks for leaves when its request ends, and who asks is not given up with its request.
func TestWaitingCallers(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	a := &asked{start: time.Now(), accept: map[string]bool{}, broken: func(string) bool { return false }}
	i, err := newIssuer(Issuer{URL: "https://h", Tokens: Opaque, Introspection: &Introspection{}}, &http.Client{Transport: a}, &fetchGroup{}, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := i.refresh(ended, true); err != nil {
		t.Errorf("what a token needs is given up with its request: %v", err)
	}
	i.flight = &flight{fetch: i.fetches.start(t.Context()), done: make(chan struct{})}
	if err := i.refresh(ended, true); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has left waits for keys: %v", err)
	}
	i.flight = nil
	g := &Guard{now: time.Now}
	c := credential{token: "t"}
	key := i.introspector.endpoint.Load().key(c.token)
	i.introspector.inFlight[key] = &introspectionCall{fetch: i.fetches.start(t.Context()), done: make(chan struct{})}
	if _, err := g.introspect(ended, i, c, time.Now()); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has left waits for a verdict: %v", err)
	}
}

// TestUnknownEndpoint: where nobody knows where to ask about tokens, nobody knows whether one is good, and it is not looked for each time.
func TestUnknownEndpoint(t *testing.T) {
	a := &asked{start: time.Now(), accept: map[string]bool{}, broken: func(string) bool { return true }}
	now := time.Unix(1_000, 0)
	i, err := newIssuer(Issuer{URL: "https://h", Tokens: Opaque, Introspection: &Introspection{}}, &http.Client{Transport: a}, &fetchGroup{}, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	g := &Guard{now: i.now}
	for n := range bucketSize + 1 {
		want := "introspection endpoint is not known"
		if n == bucketSize {
			want = "too many unknown keys"
		}
		check := &Check{}
		if _, err := g.introspect(t.Context(), i, credential{token: "t", check: check}, now); fmt.Sprint(err) != want || !isUnavailable(err) {
			t.Errorf("token %d: %v, want %s", n, err, want)
		}
		if looked := check.Kind == CheckIntrospection; looked != (n < bucketSize) {
			t.Errorf("token %d: it is told that the issuer was asked: %t", n, looked)
		}
	}
}

// status is a service that answers with a status alone.
type status int

func (s status) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: int(s), Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
}

// TestTokenInfoStatus: of tokeninfo, 400 says that the token is no good, and nothing else does.
func TestTokenInfoStatus(t *testing.T) {
	for code, want := range map[status]string{400: "not active", 500: "introspection failed", 200: "not active"} {
		c := Issuer{URL: "https://h", Tokens: Opaque, Introspection: &Introspection{Endpoint: "https://h/ask", TokenInfo: true}}
		i, err := newIssuer(c, &http.Client{Transport: code}, &fetchGroup{}, time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		g := &Guard{now: time.Now}
		v, err := g.introspectRemote(t.Context(), i, i.introspector.endpoint.Load(), "t")
		if err == nil {
			_, err = v.result()
		}
		if fmt.Sprint(err) != want {
			t.Errorf("status %d: %v, want %s", code, err, want)
		}
	}
}

// TestReplaysOwned: what a caller has among the proofs is right when they are forgotten, too.
func TestReplaysOwned(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	m := NewReplayMemory(func() time.Time { return now })
	seen := func(n byte, owner string, until time.Duration) {
		if _, err := m.Seen(t.Context(), owner, [32]byte{n}, now.Add(until)); err != nil {
			t.Fatal(err)
		}
	}
	owned := func() string {
		s := &m.shards[0]
		var counts []int
		for _, n := range s.owners {
			counts = append(counts, n)
		}
		return fmt.Sprint(len(s.ids), counts)
	}
	seen(1, "a", 1)
	seen(2, "a", time.Hour)
	now = now.Add(1)
	seen(1, "a", 1) // again, since it does not count any more
	if got := owned(); got != "2 [2]" {
		t.Errorf("after one that was replaced: %s", got)
	}
	now = now.Add(replaySweep - 2)
	seen(3, "a", time.Hour)
	if got := owned(); got != "3 [3]" {
		t.Errorf("before they are gone through: %s", got)
	}
	now = now.Add(1)
	seen(4, "a", time.Hour)
	if got := owned(); got != "3 [3]" {
		t.Errorf("after they were gone through: %s", got)
	}
}
