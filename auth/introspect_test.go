package auth

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// opaqueHouse has an issuer with opaque tokens beside one with JWTs.
func opaqueHouse(t testing.TB, change func(*Options)) *house {
	t.Helper()
	h := newHouse(t, func(o *Options) {
		o.Issuers[0].Tokens = Opaque
		o.Issuers[0].Introspection = &Introspection{
			Endpoint: "http://localhost:7001/introspect",
			ClientID: "gateway", ClientSecret: func() (string, error) { return "s:cret/", nil },
		}
		if change != nil {
			change(o)
		}
	})
	h.a.answers = map[string]string{}
	return h
}

// activeAnswer is a good answer, changed by change (a nil value removes).
func (h *house) activeAnswer(now time.Time, change map[string]string) string {
	members := map[string]string{
		"active": "true", "sub": `"alice"`, "client_id": `"app"`, "aud": `"` + resource + `"`, "scope": `"mcp:tools"`,
		"iss": `"` + h.a.url + `"`, "exp": fmt.Sprint(now.Add(time.Hour).Unix()), "token_type": `"Bearer"`,
	}
	for name, value := range change {
		members[name] = value
	}
	var list []string
	for name, value := range members {
		if value != "" {
			list = append(list, fmt.Sprintf("%q:%s", name, value))
		}
	}
	return "{" + strings.Join(list, ",") + "}"
}

// TestIntrospection is T15: only the boolean true makes a token active, and what
// the answer says of it is checked as the claims of a JWT are.
func TestIntrospection(t *testing.T) {
	h := opaqueHouse(t, nil)
	now := h.now.Unix()
	for n, c := range []struct {
		name   string
		change map[string]string
		want   string // "": accepted; else the reason
	}{
		{"good", nil, ""},
		{"active absent", map[string]string{"active": ""}, "not active"},
		{"active null", map[string]string{"active": "null"}, "not active"},
		{"active a string", map[string]string{"active": `"true"`}, "not active"},
		{"active 1", map[string]string{"active": "1"}, "not active"},
		{"active a list", map[string]string{"active": "[true]"}, "not active"},
		{"active false", map[string]string{"active": "false"}, "not active"},
		{"active in upper case", map[string]string{"active": "", "Active": "true"}, "malformed answer"},
		{"audience absent", map[string]string{"aud": ""}, "audience"},
		{"audience of another service", map[string]string{"aud": `["https://other.example"]`}, "audience"},
		{"audience among others", map[string]string{"aud": `["x","` + resource + `"]`}, ""},
		{"issuer absent", map[string]string{"iss": ""}, ""},
		{"issuer another", map[string]string{"iss": `"` + h.b.url + `"`}, "active, but of another issuer"},
		{"expiry absent", map[string]string{"exp": ""}, "no expiry"},
		{"expired", map[string]string{"exp": fmt.Sprint(now - 60)}, "expired"},
		{"expiry a string", map[string]string{"exp": fmt.Sprintf("%q", fmt.Sprint(now+60))}, ""},
		{"expiry a string with a fraction", map[string]string{"exp": fmt.Sprintf("%q", fmt.Sprint(now+60)+".5")}, ""},
		{"expired, as a string", map[string]string{"exp": fmt.Sprintf("%q", fmt.Sprint(now-60))}, "expired"},
		{"expiry a string that is no number", map[string]string{"exp": `"tomorrow"`}, "malformed claim"},
		{"expiry an empty string", map[string]string{"exp": `""`}, "malformed claim"},
		{"expiry a string with an exponent", map[string]string{"exp": `"9e9"`}, "malformed claim"},
		{"expiry a string with a sign", map[string]string{"exp": `"+9999999999"`}, "malformed claim"},
		{"not yet valid, as a string", map[string]string{"nbf": fmt.Sprintf("%q", fmt.Sprint(now+61))}, "not valid yet"},
		{"issued in the future, as a string", map[string]string{"iat": fmt.Sprintf("%q", fmt.Sprint(now+61))}, "issued in the future"},
		{"not yet valid", map[string]string{"nbf": fmt.Sprint(now + 61)}, "not valid yet"},
		{"issued in the future", map[string]string{"iat": fmt.Sprint(now + 61)}, "issued in the future"},
		{"token_type absent", map[string]string{"token_type": ""}, ""},
		{"token_type in lower case", map[string]string{"token_type": `"bearer"`}, ""},
		{"token_type BearerToken", map[string]string{"token_type": `"BearerToken"`}, ""},
		{"token_type with a space behind", map[string]string{"token_type": `"Bearer "`}, ""},
		{"token_type that begins like Bearer", map[string]string{"token_type": `"Bearer DPoP"`}, "token type not accepted"},
		{"token_type refresh", map[string]string{"token_type": `"refresh_token"`}, "token type not accepted"},
		{"token_type DPoP without a key", map[string]string{"token_type": `"DPoP"`}, "bound to a key that is not named"},
		{"token_type a number", map[string]string{"token_type": "1"}, "malformed answer"},
		{"token_use access_token", map[string]string{"token_use": `"access_token"`}, ""},
		{"token_use refresh_token", map[string]string{"token_use": `"refresh_token"`}, "not an access token"},
		{"typ of a Keycloak ID token", map[string]string{"typ": `"ID"`}, "not an access token"},
		{"bound to a key", map[string]string{"cnf": `{"jkt":"x"}`}, "bound to a key that was not proven"},
		{"nobody", map[string]string{"sub": "", "client_id": ""}, "neither subject nor client"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.log.Reset()
			token := fmt.Sprintf("opaque-%d", n)
			h.a.change(func() { h.a.answers[token] = h.activeAnswer(h.now, c.change) })
			h.wantReason(t, token, c.want)
			h.wantReason(t, token, c.want) // the same from the cache
		})
	}
	for n, answer := range []string{"<html>", `[{"active":true}]`, `{"active":false,"active":true}`, ""} {
		token := fmt.Sprintf("malformed-%d", n)
		h.a.change(func() { h.a.answers[token] = answer })
		h.wantReason(t, token, "not a JSON object with unique members")
	}
}

// wantReason sends the token and compares what the log says of it.
func (h *house) wantReason(t *testing.T, token, want string) {
	t.Helper()
	h.log.Reset()
	w := h.call(token)
	if got := h.reason(w); got != want {
		t.Errorf("got %q (status %d), want %q", got, w.Code, want)
	}
	if want != "" && w.Code != http.StatusUnauthorized {
		t.Errorf("status %d", w.Code)
	}
	if len(token) >= 12 && strings.Contains(h.log.String(), token[:12]) {
		t.Errorf("part of the token came out: %s", h.log)
	}
}

func (h *house) reason(w *httptest.ResponseRecorder) string {
	if w.Code == http.StatusOK {
		return ""
	}
	_, rest, _ := strings.Cut(h.log.String(), "reason=")
	got, _, _ := strings.Cut(rest, " issuer=")
	return strings.Trim(got, `"`)
}

// TestIntrospectionQuestion shows what the issuer is asked, and how the gateway
// names itself.
func TestIntrospectionQuestion(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Introspection)
		want   string
	}{
		{"basic", func(*Introspection) {}, `POST "gateway" "s%3Acret%2F" token=opaque%2F%2B~&token_type_hint=access_token`},
		{"post", func(i *Introspection) { i.Method = ClientSecretPost },
			`POST "" "" client_id=gateway&client_secret=s%3Acret%2F&token=opaque%2F%2B~&token_type_hint=access_token`},
		{"none", func(i *Introspection) { i.ClientID, i.ClientSecret = "", nil }, `POST "" "" token=opaque%2F%2B~&token_type_hint=access_token`},
		{"metadata", func(i *Introspection) { i.Endpoint = "" }, `POST "gateway" "s%3Acret%2F" token=opaque%2F%2B~&token_type_hint=access_token`},
		{"tokeninfo", func(i *Introspection) { i.TokenInfo, i.ClientID, i.ClientSecret = true, "", nil }, `POST "" "" access_token=opaque%2F%2B~`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := opaqueHouse(t, func(o *Options) { c.change(o.Issuers[0].Introspection) })
			h.a.change(func() {
				h.a.oauth = true // RFC 8414, without OpenID Connect
				h.a.document = map[string]any{"introspection_endpoint": h.a.url + "/introspect"}
				h.a.answers["opaque/+~"] = h.activeAnswer(h.now, nil)
			})
			h.wantReason(t, "opaque/+~", "")
			if diff := cmp.Diff(c.want, h.a.question); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestIntrospectionOfAClosedConnection: a question over a connection that is closed meanwhile is asked again.
func TestIntrospectionOfAClosedConnection(t *testing.T) {
	h := opaqueHouse(t, nil)
	h.a.change(func() {
		h.a.answers["first"], h.a.answers["second"] = h.activeAnswer(h.now, nil), h.activeAnswer(h.now, nil)
	})
	h.wantReason(t, "first", "")
	h.a.drop.Store(true)
	h.wantReason(t, "second", "")
	if n := h.a.asked.Load(); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
}

// TestIntrospectionOutage is what an issuer that can't answer makes of a token:
// 503, since 401 would log its user out, and nothing is remembered (T16).
func TestIntrospectionOutage(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*house)
		want   string // of Status.Err
	}{
		{"status 500", func(h *house) { h.a.askCode = 500 }, "status 500"},
		{"status 401: the secret is wrong", func(h *house) { h.a.askCode = 401 }, "status 401"},
		{"status 400", func(h *house) { h.a.askCode = 400 }, "status 400"},
		{"redirect, which is not followed", func(h *house) { h.a.askCode = 302 }, "status 302"},
		{"answer too large", func(h *house) {
			h.a.answers["opaque"] = `{"active":true,"x":"` + strings.Repeat("x", introspectionBytes) + `"}`
		},
			"answer of more than 65536 bytes"},
		{"secret lost", func(h *house) {
			h.guard.opaqueIssuer.introspector.config.ClientSecret = func() (string, error) { return "", errors.New("read /secret/s3cr3t") }
		}, "the client secret can't be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := opaqueHouse(t, nil)
			good := h.activeAnswer(h.now, nil)
			h.a.answers["opaque"] = good
			secret := h.guard.opaqueIssuer.introspector.config.ClientSecret
			h.a.change(func() { c.change(h) })
			w := h.call("opaque")
			if got := fmt.Sprint(w.Code, " ", w.Header().Get("Retry-After"), w.Header().Get("WWW-Authenticate")); got != "503 5" {
				t.Errorf("got %s", got)
			}
			if err := h.guard.Status()[0].Err; fmt.Sprint(err) != c.want {
				t.Errorf("status %v, want %s", err, c.want)
			}
			if strings.Contains(h.log.String(), "s3cr3t") || strings.Contains(h.log.String(), "opaque ") {
				t.Errorf("log: %s", h.log)
			}
			h.wantReason(t, h.keyB.token(h.b.url, h.now, nil), "") // the other issuer
			h.a.change(func() { h.a.askCode = 0; h.a.answers["opaque"] = good })
			h.guard.opaqueIssuer.introspector.config.ClientSecret = secret
			h.wantReason(t, "opaque", "")
			if err := h.guard.Status()[0].Err; err != nil {
				t.Errorf("status after the outage: %v", err)
			}
		})
	}
}

// TestIntrospectionTime: an answer counts a minute or until the token expires,
// a refusal ten seconds, and an issuer that hangs is given two seconds.
func TestIntrospectionTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := opaqueHouse(t, func(o *Options) { o.Now = nil })
		ask := func(token string, wantCode int, wantAsked int64) {
			t.Helper()
			before := h.a.asked.Load()
			h.wantStatus(token, token, wantCode)
			if n := h.a.asked.Load() - before; n != wantAsked {
				t.Errorf("%s: asked %d times, want %d", token, n, wantAsked)
			}
		}
		h.a.answers["good"] = h.activeAnswer(time.Now(), nil)
		h.a.answers["brief"] = h.activeAnswer(time.Now(), map[string]string{"exp": fmt.Sprint(time.Now().Unix() + 20)})
		ask("good", 200, 1)
		ask("brief", 200, 1)
		ask("bad", 401, 1)
		time.Sleep(activeTTL - time.Second)
		ask("good", 200, 0)
		time.Sleep(time.Second)
		ask("good", 200, 1)
		ask("brief", 200, 1) // within the skew, but not remembered
		ask("brief", 200, 1)
		ask("bad", 401, 1)
		time.Sleep(inactiveTTL - time.Second)
		h.a.answers["bad"] = h.activeAnswer(time.Now(), nil)
		ask("bad", 401, 0)
		time.Sleep(time.Second)
		ask("bad", 200, 1)

		delete(h.a.answers, "good") // revoked
		time.Sleep(activeTTL)
		ask("good", 401, 1)

		h.a.change(func() { h.a.hang = true })
		start := time.Now()
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() { h.wantStatus("hanging", "slow", http.StatusServiceUnavailable) })
		}
		wg.Wait()
		if d := time.Since(start); d != fetchTime {
			t.Errorf("answered after %s, want %s", d, fetchTime)
		}
	})
}

// TestIntrospectionOneFlight: callers with the same token wait for one answer.
func TestIntrospectionOneFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := opaqueHouse(t, func(o *Options) { o.Now = nil })
		h.a.answers["good"] = h.activeAnswer(time.Now(), nil)
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() { h.wantStatus("waiting", "good", http.StatusOK) })
		}
		wg.Wait()
		if n := h.a.asked.Load(); n != 1 {
			t.Errorf("asked %d times, want once", n)
		}
	})
}

// TestIntrospectionFlood is the budget of T16: made-up tokens from one address
// cost the issuer few questions and nobody else anything; from everywhere, they
// cost what the rate allows.
func TestIntrospectionFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := opaqueHouse(t, func(o *Options) {
			o.Now = nil
			o.ClientAddress = func(r *http.Request) (netip.Addr, bool) {
				a, err := netip.ParseAddr(r.Header.Get("From"))
				return a, err == nil
			}
		})
		call := func(from, token string) int {
			r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
			r.Header.Set("From", from)
			r.Header.Set("Authorization", "Bearer "+token)
			return h.serve(r).Code
		}
		codes := map[int]int{}
		for n := range 200 { // one network, many hosts
			codes[call(fmt.Sprintf("2001:db8::%x", n), fmt.Sprintf("random-%d", n))]++
		}
		if diff := cmp.Diff(map[int]int{401: 25, 429: 175}, codes); diff != "" {
			t.Error(diff)
		}
		for n := range 100 { // good tokens of an office behind one address
			token := fmt.Sprintf("good-%d", n)
			h.a.answers[token] = h.activeAnswer(time.Now(), nil)
			if code := call("192.0.2.1", token); code != 200 {
				t.Fatalf("good token %d: %d", n, code)
			}
		}
		before := h.a.asked.Load()
		codes = map[int]int{}
		for n := range 1000 {
			codes[call(fmt.Sprintf("198.51.%d.%d", n/250, n%250), fmt.Sprintf("everywhere-%d", n))]++
		}
		if asked := h.a.asked.Load() - before; asked != 500-125 || codes[503] != 1000-(500-125) {
			t.Errorf("asked %d times, codes %v", asked, codes)
		}
		if code := call("192.0.2.1", "good-1"); code != 200 {
			t.Errorf("a known token in the flood: %d", code)
		}
		time.Sleep(time.Second)
		before = h.a.asked.Load()
		for n := range 1000 {
			call("", fmt.Sprintf("later-%d", n))
		}
		if asked := h.a.asked.Load() - before; asked != 100 {
			t.Errorf("a second later: asked %d times, want 100", asked)
		}
	})
}

// TestIntrospectionOutageCostsNobody: while the endpoint answers nothing that can be used, all callers of an address are told so, and have what they had when
// it is over. An answer that the token may have caused costs the address that sends it: else it could have others wait for their turn.
func TestIntrospectionOutageCostsNobody(t *testing.T) {
	for _, c := range []struct {
		status int
		want   map[int]int
		after  int
	}{
		{http.StatusInternalServerError, map[int]int{503: 100}, 200},
		{http.StatusUnauthorized, map[int]int{503: 100}, 200},
		{http.StatusBadRequest, map[int]int{503: 25, 429: 75}, 429},
		{http.StatusRequestEntityTooLarge, map[int]int{503: 25, 429: 75}, 429},
	} {
		address := func(*http.Request) (netip.Addr, bool) { return netip.MustParseAddr("192.0.2.1"), true }
		h := opaqueHouse(t, func(o *Options) {
			o.ClientAddress = address
			o.BadTokens = &BadTokens{Burst: 200, Interval: time.Hour, Address: address, OnReject: func(*http.Request) {}}
		})
		h.a.change(func() { h.a.askCode, h.a.answers["good"] = c.status, h.activeAnswer(h.now, nil) })
		got := map[int]int{}
		for n := range 100 {
			got[h.call(fmt.Sprint("opaque-", n)).Code]++
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("the endpoint answers %d (-want +got):\n%s", c.status, diff)
		}
		h.a.change(func() { h.a.askCode = 0 })
		if w := h.call("good"); w.Code != c.after {
			t.Errorf("after it has answered %d, a good token: %d", c.status, w.Code)
		}
	}
}

// TestTokenKinds is T14: the configuration alone says how a token is checked.
func TestTokenKinds(t *testing.T) {
	h := opaqueHouse(t, nil)
	for name, c := range map[string]struct {
		token, want string
		asked       int64
	}{
		"JWT of the issuer with JWTs":              {h.keyB.token(h.b.url, h.now, nil), "", 0},
		"broken JWT of it":                         {h.keyA.token(h.b.url, h.now, nil), "signature", 0},
		"JWT of nobody":                            {h.keyA.token("https://evil.example", h.now, nil), "unknown issuer", 0},
		"JWE":                                      {"eyJhbGciOiJkaXIifQ.b.c.d.e", "not a JWT", 0},
		"header of a JWT":                          {"eyJhbGciOiJub25lIn0.x.y", "not base64url", 0},
		"two dots, no JWT":                         {"v2.local.abc", "not active", 1},
		"opaque":                                   {"sk-x", "not active", 1},
		"opaque, JSON in one part":                 {"eyJhIjoxfQ", "not active", 1},
		"opaque, JSON in two parts":                {"eyJhIjoxfQ.x", "not active", 1},
		"JWT of the issuer with opaque tokens":     {h.keyA.token(h.a.url, h.now, nil), "not active", 1},
		"ID token of the issuer, if it has opaque": {h.keyA.token(h.a.url, h.now, map[string]any{"nonce": "n"}), "not an access token", 0},
	} {
		t.Run(name, func(t *testing.T) {
			before := h.a.asked.Load()
			h.wantReason(t, c.token, c.want)
			if n := h.a.asked.Load() - before; n != c.asked {
				t.Errorf("asked %d times, want %d", n, c.asked)
			}
		})
	}
	plain := newHouse(t, nil)
	plain.wantReason(t, "sk-x", "not a JWT")
}

// TestVerdictKey is T16: what one issuer, endpoint or client was told of a token
// does not count for another, and an unused verdict goes first.
func TestVerdictKey(t *testing.T) {
	keys := map[[32]byte]string{}
	for _, issuer := range []string{"https://a", "https://a/b"} {
		for _, location := range []string{"https://a/i", "https://b/i"} {
			for _, client := range []string{"x", "y", "", "i\x00x"} {
				a := &introspector{config: Introspection{ClientID: client}}
				a.setEndpoint(issuer, location)
				for _, token := range []string{"t", "xt"} {
					key := a.endpoint.Load().key(token)
					name := fmt.Sprintf("%q", []string{issuer, location, client, token})
					if other, ok := keys[key]; ok {
						t.Errorf("%s and %s have the same key", name, other)
					}
					keys[key] = name
				}
			}
		}
	}
	var v introspectionCache
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	until := now.Add(time.Minute).UnixNano()
	used := [32]byte{0: 16, 1: 1}
	v.put(used, introspectionResult{verified: &verified{}, until: until}, now)
	for n := range 5 * shardSize {
		v.put([32]byte{0: 0, 1: 2, 2: byte(n), 3: byte(n >> 8)}, introspectionResult{rejected: reject("x"), until: until}, now)
		if v.get(used, now).verified == nil {
			t.Fatalf("a verdict in use was given up after %d others", n)
		}
	}
	if n := len(v.shards[0].entries); n != shardSize || v.shards[0].order.Len() != n {
		t.Errorf("%d entries, want %d", n, shardSize)
	}
}

// TestOpaqueOptions reports what can't work.
func TestOpaqueOptions(t *testing.T) {
	_, err := New(Options{
		Resource: resource, Client: &http.Client{Transport: &http.Transport{}}, DefaultScopes: []string{"a"},
		Issuers: []Issuer{
			{URL: "https://a.example", Tokens: Opaque},
			{URL: "https://b.example", Introspection: &Introspection{}},
			{URL: "https://c.example", Tokens: Opaque, Introspection: &Introspection{Endpoint: "http://c.example/i", ClientID: "x", Rate: -1}},
			{URL: "https://d.example", Tokens: Opaque, Introspection: &Introspection{}},
			{URL: "https://e.example", Tokens: Opaque, Introspection: &Introspection{Endpoint: "https://e.example/i"}},
			{URL: "https://f.example", MaxLifetime: -1, ClientIDs: []string{""}, ScopeClaims: []string{"/"}, IDTokenClaims: []string{"sub"}},
			{URL: "https://g.example", Tokens: Opaque, Introspection: &Introspection{TokenInfo: true}},
		},
	})
	want := `auth: issuer "https://a.example": opaque tokens need introspection
auth: issuer "https://b.example": introspection is for opaque tokens
auth: issuer "https://c.example": introspection rate -1 is not between 1 and 10000
introspection needs both client id and secret, or neither
introspection endpoint "http://c.example/i": only https is fetched, and http on a loopback host
auth: issuers "https://d.example" and "https://e.example" both have opaque tokens: nothing tells whose a token is
auth: issuer "https://f.example": max lifetime -1ns is negative
empty client id
scope claim "/" is no name and no JSON Pointer
claim "sub" does not tell an ID token: nonce, at_hash, c_hash and s_hash do
auth: issuer "https://g.example": no metadata names a tokeninfo endpoint: configure it`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkIntrospectedCached is the cost of an opaque token that was asked about
// before.
func BenchmarkIntrospectedCached(b *testing.B) {
	h := opaqueHouse(b, nil)
	h.a.answers["opaque-token-of-some-length-0123456789"] = h.activeAnswer(h.now, nil)
	c := credential{token: "opaque-token-of-some-length-0123456789"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.guard.authenticate(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}
