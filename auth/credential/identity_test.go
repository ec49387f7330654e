package credential

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"drawbridge/auth"
	"drawbridge/test/timebox"
)

// keysOf fetches the key set as a service does.
func keysOf(t testing.TB, i *Identity) jose.JSONWebKeySet {
	t.Helper()
	w := httptest.NewRecorder()
	i.Keys().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(w.Body.Bytes(), &set); err != nil || w.Header().Get("Content-Type") != "application/jwk-set+json" {
		t.Fatal(err, w.Header())
	}
	for _, k := range set.Keys {
		if !k.IsPublic() {
			t.Fatal("a private key is published")
		}
	}
	return set
}

// verify returns the claims of an identity, if a published key has signed it.
func verify(t testing.TB, i *Identity, text string) (map[string]any, bool) {
	t.Helper()
	jws, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	set := keysOf(t, i)
	keys := set.Key(jws.Signatures[0].Header.KeyID)
	if len(keys) != 1 {
		return nil, false
	}
	payload, err := jws.Verify(keys[0])
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	if err := json.Unmarshal(payload, &claims); err != nil {
		t.Fatal(err)
	}
	return claims, true
}

func identityOf(t testing.TB, rt http.RoundTripper, p *auth.Principal, next *record) string {
	t.Helper()
	ctx := t.Context()
	if p != nil {
		ctx = auth.NewContext(ctx, p)
	}
	req := request(t, "GET https://orders.example.com/\nx_drawbridge_identity: forged\nX-Drawbridge-Identity: forged").WithContext(ctx)
	if _, err := rt.RoundTrip(req); err != nil {
		t.Fatal(err)
	}
	if _, ok := next.request.Header[strings.ReplaceAll("x-drawbridge-identity", "-", "_")]; ok {
		t.Error("an argument has set the identity")
	}
	return strings.Join(next.request.Header["X-Drawbridge-Identity"], "|")
}

func newIdentity(t testing.TB, now func() time.Time, files ...string) (*Identity, http.RoundTripper, *record) {
	t.Helper()
	i, err := NewIdentity(IdentityOptions{Issuer: "https://mcp.example.com", Files: files, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	wrap, err := i.For(IdentityUse{Audience: "orders", Origin: origin0()})
	if err != nil {
		t.Fatal(err)
	}
	next := &record{}
	return i, wrap(next), next
}

func TestIdentity(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	i, rt, next := newIdentity(t, func() time.Time { return now }, writePEM(t, "", ecKey(t)))
	alice := &auth.Principal{Issuer: "https://idp.example.com", Subject: "alice", ClientID: "inspector", Scopes: []string{"a", "b"}}
	first := identityOf(t, rt, alice, next)
	claims, ok := verify(t, i, first)
	id, _ := claims["jti"].(string)
	delete(claims, "jti")
	want := map[string]any{
		"iss": "https://mcp.example.com", "aud": "orders", "sub": "alice", "client_id": "inspector", "scope": "a b", "idp": "https://idp.example.com",
		"iat": float64(now.Unix()), "exp": float64(now.Unix() + 60),
	}
	if diff := cmp.Diff(want, claims); diff != "" || !ok || len(id) < 26 {
		t.Error(diff, ok, id)
	}
	// The same for half its life; another for another token of the same user, who may have other scopes.
	now = now.Add(29 * time.Second)
	if identityOf(t, rt, alice, next) != first {
		t.Error("it was made anew")
	}
	if identityOf(t, rt, &auth.Principal{Issuer: alice.Issuer, Subject: "alice"}, next) == first {
		t.Error("the scopes of another token")
	}
	now = now.Add(time.Second)
	if identityOf(t, rt, alice, next) == first {
		t.Error("it was not made anew")
	}
	if got := identityOf(t, rt, nil, next); got != "" {
		t.Errorf("without a caller: %q", got)
	}
	req := request(t, "GET https://billing.example.com/").WithContext(auth.NewContext(t.Context(), alice))
	if _, err := rt.RoundTrip(req); err != nil || len(next.request.Header) != 0 {
		t.Error("another origin got", next.request.Header, err)
	}
}

// Nobody is introduced as somebody else, and what is kept is bounded.
func TestIdentitiesAreBounded(t *testing.T) {
	now := time.Now()
	i, _, _ := newIdentity(t, func() time.Time { return now }, writePEM(t, "", ecKey(t)))
	b := &identityCache{identity: i, audience: "orders", maxEntries: 20}
	var wg sync.WaitGroup
	for user := range 100 {
		wg.Go(func() {
			p := &auth.Principal{Issuer: "https://idp.example.com", Subject: fmt.Sprint(user)}
			for range 3 {
				header, err := b.header(p)
				if err != nil {
					t.Error(err)
					return
				}
				if claims, ok := verify(t, i, header[0]); !ok || claims["sub"] != p.Subject {
					t.Error(claims, p.Subject)
				}
			}
		})
	}
	timebox.Done(t, wg.Wait)
	if len(b.entries) > b.maxEntries {
		t.Error(len(b.entries))
	}
}

// What nobody can use any more does not hold the callers that it was made for.
func TestOldIdentitiesGo(t *testing.T) {
	now := time.Now()
	i, _, _ := newIdentity(t, func() time.Time { return now }, writePEM(t, "", ecKey(t)))
	b := &identityCache{identity: i, audience: "orders", maxEntries: maxCachedIdentities}
	introduce := func(users int) {
		t.Helper()
		for user := range users {
			if _, err := b.header(&auth.Principal{Subject: fmt.Sprint(user)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	introduce(1000)
	if len(b.entries) != 1000 {
		t.Errorf("%d of 1000 are kept", len(b.entries))
	}
	now = now.Add(maxIdentityLife / 2)
	introduce(1)
	if len(b.entries) != 1 {
		t.Errorf("%d are kept when the others have ended", len(b.entries))
	}
}

// A key that was replaced is published until nothing that it signed can be in
// use, and one that is to come before it signs.
func TestIdentityRotation(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	old, fresh := ecKey(t), ecKey(t)
	current, next := writePEM(t, filepath.Join(dir, "current.pem"), old), writePEM(t, filepath.Join(dir, "next.pem"), fresh)
	i, rt, seen := newIdentity(t, func() time.Time { return now }, current, next)
	alice := &auth.Principal{Subject: "alice"}
	first := identityOf(t, rt, alice, seen)
	if n := len(keysOf(t, i).Keys); n != 2 {
		t.Errorf("%d keys", n)
	}
	writePEM(t, current, fresh)
	put(t, next, []byte("not yet"))
	now = now.Add(31 * time.Second)
	if identityOf(t, rt, alice, seen); i.Problem() == nil {
		t.Error("nothing is wrong with a key file of nonsense")
	}
	writePEM(t, next, fresh)
	now = now.Add(31 * time.Second)
	second := identityOf(t, rt, alice, seen)
	if _, ok := verify(t, i, first); !ok {
		t.Error("the old key is gone at once")
	}
	if _, ok := verify(t, i, second); !ok || i.Problem() != nil {
		t.Error("the new key is not published", i.Problem())
	}
	if strings.Split(first, ".")[0] == strings.Split(second, ".")[0] {
		t.Error("the old key signs")
	}
	now = now.Add(time.Minute + graceTime - time.Second)
	if n := len(keysOf(t, i).Keys); n != 2 {
		t.Errorf("%d keys before the end", n)
	}
	now = now.Add(time.Second)
	if n := len(keysOf(t, i).Keys); n != 1 {
		t.Errorf("%d keys after the end", n)
	}
}

func TestIdentityErrors(t *testing.T) {
	_, err := NewIdentity(IdentityOptions{Issuer: "mcp", Lifetime: time.Hour})
	want := `credential: the issuer of identities must be an absolute http or https URL
credential: an identity can't live for 1h0m0s: 10s to 1m0s are good
credential: 0 key files for identities: 1 to 8 are good`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Error(diff)
	}
	file := writePEM(t, "", ecKey(t))
	for life, good := range map[time.Duration]bool{-1: false, 1: false, 10*time.Second - 1: false, 10 * time.Second: true, time.Minute: true, time.Minute + 1: false} {
		if _, err := NewIdentity(IdentityOptions{Issuer: "https://mcp.example.com", Files: []string{file}, Lifetime: life}); (err == nil) != good {
			t.Errorf("%s: %v", life, err)
		}
	}
	for issuer, good := range map[string]bool{"https://mcp.example.com": true, "https:///mcp": false, "https:mcp.example.com": false, "https://[::1": false, "": false} {
		if _, err := NewIdentity(IdentityOptions{Issuer: issuer, Files: []string{file}}); (err == nil) != good {
			t.Errorf("issuer %q: %v", issuer, err)
		}
	}
	i, _, _ := newIdentity(t, nil, file)
	_, err = i.For(IdentityUse{Header: "Authorization"})
	want = `credential: origin must be an absolute http or https URL
credential: header "Authorization" can't be passed on
credential: an identity needs an audience`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Error(diff)
	}
	w := httptest.NewRecorder()
	if i.Keys().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil)); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Error(w.Code, w.Header())
	}
	w = httptest.NewRecorder()
	i.Keys().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	length := w.Body.Len()
	w = httptest.NewRecorder()
	if i.Keys().ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/", nil)); w.Code != http.StatusOK || w.Body.Len() != 0 || w.Header().Get("Content-Length") != fmt.Sprint(length) {
		t.Error(w.Code, w.Header())
	}
	if w.Header().Get("Cache-Control") != "public, max-age=60" {
		t.Error(w.Header())
	}
	var files []string
	for range maxKeys + 1 {
		files = append(files, writePEM(t, "", ecKey(t)))
	}
	for n, good := range map[int]bool{maxKeys: true, maxKeys + 1: false} {
		if _, err := NewIdentity(IdentityOptions{Issuer: "http://mcp.example.com", Files: files[:n]}); (err == nil) != good {
			t.Errorf("%d keys: %v", n, err)
		}
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	file = writePEM(t, "", p384)
	_, err = NewIdentity(IdentityOptions{Issuer: "ftp://mcp.example.com", Files: []string{file}})
	want = `credential: the issuer of identities must be an absolute http or https URL
credential: key file "` + file + `" holds a key that is not on P-256`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Error(diff)
	}
}

// An identity is not sent again when the token of the caller has ended.
func TestIdentityOfShortToken(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	_, rt, next := newIdentity(t, func() time.Time { return now }, writePEM(t, "", ecKey(t)))
	p := &auth.Principal{Subject: "alice", Expiry: now.Add(5 * time.Second)}
	first := identityOf(t, rt, p, next)
	now = now.Add(5*time.Second - 1)
	if identityOf(t, rt, p, next) != first {
		t.Error("it was made anew")
	}
	now = now.Add(1)
	if identityOf(t, rt, p, next) == first {
		t.Error("it was not made anew")
	}
}

// Where there is no more room, a quarter is made, and none for one who has a place.
func TestRoomForIdentities(t *testing.T) {
	now := time.Now()
	i, _, _ := newIdentity(t, func() time.Time { return now }, writePEM(t, "", ecKey(t)))
	b := &identityCache{identity: i, audience: "orders", maxEntries: 8}
	var all []*auth.Principal
	introduce := func(p *auth.Principal, kept int) {
		t.Helper()
		if _, err := b.header(p); err != nil || len(b.entries) != kept {
			t.Errorf("%d are kept, want %d, %v", len(b.entries), kept, err)
		}
	}
	for n := range 8 {
		all = append(all, &auth.Principal{Subject: fmt.Sprint(n), Expiry: now.Add(time.Second)})
		introduce(all[n], n+1)
	}
	now = now.Add(time.Second) // none of them is of use, and it is not yet time to let go of them
	all[0].Expiry = time.Time{}
	introduce(all[0], 8)
	introduce(&auth.Principal{}, 2)
	for n := range 6 {
		introduce(&auth.Principal{}, n+3)
	}
	introduce(&auth.Principal{}, 7)
}
