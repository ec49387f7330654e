package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// memoryStore is a [KeyStore] in memory.
type memoryStore struct {
	mu    sync.Mutex
	text  []byte
	saves int
	fails error
}

func (m *memoryStore) Load(context.Context) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.text == nil {
		return nil, fmt.Errorf("load: %w", fs.ErrNotExist)
	}
	return m.text, nil
}

func (m *memoryStore) Store(_ context.Context, text []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.saves++
	if m.fails == nil {
		m.text = text
	}
	return m.fails
}

func (m *memoryStore) set(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.text = []byte(text)
}

// restarted returns a house with a new guard, whose first issuer has a store.
func restarted(t *testing.T, h *house, s *memoryStore, change ...func(*Options)) *house {
	return newHouseNear(t, h, func(o *Options) {
		o.Issuers = o.Issuers[:1]
		o.Issuers[0].Store = s
		for _, f := range change {
			f(o)
		}
	})
}

// TestRestartDuringOutage: a process that starts while the issuer is down, or says nothing, is able to verify tokens with the
// keys that an earlier one has stored, for a day after they were fetched, and is not able without them.
func TestRestartDuringOutage(t *testing.T) {
	for name, fails := range map[string]func(*idp){
		"down":    func(i *idp) { i.status = http.StatusBadGateway },
		"hangs":   func(i *idp) { i.hang = true },
		"moved":   func(i *idp) { i.document = map[string]any{"issuer": "somebody else"}; i.status = http.StatusNotFound },
		"garbage": func(i *idp) { i.keySet = []byte("<html>") },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *house) {
				store := &memoryStore{}
				first := restarted(t, h, store)
				run(t, first)
				if !first.guard.Able() || store.saves != 1 {
					t.Fatalf("able %v, %d saves", first.guard.Able(), store.saves)
				}
				h.a.change(func() { fails(h.a) })
				without := restarted(t, h, &memoryStore{})
				run(t, without)
				second := restarted(t, h, store)
				if second.guard.Able() {
					t.Error("able before the issuer was tried")
				}
				run(t, second)
				time.Sleep(3 * fetchTime)
				synctest.Wait()
				if !second.guard.Able() || without.guard.Able() {
					t.Fatalf("able %v with stored keys, %v without", second.guard.Able(), without.guard.Able())
				}
				if s := second.guard.Status()[0]; s.Keys != 1 || !s.Stored || !s.Tried || s.Err == nil {
					t.Errorf("status %+v", s)
				}
				second.wantStatus("stored key", h.keyA.token(h.a.url, time.Now(), nil), http.StatusOK)
				second.wantStatus("unknown key", newES256("new").token(h.a.url, time.Now(), nil), http.StatusServiceUnavailable)
				time.Sleep(20 * time.Hour)
				second.wantStatus("stored key after 20 hours", h.keyA.token(h.a.url, time.Now(), nil), http.StatusOK)
				time.Sleep(5 * time.Hour)
				second.wantStatus("stored key after a day", h.keyA.token(h.a.url, time.Now(), nil), http.StatusServiceUnavailable)
				late := restarted(t, h, store)
				run(t, late)
				time.Sleep(3 * fetchTime)
				synctest.Wait()
				if late.guard.Able() {
					t.Error("keys that were fetched more than a day ago are used")
				}
				h.a.change(func() { h.a.status, h.a.hang, h.a.keySet, h.a.document = 0, false, nil, nil })
				time.Sleep(lastBackoffWithoutKeys + time.Second)
				synctest.Wait()
				if !late.guard.Able() {
					t.Error("not able soon after the outage")
				}
				late.wantStatus("after the outage", h.keyA.token(h.a.url, time.Now(), nil), http.StatusOK)
			})
		})
	}
}

// TestFirstTokenDuringOutage: the token for which the keys are fetched waits no longer than that, and is verified with the
// stored keys, as are those that come with it.
func TestFirstTokenDuringOutage(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		store := &memoryStore{}
		first := restarted(t, h, store)
		run(t, first)
		h.a.change(func() { h.a.hang = true })
		second := restarted(t, h, store)
		for range 3 {
			go second.wantStatus("stored key", h.keyA.token(h.a.url, time.Now(), nil), http.StatusOK)
		}
		go second.wantStatus("unknown key", newES256("new").token(h.a.url, time.Now(), nil), http.StatusServiceUnavailable)
		time.Sleep(4 * fetchTime)
		synctest.Wait()
	})
}

// TestStoredKeysAreSecondChoice: a key that the issuer has withdrawn meanwhile is never used by a new process (T11).
func TestStoredKeysAreSecondChoice(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		store := &memoryStore{}
		run(t, restarted(t, h, store))
		next := newES256("next")
		h.a.change(func() { h.a.keys = []signer{next} })
		second := restarted(t, h, store)
		second.wantStatus("withdrawn key", h.keyA.token(h.a.url, time.Now(), nil), http.StatusUnauthorized)
		second.wantStatus("new key", next.token(h.a.url, time.Now(), nil), http.StatusOK)

		h.a.change(func() { h.a.keys = nil; h.a.keySet = []byte(`{"keys":[]}`) })
		third := restarted(t, h, store)
		run(t, third)
		if third.guard.Able() {
			t.Error("able without a key, because an earlier process had one")
		}
		h.a.change(func() { h.a.hang = true })
		fourth := restarted(t, h, store)
		run(t, fourth)
		time.Sleep(3 * fetchTime)
		synctest.Wait()
		if fourth.guard.Able() {
			t.Error("able with a key that the issuer had withdrawn before the outage")
		}
	})
}

// TestStoredMetadata: while only the metadata can't be had, keys are fetched from where they were, and opaque tokens are
// introspected where they were.
func TestStoredMetadata(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		h.a.change(func() {
			h.a.document = map[string]any{"introspection_endpoint": h.a.url + "/introspect"}
			h.a.answers = map[string]string{"good": h.activeAnswer(time.Now(), nil)}
		})
		keys, endpoint := &memoryStore{}, &memoryStore{}
		opaque := func(o *Options) { o.Issuers[0].Tokens, o.Issuers[0].Introspection = Opaque, &Introspection{} }
		run(t, restarted(t, h, keys))
		run(t, restarted(t, h, endpoint, opaque))
		next := newES256("next")
		h.a.change(func() { h.a.document = map[string]any{"issuer": "nobody"}; h.a.keys = append(h.a.keys, next) })

		jwt := restarted(t, h, keys)
		run(t, jwt)
		jwt.wantStatus("key that is new since then", next.token(h.a.url, time.Now(), nil), http.StatusOK)
		if s := jwt.guard.Status()[0]; s.Stored || s.Err != nil {
			t.Errorf("status %+v", s)
		}
		second := restarted(t, h, endpoint, opaque)
		run(t, second)
		second.wantStatus("opaque token", "good", http.StatusOK)
		if !second.guard.Able() {
			t.Error("not able, although the introspection endpoint is known")
		}
		without := restarted(t, h, &memoryStore{}, opaque)
		run(t, without)
		if without.guard.Able() {
			t.Error("able without an introspection endpoint")
		}
		for _, wrong := range []*memoryStore{keys, endpoint} { // the record of another kind of tokens
			change := opaque
			if wrong == endpoint {
				change = func(*Options) {}
			}
			other := restarted(t, h, wrong, change)
			other.guard.issuers[h.a.url].restore(t.Context())
			if other.guard.Able() || other.guard.issuers[h.a.url].able() {
				t.Error("a record of another kind of tokens is used")
			}
		}
	})
}

// TestAble: each issuer must have been tried, and one must have keys; an issuer whose introspection endpoint is configured
// has nothing to fetch.
func TestAble(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		h.a.change(func() { h.a.hang = true })
		run(t, h)
		if h.guard.Able() {
			t.Error("able while the first issuer is being tried")
		}
		time.Sleep(3 * fetchTime)
		synctest.Wait()
		if !h.guard.Able() {
			t.Error("not able, although the second issuer has keys")
		}
		fixed := newHouseNear(t, h, func(o *Options) {
			o.Issuers = o.Issuers[:1]
			o.Issuers[0].Tokens, o.Issuers[0].Introspection = Opaque, &Introspection{Endpoint: h.a.url + "/introspect"}
		})
		if !fixed.guard.Able() {
			t.Error("not able, although there is nothing to fetch")
		}
	})
}

// TestStoreFails: a store that can't be written delays nothing, is reported once, and written again later.
func TestStoreFails(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		store := &memoryStore{fails: errors.New("no space left on device")}
		first := restarted(t, h, store, func(o *Options) { o.Logger = h.guard.log })
		run(t, first)
		time.Sleep(3*refreshEvery + time.Second)
		synctest.Wait()
		if n := strings.Count(h.log.String(), "no space left on device"); n != 1 || store.saves < 3 {
			t.Errorf("%d reports of %d failures", n, store.saves)
		}
		store.mu.Lock()
		store.fails = nil
		store.mu.Unlock()
		time.Sleep(refreshEvery)
		synctest.Wait()
		if store.text == nil {
			t.Error("nothing was stored after the failure")
		}
		before := store.saves
		for range 3 { // unknown keys cause fetches
			first.call(newES256("new").token(h.a.url, time.Now(), nil))
			synctest.Wait()
		}
		if store.saves != before {
			t.Errorf("%d fetches of the same keys were stored", store.saves-before)
		}
	})
}

// TestKeyRecord: a record that isn't exactly one of this issuer, as it was written, is not used, and why is logged.
func TestKeyRecord(t *testing.T) {
	h := newHouse(t, nil)
	set, err := parseKeySet(h.a.set())
	if err != nil {
		t.Fatal(err)
	}
	record := &keyRecord{jwksURL: h.a.url + "/keys", keys: set, fetched: h.now}
	good, err := record.text(h.a.url)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := parseKeyRecord(good, h.a.url, h.now); err != nil || len(got.keys.keys) != 1 || got.jwksURL != record.jwksURL || !got.fetched.Equal(h.now) {
		t.Fatalf("%+v %v", got, err)
	}
	_, body, _ := strings.Cut(string(good), "\n")
	private, err := (&jose.JSONWebKey{Key: h.keyA.private.(*ecdsa.PrivateKey), KeyID: "private"}).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":             {"", "damaged"},
		"cut":               {string(good[:len(good)-1]), "damaged"},
		"changed":           {strings.Replace(string(good), `"kid":"shared"`, `"kid":"SHARED"`, 1), "damaged"},
		"too large":         {strings.Repeat(" ", maxKeyRecord+1), "more than"},
		"not JSON":          {summed("{"), "unexpected end"},
		"list":              {summed("[]"), "not an object"},
		"twice":             {summed(strings.Replace(body, "{", `{"issuer":"x",`, 1)), "issuer"},
		"other format":      {summed(strings.Replace(body, `"format":1`, `"format":2`, 1)), "format 2"},
		"other issuer":      {summed(strings.Replace(body, h.a.url, h.b.url, 1)), "belongs to issuer"},
		"without a time":    {summed(strings.Replace(body, `"fetched":`, `"fetch":`, 1)), "does not say when"},
		"from the future":   {summed(strings.Replace(body, "2026-11-20", "2026-11-21", 1)), "in the future"},
		"old":               {summed(strings.Replace(body, "2026-11-20", "2026-11-18", 1)), "more than 24h"},
		"without a list":    {summed(strings.Replace(body, `{"keys":`, `{"kies":`, 1)), "key set"},
		"keys of the wrong": {summed(strings.Replace(body, `{"keys":[`, `{"keys":[`+strings.Repeat(`{},`, maxKeys), 1)), "more than 100 keys"},
	} {
		if _, err := parseKeyRecord([]byte(c.text), h.a.url, h.now); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	with := summed(strings.Replace(body, `{"keys":[`, `{"keys":[`+string(private)+`,{"kty":"oct","k":"c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"},`, 1))
	got, err := parseKeyRecord([]byte(with), h.a.url, h.now)
	if err != nil || len(got.keys.keys) != 1 || got.keys.knows("private") {
		t.Errorf("private or symmetric keys are used: %+v %v", got, err)
	}
	again, err := got.text(h.a.url)
	if err != nil || strings.Contains(string(again), `"d":`) {
		t.Errorf("a private key is stored: %s %v", again, err)
	}
}

// TestKeyRecordURLs: a record whose URLs metadata could not have is not used (T13), nor one without keys, and why is logged.
func TestKeyRecordURLs(t *testing.T) {
	for name, change := range map[string]func(body, issuer string) string{
		"plain HTTP": func(body, issuer string) string {
			return strings.Replace(body, issuer+"/keys", "http://idp.example.com/keys", 1)
		},
		"no URL":       func(body, issuer string) string { return strings.Replace(body, issuer+"/keys", "keys", 1) },
		"without keys": func(body, _ string) string { return strings.Replace(body, `"jwks":`, `"keys":`, 1) },
	} {
		store := &memoryStore{}
		h := newHouse(t, func(o *Options) { o.Issuers[0].Store = store })
		set, err := parseKeySet(h.a.set())
		if err != nil {
			t.Fatal(err)
		}
		text, err := (&keyRecord{jwksURL: h.a.url + "/keys", keys: set, fetched: h.now}).text(h.a.url)
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(string(text), "\n")
		store.set(summed(change(body, h.a.url)))
		i := h.guard.issuers[h.a.url]
		if i.restore(t.Context()); i.able() || !strings.Contains(h.log.String(), "not used") {
			t.Errorf("%s: able %v, log %s", name, i.able(), h.log)
		}
		store.set(string(text))
		i.storeRead = false
		if i.restore(t.Context()); !i.able() {
			t.Errorf("the record without a change is not used: %s", h.log)
		}
	}
}

func summed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:]) + "\n" + text
}

// FuzzKeyRecord: no text in the store does harm, and what is read is written as it was.
func FuzzKeyRecord(f *testing.F) {
	h := newHouse(f, nil)
	h.a.keys = append(h.a.keys, newES256("e"), newEdDSA("d"), newRSA("r", jose.RS256, 2048))
	set, err := parseKeySet(h.a.set())
	if err != nil {
		f.Fatal(err)
	}
	set.withdrawn = []string{"old"}
	text, err := (&keyRecord{jwksURL: h.a.url + "/keys", keys: set, fetched: h.now}).text(h.a.url)
	if err != nil {
		f.Fatal(err)
	}
	_, body, _ := strings.Cut(string(text), "\n")
	f.Add(body)
	f.Add("{}")
	f.Fuzz(func(t *testing.T, body string) {
		r, err := parseKeyRecord([]byte(summed(body)), h.a.url, h.now)
		if err != nil {
			return
		}
		text, err := r.text(h.a.url)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseKeyRecord(text, h.a.url, h.now)
		if err != nil || len(again.keys.keys) != len(r.keys.keys) || len(again.keys.withdrawn) != len(r.keys.withdrawn) || again.jwksURL != r.jwksURL {
			t.Errorf("%v: %+v, want %+v", err, again, r)
		}
	})
}
