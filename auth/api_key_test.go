package auth

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// keyGuard returns a guard with issuers, if any, and keys: a full one, one that has expired, one for an address, and one in rotation.
func keyGuard(t testing.TB, keys []APIKey, change func(*Options)) *Guard {
	t.Helper()
	o := Options{
		Resource: "https://mcp.example.com/mcp", APIKeys: keys, DefaultScopes: []string{"read"}, KeepClaims: true, KeepToken: true,
		Client: &http.Client{Transport: http.DefaultTransport},
		ClientAddress: func(r *http.Request) (netip.Addr, bool) {
			a, err := netip.ParseAddr(r.RemoteAddr)
			return a, err == nil
		},
	}
	if change != nil {
		change(&o)
	}
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func hashes(keys ...string) (all [][32]byte) {
	for _, key := range keys {
		all = append(all, HashAPIKey(key))
	}
	return all
}

// TestNewAPIKey: keys differ, need no quoting anywhere, and one wrong or missing character is recognized.
func TestNewAPIKey(t *testing.T) {
	form, seen := regexp.MustCompile(`\Adbk_[a-z2-7]{40}\z`), map[string]bool{}
	for range 200 {
		key := NewAPIKey()
		if !form.MatchString(key) || seen[key] || !isWholeAPIKey(key) || !isToken68(key) || isJOSE(key) {
			t.Fatalf("a bad key: %s", key)
		}
		seen[key] = true
		for i := len(APIKeyPrefix); i < len(key); i++ {
			other := byte('a')
			if key[i] == 'a' {
				other = 'b'
			}
			if isWholeAPIKey(key[:i]+string(other)+key[i+1:]) || isWholeAPIKey(key[:i]+key[i+1:]) {
				t.Fatalf("%s is whole with another character %d, or without it", key, i)
			}
		}
	}
}

// TestAPIKeys: which requests a key lets in, and as whom. The prefix or the header decides alone that a credential is a key (T14), and
// there is exactly one (T9).
func TestAPIKeys(t *testing.T) {
	full, old, expired, bound, stray := NewAPIKey(), NewAPIKey(), NewAPIKey(), NewAPIKey(), NewAPIKey()
	past := time.Now().Add(-time.Hour)
	keys := []APIKey{
		{Name: "ci", Hashes: hashes(full, old), Principal: "builds", Groups: []string{"ops"}, Scopes: []string{"read"}},
		{Name: "past", Hashes: hashes(expired), Principal: "past", Expiry: past},
		{Name: "bound", Hashes: hashes(bound), Principal: "bound", Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
	}
	var reason string
	var log bytes.Buffer
	g := keyGuard(t, keys, func(o *Options) {
		o.OnReject = func(_ *http.Request, why string, _ int) { reason = why }
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	jwt := "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.c2ln"
	for _, tt := range []struct {
		name   string
		header http.Header
		query  string
		from   string
		status int
		reason string // of the rejection; "" if it is let in
	}{
		{"nothing", nil, "", "10.0.0.1", 401, "no token"},
		{"a key as a bearer token", http.Header{"Authorization": {"Bearer " + full}}, "", "10.0.0.1", 200, ""},
		{"in lower case", http.Header{"Authorization": {"bearer " + full}}, "", "10.0.0.1", 200, ""},
		{"in its header", http.Header{"X-Api-Key": {full}}, "", "10.0.0.1", 200, ""},
		{"the one before, in a rotation", http.Header{"X-Api-Key": {old}}, "", "10.0.0.1", 200, ""},
		{"from an allowed address", http.Header{"X-Api-Key": {bound}}, "", "10.255.0.1", 200, ""},
		{"from another address", http.Header{"X-Api-Key": {bound}}, "", "192.0.2.1", 401, "API key from another address"},
		{"from an unknown address", http.Header{"X-Api-Key": {bound}}, "", "@", 401, "API key from another address"},
		{"expired", http.Header{"X-Api-Key": {expired}}, "", "10.0.0.1", 401, "API key expired"},
		{"unknown", http.Header{"X-Api-Key": {stray}}, "", "10.0.0.1", 401, "unknown API key"},
		{"cut", http.Header{"X-Api-Key": {full[:40]}}, "", "10.0.0.1", 401, "malformed API key"},
		{"in upper case", http.Header{"X-Api-Key": {APIKeyPrefix + strings.ToUpper(full[4:])}}, "", "10.0.0.1", 401, "malformed API key"},
		{"its hash", http.Header{"X-Api-Key": {"sha256"}}, "", "10.0.0.1", 401, "not an API key"},
		{"a JWT in the header of keys", http.Header{"X-Api-Key": {jwt}}, "", "10.0.0.1", 401, "not an API key"},
		{"a broken JWT", http.Header{"Authorization": {"Bearer " + jwt}}, "", "10.0.0.1", 401, "unknown issuer"},
		{"a key in a JWT", http.Header{"Authorization": {"Bearer " + jwt + "." + full}}, "", "10.0.0.1", 401, "not a JWT"},
		{"a key with another scheme", http.Header{"Authorization": {"Basic " + full}}, "", "10.0.0.1", 401, "no token"},
		{"two keys", http.Header{"X-Api-Key": {full, full}}, "", "10.0.0.1", 400, "not exactly one token"},
		{"two joined keys", http.Header{"X-Api-Key": {full + ", " + full}}, "", "10.0.0.1", 400, "not exactly one token"},
		{"an empty key", http.Header{"X-Api-Key": {""}}, "", "10.0.0.1", 400, "not exactly one token"},
		{"a key in both headers", http.Header{"X-Api-Key": {full}, "Authorization": {"Bearer " + full}}, "", "10.0.0.1", 400, "not exactly one token"},
		{"a key and a token", http.Header{"X-Api-Key": {full}, "Authorization": {"Bearer " + jwt}}, "", "10.0.0.1", 400, "not exactly one token"},
		{"a key in the query", nil, "api_key=" + full, "10.0.0.1", 400, "not exactly one token"},
		{"an escaped key in the query", http.Header{"X-Api-Key": {full}}, "x=%64bk_" + full[4:], "10.0.0.1", 400, "not exactly one token"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/mcp?"+tt.query, nil)
			r.Header, r.RemoteAddr = tt.header, tt.from
			if r.Header == nil {
				r.Header = http.Header{}
			}
			w := httptest.NewRecorder()
			reason = ""
			log.Reset()
			g.Protect(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				p := FromContext(r.Context())
				if p == nil || p.Credential != CredentialAPIKey || p.Issuer != "" || p.ID() != "key|"+p.Subject {
					t.Errorf("let in as %+v", p)
				}
				if _, ok := SubjectToken(r.Context()); ok {
					t.Error("the key may be exchanged")
				}
			})).ServeHTTP(w, r)
			if w.Code != tt.status || reason != tt.reason {
				t.Errorf("%d %q, want %d %q: %s", w.Code, reason, tt.status, tt.reason, w.Body)
			}
			// The operator has to know which key to renew.
			named := map[string]string{"API key expired": "key=past", "API key from another address": "key=bound"}[reason]
			if line := log.String(); strings.Contains(line, "key=") != (named != "") || !strings.Contains(line, named) || strings.Contains(line, APIKeyPrefix) {
				t.Errorf("log: %q, want %q", line, named)
			}
			if text := w.Body.String() + strings.Join(w.Header()["Www-Authenticate"], ""); strings.Contains(text, full[8:20]) || strings.Contains(text, "resource_metadata") {
				t.Errorf("the response has the key, or metadata that does not exist: %s", text)
			}
		})
	}
}

// TestAPIKeysLimitBadTokens: a wrong key is charged like a wrong token, and a good one costs nothing.
func TestAPIKeysLimitBadTokens(t *testing.T) {
	key, rejected := NewAPIKey(), 0
	g := keyGuard(t, []APIKey{{Name: "ci", Principal: "ci", Hashes: hashes(key)}}, func(o *Options) {
		o.BadTokens = &BadTokens{Burst: 3, Interval: time.Hour, Address: o.ClientAddress, OnReject: func(*http.Request) { rejected++ }}
	})
	send := func(key string) int {
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		r.RemoteAddr = "192.0.2.1"
		r.Header.Set(APIKeyHeader, key)
		w := httptest.NewRecorder()
		g.Protect(http.NotFoundHandler()).ServeHTTP(w, r)
		return w.Code
	}
	var codes []int
	for range 5 {
		codes = append(codes, send(NewAPIKey()), send(key))
	}
	if want := []int{401, 404, 401, 404, 401, 404, 429, 404, 429, 404}; !slices.Equal(codes, want) || rejected != 2 {
		t.Errorf("%v, %d rejected, want %v and 2", codes, rejected, want)
	}
}

// TestAPIKeyConditions: a condition sees the principal of a key, and fails closed on claims, even for their absence.
func TestAPIKeyConditions(t *testing.T) {
	key := NewAPIKey()
	g := keyGuard(t, []APIKey{{Name: "ci", Principal: "builds", Groups: []string{"ops"}, Scopes: []string{"read"}, Hashes: hashes(key)}}, nil)
	p := g.Explain(t.Context(), key).Principal
	for expr, want := range map[string]bool{
		`principal.subject == "builds" && principal.client_id == "ci" && principal.issuer == ""`: true,
		`"ops" in principal.groups`:                           true,
		`"dev" in principal.groups`:                           false,
		`claims.tenant == "a"`:                                false,
		`claims.tenant != "a"`:                                false,
		`!has(claims.blocked)`:                                false,
		`!("blocked" in claims)`:                              false,
		`claims.size() == 0`:                                  false,
		`claims == {}`:                                        false,
		`"ops" in principal.groups || "ops" in claims.groups`: true,
		`"ops" in claims.groups || "ops" in principal.groups`: true,
		`"dev" in claims.groups || "dev" in principal.groups`: false,
	} {
		c, err := NewCondition(expr)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := c.Allows(t.Context(), p, ConditionTool{}, json.RawMessage(`{}`)); got != want {
			t.Errorf("%s = %v", expr, got)
		}
	}
}

// TestAPIKeyElsewhere: a key is recognized in headers for services (T1), examined, has no metadata, and is known to no other guard.
func TestAPIKeyElsewhere(t *testing.T) {
	key, expired := NewAPIKey(), NewAPIKey()
	g := keyGuard(t, []APIKey{{Name: "ci", Principal: "ci", Hashes: hashes(key), Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
		{Name: "past", Principal: "past", Hashes: hashes(expired), Expiry: time.Now().Add(-time.Hour)}}, nil)
	if !g.IsAccessToken(t.Context(), key) || !g.IsAccessToken(t.Context(), expired) || g.IsAccessToken(t.Context(), NewAPIKey()) {
		t.Error("the keys of the gateway are not recognized, or others are")
	}
	if g.HasMetadata() || !g.Able() {
		t.Error("there is metadata, or the guard waits for issuers that it has not")
	}
	if e := g.Explain(t.Context(), "Bearer "+key); !e.Accepted || !e.APIKey || e.Client != "ci" || len(e.Addresses) != 1 {
		t.Errorf("%+v", e)
	}
	for text, advice := range map[string]string{expired: "it expired 1h0m0s ago", NewAPIKey(): "none of auth.keys", key[:30]: "missing or wrong"} {
		if e := g.Explain(t.Context(), text); e.Accepted || !strings.Contains(e.Advice, advice) {
			t.Errorf("%+v, want the advice %q", e, advice)
		}
	}
	header, body := g.Forbidden(g.Explain(t.Context(), key).Principal, []string{"pay"})
	if challenge := header.Get("WWW-Authenticate"); strings.Contains(challenge, "resource_metadata") || !strings.Contains(challenge, `scope="pay"`) || !strings.Contains(string(body), "the API key lacks a scope") {
		t.Errorf("%s %s", challenge, body)
	}
}

// TestAPIKeyCollision: no two keys have one hash, since nothing would tell whose it is; hashes that stand for missing secrets do.
func TestAPIKeyCollision(t *testing.T) {
	key := NewAPIKey()
	o := Options{Resource: "https://mcp.example.com/mcp", AllowUnscoped: true, Client: &http.Client{Transport: http.DefaultTransport},
		APIKeys: []APIKey{{Name: "a", Hashes: hashes(key)}, {Name: "b", Hashes: hashes(key)}}}
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), `key "b" has the hash of key "a"`) {
		t.Error(err)
	}
	o.APIKeys = []APIKey{{Name: "a", Hashes: make([][32]byte, 1)}, {Name: "b", Hashes: make([][32]byte, 1)}}
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.acceptedKey(credential{token: NewAPIKey(), apiKey: true}, time.Now()); err == nil {
		t.Error("a key is accepted")
	}
}

// FuzzAPIKey: only a key itself is accepted, and nothing else panics.
func FuzzAPIKey(f *testing.F) {
	key := NewAPIKey()
	g := keyGuard(f, []APIKey{{Name: "ci", Principal: "ci", Hashes: hashes(key)}}, nil)
	f.Add(key, "")
	f.Add(key[:20], key)
	f.Add("dbk_", "a=dbk_")
	f.Fuzz(func(t *testing.T, header, query string) {
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		r.URL.RawQuery = query
		r.Header["X-Api-Key"] = []string{header}
		c, _ := g.credential(r)
		if c.token == "" {
			return
		}
		p, err := g.authenticate(t.Context(), c)
		var rejected *rejection
		if (err == nil) != (header == key) || (p == nil) != (err != nil) || err != nil && !errors.As(err, &rejected) {
			t.Errorf("%q: %v, %v", header, p, err)
		}
	})
}

// BenchmarkAPIKey is the time that a key costs a request.
func BenchmarkAPIKey(b *testing.B) {
	key := NewAPIKey()
	var keys []APIKey
	for range 999 {
		keys = append(keys, APIKey{Name: "other", Principal: "other", Hashes: hashes(NewAPIKey())})
	}
	g := keyGuard(b, append(keys, APIKey{Name: "ci", Principal: "ci", Hashes: hashes(key), Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}), nil)
	h := g.Protect(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	r.RemoteAddr = "10.0.0.1"
	r.Header.Set(APIKeyHeader, key)
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(nil, r)
	}
}
