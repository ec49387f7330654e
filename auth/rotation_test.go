package auth

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"drawbridge/test/timebox"
)

// run starts the guard's refresh; the clock is the bubble's.
func run(t *testing.T, h *house) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); h.guard.Run(ctx) }()
	t.Cleanup(func() { cancel(); timebox.Wait(t, done) })
	synctest.Wait()
}

func inBubble(t *testing.T, f func(t *testing.T, h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t, newHouse(t, func(o *Options) { o.Now = nil }))
	})
}

func (h *house) wantStatus(what, token string, want int) {
	h.t.Helper()
	if w := h.call(token); w.Code != want {
		h.t.Errorf("%s: status %d, want %d; log:\n%s", what, w.Code, want, h.log)
	}
}

// TestRotation is T11 and T19: a new key works with the first token that needs
// it, and a removed key's tokens stop, the cached ones too.
func TestRotation(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		run(t, h)
		before := h.keyA.token(h.a.url, time.Now(), nil)
		h.wantStatus("old key", before, http.StatusOK)

		next := newES256("next")
		h.a.change(func() { h.a.keys = append(h.a.keys, next) })
		fetches := h.a.fetches.Load()
		after := next.token(h.a.url, time.Now(), nil)
		h.wantStatus("new key", after, http.StatusOK)
		if n := h.a.fetches.Load() - fetches; n != 1 {
			t.Errorf("%d fetches for a new key, want 1", n)
		}
		h.wantStatus("old key beside the new one", before, http.StatusOK)

		h.a.change(func() { h.a.keys = []signer{next} })
		time.Sleep(refreshEvery + time.Second)
		synctest.Wait()
		fetches = h.a.fetches.Load()
		h.wantStatus("removed key", before, http.StatusUnauthorized)
		h.wantStatus("new key after the removal", after, http.StatusOK)
		if n := h.a.fetches.Load() - fetches; n != 1 {
			t.Errorf("%d fetches for a removed key, want 1", n)
		}
	})
}

// TestUntil: what a principal says of its end is when the gateway begins to refuse the token, so that a stream which ends
// then is not opened again with the same token.
func TestUntil(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		run(t, h)
		token := h.keyA.token(h.a.url, time.Now(), nil)
		var p *Principal
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		h.guard.Protect(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { p = FromContext(r.Context()) })).ServeHTTP(w, r)
		if p == nil {
			t.Fatalf("status %d; log:\n%s", w.Code, h.log)
		}
		until := p.Until()
		if !until.After(p.Expiry) {
			t.Fatalf("until %s, expiry %s", until, p.Expiry)
		}
		time.Sleep(time.Until(until) - time.Nanosecond)
		h.wantStatus("just before", token, http.StatusOK)
		time.Sleep(time.Nanosecond)
		h.wantStatus("then", token, http.StatusUnauthorized)
	})
}

// TestEveryKeyRevoked: an empty set is the operator's emergency stop.
func TestEveryKeyRevoked(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		run(t, h)
		token := h.keyA.token(h.a.url, time.Now(), nil)
		h.wantStatus("before", token, http.StatusOK)
		h.a.change(func() { h.a.keySet = []byte(`{"keys":[]}`) })
		time.Sleep(refreshEvery + time.Second)
		h.wantStatus("after", token, http.StatusUnauthorized)
	})
}

// TestReorderedSetKeepsCache: an unchanged set does not make cached tokens dear.
func TestReorderedSetKeepsCache(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		h.a.change(func() { h.a.keys = append(h.a.keys, newES256("second")) })
		run(t, h)
		keys := h.guard.issuers[h.a.url].keys.Load()
		h.a.change(func() { h.a.keys[0], h.a.keys[1] = h.a.keys[1], h.a.keys[0] })
		time.Sleep(refreshEvery + time.Second)
		synctest.Wait()
		if h.guard.issuers[h.a.url].keys.Load() != keys {
			t.Error("the same keys in another order were taken for a change")
		}
	})
}

// TestUnknownKeys is T10: a flood of made-up key ids costs the authorization
// server few fetches, answers 503 when it can't be known, and harms nobody else.
func TestUnknownKeys(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		run(t, h)
		good := h.keyA.token(h.a.url, time.Now(), nil)
		flood := func(n int) map[int]int {
			statuses := map[int]int{}
			var mu sync.Mutex
			var wg sync.WaitGroup
			for k := range n {
				token := h.keyA.token(h.a.url, time.Now(), map[string]any{"header.kid": fmt.Sprint(k)})
				wg.Go(func() {
					w := h.call(token)
					mu.Lock()
					statuses[w.Code]++
					mu.Unlock()
				})
			}
			timebox.Done(t, wg.Wait)
			return statuses
		}
		start := time.Now()
		for range 10 {
			statuses := flood(100)
			if statuses[http.StatusUnauthorized]+statuses[http.StatusServiceUnavailable] != 100 {
				t.Errorf("statuses %v", statuses)
			}
		}
		if n := h.a.fetches.Load(); n > 6 {
			t.Errorf("%d fetches in the first seconds, want at most 6", n)
		}
		h.wantStatus("a good token in the flood", good, http.StatusOK)
		h.wantStatus("another issuer in the flood", h.keyB.token(h.b.url, time.Now(), nil), http.StatusOK)
		w := h.call(h.keyA.token(h.a.url, time.Now(), map[string]any{"header.kid": "x"}))
		if diff := cmp.Diff("503 10", fmt.Sprint(w.Code, " ", w.Header().Get("Retry-After"))); diff != "" {
			t.Error(diff)
		}
		if w.Header().Get("WWW-Authenticate") != "" {
			t.Error("a 503 must not make clients log in again")
		}
		for range 10 {
			time.Sleep(10 * time.Second)
			flood(10)
		}
		if n, seconds := h.a.fetches.Load(), int64(time.Since(start).Seconds()); n > 6+seconds/10 {
			t.Errorf("%d fetches in %d s", n, seconds)
		}
	})
}

// TestWithdrawnKey: a token that was issued long before the keys were fetched, and whose key is not among them, is refused without a question to the
// issuer, so that who is logged out by the withdrawal of a key is told so, whatever others do to spend the questions.
func TestWithdrawnKey(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		run(t, h)
		time.Sleep(20*time.Minute + time.Second)
		synctest.Wait()
		h.a.change(func() { h.a.keys = []signer{newES256("next")} })
		for n := range 2 * bucketSize {
			h.call(h.keyA.token(h.a.url, time.Now(), map[string]any{"header.kid": fmt.Sprint(n)}))
		}
		fetches := h.a.fetches.Load()
		for _, c := range []struct {
			what  string
			iat   any
			want  int
			other int // with a key id that was never published, or without one
		}{
			{"a token of before", time.Now().Add(-10 * time.Minute).Unix(), http.StatusUnauthorized, http.StatusUnauthorized},
			{"one whose issuer sets iat back by five minutes", time.Now().Add(-5 * time.Minute).Unix(), http.StatusUnauthorized, http.StatusServiceUnavailable},
			{"one that is new", time.Now().Unix(), http.StatusServiceUnavailable, http.StatusServiceUnavailable},
			{"one that does not say", nil, http.StatusServiceUnavailable, http.StatusServiceUnavailable},
		} {
			h.wantStatus(c.what, h.keyA.token(h.a.url, time.Now(), map[string]any{"iat": c.iat}), c.want)
			h.wantStatus(c.what+", without a key id", h.keyA.token(h.a.url, time.Now(), map[string]any{"iat": c.iat, "header.kid": nil}), c.other)
			h.wantStatus(c.what+", of another key", h.keyA.token(h.a.url, time.Now(), map[string]any{"iat": c.iat, "header.kid": "x"}), c.other)
		}
		if n := h.a.fetches.Load() - fetches; n != 0 {
			t.Errorf("%d fetches", n)
		}
		// What was refused so is good again with its key.
		h.a.change(func() { h.a.keys = append(h.a.keys, h.keyA) })
		time.Sleep(bucketRefill)
		h.wantStatus("a token that has the keys fetched", h.keyA.token(h.a.url, time.Now(), nil), http.StatusOK)
		h.wantStatus("a token of before, when its key is back", h.keyA.token(h.a.url, time.Now().Add(-10*time.Minute), nil), http.StatusOK)
	})
}

// TestWithdrawnKeyOfFreshTokens: Keycloak's tokens live five minutes, so that those of a key that was withdrawn are seldom
// older than the set without it. Each would ask for the keys again, and get 503 once too many have: their clients would not
// request other tokens.
func TestWithdrawnKeyOfFreshTokens(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		run(t, h)
		next, issued := newES256("next"), time.Now()
		time.Sleep(time.Minute)
		withdrawn := func(n int) string { return h.keyA.token(h.a.url, issued, map[string]any{"jti": n}) }
		h.wantStatus("before", withdrawn(-1), http.StatusOK)
		h.a.change(func() { h.a.keys = []signer{next} })
		h.wantStatus("the new key", next.token(h.a.url, time.Now(), nil), http.StatusOK)
		fetches := h.a.fetches.Load()
		for n := range 3 * bucketSize {
			h.wantStatus("the key that was withdrawn", withdrawn(n), http.StatusUnauthorized)
		}
		if n := h.a.fetches.Load() - fetches; n > bucketSize {
			t.Errorf("%d fetches", n)
		}
		h.wantStatus("a token of after the withdrawal", h.keyA.token(h.a.url, time.Now(), nil), http.StatusServiceUnavailable)
		h.wantStatus("a key that nobody knows", h.keyA.token(h.a.url, time.Now(), map[string]any{"header.kid": "x"}), http.StatusServiceUnavailable)

		h.a.change(func() { h.a.keys = []signer{next, h.keyA} })
		time.Sleep(bucketRefill)
		h.wantStatus("the key is back", withdrawn(-2), http.StatusOK)
	})
}

// TestOutage is T12: with the authorization server down, or when it takes requests and says nothing, known keys go on for
// a day, also while they are asked for, unknown ones get 503, and other issuers notice nothing.
func TestOutage(t *testing.T) {
	for name, fails := range map[string]func(*idp){
		"down":  func(i *idp) { i.status = http.StatusBadGateway },
		"hangs": func(i *idp) { i.hang = true },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *house) {
				run(t, h)
				h.a.change(func() { fails(h.a) })
				known := func(what string) {
					t.Helper()
					start := time.Now()
					h.wantStatus(what, h.keyA.token(h.a.url, start, nil), http.StatusOK)
					if d := time.Since(start); d > 0 {
						t.Errorf("%s: answered after %s", what, d)
					}
				}
				i := h.guard.issuers[h.a.url]
				asked := 0
				time.Sleep(refreshEvery - time.Second)
				for range 10 {
					time.Sleep(time.Second)
					known("known key, asked for")
					i.mu.Lock()
					if i.flight != nil {
						asked++
					}
					i.mu.Unlock()
				}
				if name == "hangs" && asked == 0 {
					t.Error("no call came while the keys were asked for")
				}
				for _, hours := range []int{1, 12, 10} {
					time.Sleep(time.Duration(hours) * time.Hour)
					known("known key")
					h.wantStatus("unknown key", newES256("new").token(h.a.url, time.Now(), nil), http.StatusServiceUnavailable)
					h.wantStatus("other issuer", h.keyB.token(h.b.url, time.Now(), nil), http.StatusOK)
				}
				cached := h.keyA.token(h.a.url, time.Now(), map[string]any{"exp": time.Now().Add(48 * time.Hour).Unix()})
				h.wantStatus("to be cached", cached, http.StatusOK)
				time.Sleep(2 * time.Hour)
				h.wantStatus("known key after a day", h.keyA.token(h.a.url, time.Now(), nil), http.StatusServiceUnavailable)
				h.wantStatus("cached token after a day", cached, http.StatusServiceUnavailable)
				for _, s := range h.guard.Status() {
					if failed := s.Issuer == h.a.url; failed != (s.Err != nil) {
						t.Errorf("status of %s: %v", s.Issuer, s.Err)
					}
				}

				h.a.change(func() { h.a.status, h.a.hang = 0, false })
				time.Sleep(2 * lastBackoff)
				synctest.Wait()
				h.wantStatus("after the outage", cached, http.StatusOK)
			})
		})
	}
}

// TestStartDuringOutage is the start of T12: nothing waits, and the first token
// after the outage works, also without Run.
func TestStartDuringOutage(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		h.a.change(func() { h.a.hang = true })
		start := time.Now()
		token := h.keyA.token(h.a.url, start, nil)
		h.wantStatus("during the outage", token, http.StatusServiceUnavailable)
		if d := time.Since(start); d != fetchTime {
			t.Errorf("answered after %s, want %s", d, fetchTime)
		}
		h.a.change(func() { h.a.hang = false })
		h.wantStatus("after it", token, http.StatusOK)
	})
}

// TestOneFlight: all that need keys at the same time wait for one fetch.
func TestOneFlight(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		h.wantStatus("before", h.keyA.token(h.a.url, time.Now(), nil), http.StatusOK)
		before := h.a.fetches.Load()
		h.a.change(func() { h.a.hang = true })
		token := newES256("new").token(h.a.url, time.Now(), nil)
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() { h.wantStatus("waiting", token, http.StatusServiceUnavailable) })
		}
		timebox.Done(t, wg.Wait)
		if n := h.a.fetches.Load() - before; n != 1 {
			t.Errorf("%d fetches, want 1", n)
		}
	})
}

// TestExpiryInCache: a cached token ends with its expiry and the skew.
func TestExpiryInCache(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		run(t, h)
		token := h.keyA.token(h.a.url, time.Now(), nil)
		for _, c := range []struct {
			wait time.Duration
			want int
		}{{0, 200}, {time.Hour - time.Second, 200}, {time.Second, 200}, {59 * time.Second, 200}, {time.Second, 401}} {
			time.Sleep(c.wait)
			h.wantStatus("after "+c.wait.String(), token, c.want)
		}
	})
}

// TestHostileIssuer is T13: what an authorization server may answer, and what
// the guard makes of it.
func TestHostileIssuer(t *testing.T) {
	many := func(n int) []byte {
		one := strings.TrimSuffix(strings.TrimPrefix(string((&idp{keys: []signer{newES256("k")}}).set()), `{"keys":[`), "]}")
		return []byte(`{"keys":[` + strings.Repeat(one+",", n-1) + one + "]}")
	}
	weak := newRSA("shared", "RS256", 1024)
	for _, c := range []struct {
		name   string
		change func(*house)
		want   string // of the last error; "": keys were fetched
	}{
		{"good", func(*house) {}, ""},
		{"other issuer in the document", func(h *house) { h.a.document = map[string]any{"issuer": "http://localhost:7002"} },
			`discover: oidc: issuer URL provided to client ("http://localhost:7001") did not match the issuer URL returned by provider ("http://localhost:7002")`},
		{"key set over http", func(h *house) { h.a.document = map[string]any{"jwks_uri": "http://keys.example.com/keys"} },
			`discover: jwks_uri "http://keys.example.com/keys": only https is fetched, and http on a loopback host`},
		{"key set in a file", func(h *house) { h.a.document = map[string]any{"jwks_uri": "file:///etc/passwd"} },
			`discover: jwks_uri "file:///etc/passwd" is not an absolute URL`},
		{"document too large", func(h *house) { h.a.document = map[string]any{"x": strings.Repeat("x", fetchBytes)} },
			"discover: unable to read response body: answer of more than 262144 bytes"},
		{"key set too large", func(h *house) { h.a.keySet = bytes.Repeat([]byte(" "), fetchBytes+1) },
			"fetch key set: answer of more than 262144 bytes"},
		{"too many keys", func(h *house) { h.a.keySet = many(101) }, "read key set: more than 100 keys"},
		{"as many keys as may be", func(h *house) { h.a.keySet = many(100) }, ""},
		{"not JSON", func(h *house) { h.a.keySet = []byte("<html>") }, `read key set: json: unexpected '<', expected a value at byte 0`},
		{"no keys member", func(h *house) { h.a.keySet = []byte(`{"Keys":[]}`) }, `read key set: no array "keys" in it`},
		{"redirect to another origin", func(h *house) { h.a.location = "http://localhost:7002/keys" },
			`fetch key set: Get "http://localhost:7002/keys": redirect to another origin`},
		{"redirect loop", func(h *house) { h.a.location = "/keys" }, `fetch key set: Get "/keys": more than 3 redirects`},
		{"error status", func(h *house) { h.a.status = 500 }, "fetch key set: status 500"},
		{"weak key", func(h *house) { h.a.keys = []signer{weak, h.keyA} }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, nil)
			h.a.change(func() { c.change(h) })
			got := ""
			if err := h.guard.issuers[h.a.url].refresh(t.Context(), false); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("metadata of an issuer elsewhere that leads to this machine", func(t *testing.T) {
		i := &issuer{url: "https://idp.example.com", introspector: &introspector{}}
		const local = "http://127.0.0.1:9090/reload"
		if err := i.setKeySetURL(serverMetadata{keySet: local}, time.Time{}); err == nil || i.jwksURL != "" {
			t.Errorf("error %v, key set %q", err, i.jwksURL)
		}
		if err := i.setIntrospectionEndpoint(serverMetadata{introspection: local}, time.Time{}); err == nil || i.introspector.endpoint.Load() != nil {
			t.Errorf("error %v", err)
		}
	})
	t.Run("weak key is not used", func(t *testing.T) {
		h := newHouse(t, nil)
		h.a.change(func() { h.a.keys = []signer{weak} })
		h.wantStatus("weak", weak.token(h.a.url, h.now, nil), http.StatusUnauthorized)
	})
}

// TestBucket refills one by one and never above its size.
func TestBucket(t *testing.T) {
	var b bucket
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		after time.Duration
		want  []time.Duration
	}{
		{0, []time.Duration{0, 0, 0, 0, 0, 10 * time.Second}},
		{4 * time.Second, []time.Duration{6 * time.Second}},
		{6 * time.Second, []time.Duration{0, 10 * time.Second}},
		{25 * time.Second, []time.Duration{0, 0, 5 * time.Second}},
		{time.Hour, []time.Duration{0, 0, 0, 0, 0, 10 * time.Second}},
	} {
		now = now.Add(c.after)
		for n, want := range c.want {
			if got := b.take(now, unknownKeyRate()); got != want {
				t.Errorf("after %s, take %d: %s, want %s", c.after, n+1, got, want)
			}
		}
	}
}

// TestInheritedKeys is T12 over a change of the rules: a guard that replaces another goes on with what that had fetched, and at the age that it has.
func TestInheritedKeys(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		run(t, h)
		h.a.change(func() { h.a.status = http.StatusBadGateway })
		time.Sleep(20 * time.Hour)
		next := newHouseNear(t, h, func(o *Options) { o.Issuers[0].Previous = h.guard })
		run(t, next)
		next.wantStatus("known key", h.keyA.token(h.a.url, time.Now(), nil), http.StatusOK)
		next.wantStatus("unknown key", newES256("new").token(h.a.url, time.Now(), nil), http.StatusServiceUnavailable)
		if got, want := next.guard.Status()[0].Fetched, h.guard.Status()[0].Fetched; !got.Equal(want) {
			t.Errorf("fetched %s, want %s", got, want)
		}
		time.Sleep(5 * time.Hour)
		next.wantStatus("known key after a day", h.keyA.token(h.a.url, time.Now(), nil), http.StatusServiceUnavailable)

		h.a.change(func() {
			h.a.status, h.a.document = 0, map[string]any{"introspection_endpoint": h.a.url + "/introspect"}
			h.a.answers = map[string]string{"good": h.activeAnswer(time.Now(), nil)}
		})
		opaque := newHouseNear(t, h, func(o *Options) {
			o.Issuers[0].Tokens, o.Issuers[0].Introspection, o.Issuers[0].Previous = Opaque, &Introspection{}, h.guard
		})
		if s := opaque.guard.Status()[0]; s.Keys != 0 || !s.Fetched.IsZero() {
			t.Errorf("an issuer of another kind has taken over %+v", s)
		}
		opaque.wantStatus("opaque token", "good", http.StatusOK)
		h.a.change(func() { h.a.document = map[string]any{"issuer": "nobody"} })
		after := newHouseNear(t, h, func(o *Options) {
			o.Issuers[0].Tokens, o.Issuers[0].Introspection, o.Issuers[0].Previous = Opaque, &Introspection{}, opaque.guard
		})
		if got, want := after.guard.Status()[0].Fetched, opaque.guard.Status()[0].Fetched; want.IsZero() || !got.Equal(want) {
			t.Errorf("fetched %s, want %s", got, want)
		}
		run(t, after)
		after.wantStatus("opaque token, asked where it was known to be", "good", http.StatusOK)
	})
}
