package auth

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"cel.dev/cel-go/interpreter"
)

// TestURLs: what is no URL of the kind that is wanted is refused, whatever part of it is missing.
func TestURLs(t *testing.T) {
	transport := &http.Client{Transport: &http.Transport{}}
	for s, want := range map[string]bool{
		"https://h/p": true, "https:///p": false, "https://[::1": false, "ftp://h": false, "h/p": false, "https://u@h": false, "https://h/?q": false, "https://h/#f": false,
	} {
		if _, err := parseResource(s); (err == nil) != want {
			t.Errorf("resource %s: %v", s, err)
		}
		if _, err := newIssuer(Issuer{URL: s}, transport, &fetchGroup{}, time.Now, slog.New(slog.DiscardHandler)); (err == nil) != want {
			t.Errorf("issuer %s: %v", s, err)
		}
		if s == "https://h/?q" {
			continue // an endpoint may have one
		}
		c := Issuer{URL: "https://h", Tokens: Opaque, Introspection: &Introspection{Endpoint: s}}
		a, err := newIntrospector(c, transport, time.Now)
		if (err == nil) != want {
			t.Errorf("endpoint %s: %v", s, err)
		}
		if a == nil || !a.fixed {
			t.Errorf("endpoint %s is not that of the configuration", s)
		}
	}
	first := &http.Request{URL: &url.URL{Scheme: "https", Host: "h"}}
	for n, want := range map[int]bool{1: true, fetchRedirects: true, fetchRedirects + 1: false} {
		if err := sameOrigin(first, slices.Repeat([]*http.Request{first}, n)); (err == nil) != want {
			t.Errorf("redirect %d: %v", n, err)
		}
	}
}

// TestBounds holds the first and the last value that is taken.
func TestBounds(t *testing.T) {
	transport := &http.Client{Transport: &http.Transport{}}
	for n, want := range map[int]bool{-1: false, 1: true, maxRate: true, maxRate + 1: false} {
		a, err := newIntrospector(Issuer{URL: "https://h", Tokens: Opaque, Introspection: &Introspection{Rate: n}}, transport, time.Now)
		if (err == nil) != want {
			t.Errorf("rate %d: %v", n, err)
		}
		if each := max(1, n/20); want && a.addressLimit.rate != (rate{size: 5 * each, refill: time.Second / time.Duration(each)}) {
			t.Errorf("rate %d: %+v for an address", n, a.addressLimit.rate)
		}
	}
	if i, err := newIssuer(Issuer{URL: "https://h", Skew: maxSkew, Algorithms: []string{"ES256", "RS256"}}, transport, &fetchGroup{}, time.Now, nil); err != nil || fmt.Sprint(i.algorithms) != "[ES256 RS256]" {
		t.Errorf("%v, %v", i, err)
	}
	body := &limitedBody{ReadCloser: io.NopCloser(strings.NewReader("12345")), limit: 5, left: 5}
	if text, err := io.ReadAll(body); err != nil || string(text) != "12345" {
		t.Errorf("%q, %v", text, err)
	}
	body = &limitedBody{ReadCloser: io.NopCloser(strings.NewReader("12345")), limit: 4, left: 4}
	if _, err := io.ReadAll(body); err == nil || err.Error() != "answer of more than 4 bytes" {
		t.Error(err)
	}
	if s := shorten(strings.Repeat("a", 300)); len(s) != 300 {
		t.Errorf("an error of 300 bytes has %d", len(s))
	}
	for value, want := range map[string]bool{"0": true, "253402300799": true, "253402300800": false, "-1": false, `"1"`: false} {
		if _, ok := numericDate([]byte(value)); ok != want {
			t.Errorf("%s is a date: %t", value, ok)
		}
	}
	for s, want := range map[string]bool{"": false, "0": true, "01": false, "1a": false, "12": true} {
		if isDigits(s) != want {
			t.Errorf("%q are digits: %t", s, !want)
		}
	}
	for s, want := range map[string]bool{"~": true, "!": true, "a\x7f": false, "": false, "a b": false} {
		if IsScope(s) != want {
			t.Errorf("%q is a scope: %t", s, !want)
		}
	}
	for name, want := range map[string]bool{"a b": false, "EXP": true, " exp": true, "exp\x1f": true, "ex\x7f": true, "expo": false} {
		if isConfusable([]byte(name), "exp") != want {
			t.Errorf("%q looks like exp: %t", name, !want)
		}
	}
	for query, want := range map[string]bool{"a=b": false, "a=%41": false, "%61ccess_token=x": true, "access_token": true, "%zz": true} {
		if queryHasToken(query) != want {
			t.Errorf("%s has a token: %t", query, !want)
		}
	}
	for token, want := range map[string]bool{`{"`: true, ` { "a`: true, `{a`: false, `"a`: false, `[`: false} {
		if encoded := base64.RawURLEncoding.EncodeToString([]byte(token)); isJOSE(encoded+".b.c") != want {
			t.Errorf("%s begins a JOSE object: %t", token, !want)
		}
	}
	for a, want := range map[string]string{"urn:///X": "urn:///X", "HTTPS://H/X": "https://h/X", "HTTPS://H?X": "https://h?X", "URN:X": "URN:X"} {
		if got := canonicalAudience(a); got != want {
			t.Errorf("%s is %s", a, got)
		}
	}
	for a, want := range map[string]string{"::ffff:192.0.2.1": "192.0.2.1", "192.0.2.1": "192.0.2.1", "fe80::1:2:3:4:5%eth0": "fe80::1:2:3:4:5", "2001:db8::1": "2001:db8::"} {
		if a == "fe80::1:2:3:4:5%eth0" {
			want = "fe80::"
			a = "fe80::2:3:4:5%eth0"
		}
		if got := addressBlock(netip.MustParseAddr(a)).String(); got != want {
			t.Errorf("%s is in %s, want %s", a, got, want)
		}
	}
	var addresses addressBuckets
	addresses.rate = rate{size: 1, refill: time.Second}
	for n := range maxAddresses + 10 {
		addresses.take(netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}), time.Unix(int64(n), 0))
	}
	if n := len(addresses.buckets); n != maxAddresses {
		t.Errorf("%d addresses are remembered", n)
	}
	if a, b := sizeOf(100, true), sizeOf(100, false); a != 712 || b != 562 {
		t.Errorf("a token with 100 bytes of claims takes %d with them, %d without", a, b)
	}
}

// TestCacheGivesUp: a full shard gives up an expired token, if it meets one, and one that is larger than a shard stands alone.
func TestCacheGivesUp(t *testing.T) {
	now := time.Unix(1_000, 0)
	for range 30 {
		var c tokenCache
		var sum [32]byte
		for n := range 8 {
			sum[1] = byte(n)
			v := &verified{size: shardBytes / 8, until: now.UnixNano() + 1}
			if n == 3 {
				v.until = now.UnixNano()
			}
			c.put(sum, v, now)
		}
		if n := len(c.shards[0].tokens); n != 8 {
			t.Fatalf("%d of eight that fit are there", n)
		}
		sum[1] = 8
		c.put(sum, &verified{size: shardBytes / 8, until: now.UnixNano() + 1}, now)
		sum[1] = 3
		if c.shards[0].tokens[sum] != nil || len(c.shards[0].tokens) != 8 {
			t.Fatal("the expired one is not the one that was given up")
		}
		sum[1] = 9
		c.put(sum, &verified{size: shardBytes + 1}, now)
		if s := &c.shards[0]; len(s.tokens) != 1 || s.size != shardBytes+1 {
			t.Fatalf("%d tokens beside a large one, %d bytes", len(s.tokens), s.size)
		}
	}
	var c introspectionCache
	var key [32]byte
	for n := range 8 {
		key[1] = byte(n)
		c.put(key, introspectionResult{verified: &verified{size: shardBytes / 8}, until: now.UnixNano() + 1}, now)
	}
	if s := &c.shards[0]; len(s.entries) != 8 {
		t.Errorf("%d of eight verdicts that fit are there", len(s.entries))
	}
	if v := c.get(key, now.Add(1)); v.verified != nil || len(c.shards[0].entries) != 7 {
		t.Errorf("an expired verdict is kept: %d", len(c.shards[0].entries))
	}
	key[1] = 9
	c.put(key, introspectionResult{verified: &verified{size: shardBytes + 1}, until: now.UnixNano() + 1}, now)
	if s := &c.shards[0]; len(s.entries) != 1 {
		t.Errorf("%d verdicts beside a large one", len(s.entries))
	}
}

// TestAnswersOfGuard holds the headers of what a guard answers itself.
func TestAnswersOfGuard(t *testing.T) {
	c := newChallenges("access token", "m", nil, nil)
	if c.tail != `resource_metadata="m"` {
		t.Errorf("without scopes: %s", c.tail)
	}
	for o, retry := range map[outcome]string{tooMany: "2", manyProofs: "2", unavailable: "2", badToken: ""} {
		w := httptest.NewRecorder()
		c.write(w, o, false, 1500*time.Millisecond)
		if h := w.Header(); h.Get("Retry-After") != retry || h.Get("Content-Type") != "application/json" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%v: %v", o, h)
		}
	}
	metadata := (&Guard{metadata: []byte("{}")}).Metadata()
	for method, want := range map[string]string{
		"GET":     `200 {} map[Access-Control-Allow-Origin:[*] Cache-Control:[public, max-age=60] Content-Length:[2] Content-Type:[application/json]]`,
		"HEAD":    `200  map[Access-Control-Allow-Origin:[*] Cache-Control:[public, max-age=60] Content-Length:[2] Content-Type:[application/json]]`,
		"OPTIONS": `204  map[Access-Control-Allow-Headers:[MCP-Protocol-Version] Access-Control-Allow-Methods:[GET, HEAD] Access-Control-Allow-Origin:[*] Access-Control-Max-Age:[86400]]`,
		"POST":    `405  map[Access-Control-Allow-Origin:[*] Allow:[GET, HEAD, OPTIONS]]`,
	} {
		w := httptest.NewRecorder()
		metadata.ServeHTTP(w, httptest.NewRequest(method, "/", nil))
		if got := fmt.Sprint(w.Code, " ", w.Body, " ", w.Header()); got != want {
			t.Errorf("%s: %s, want %s", method, got, want)
		}
	}
	// The scopes of a challenge may have 4 KiB, those that are needed among them.
	a, b := strings.Repeat("a", 2000), strings.Repeat("b", 2089)
	h, _ := (&Guard{}).ForbiddenAll(&Principal{Scopes: []string{a, b, "c"}}, [][]string{{"need"}})
	if got := h.Get("Www-Authenticate"); !strings.Contains(got, `scope="`+a+" "+b+` need"`) {
		t.Errorf("the challenge has %d bytes", len(got))
	}
	for err, want := range map[error]bool{
		&rejection{outcome: unavailable}: true, &rejection{outcome: badToken}: false, context.Canceled: true,
	} {
		if isUnavailable(err) != want {
			t.Errorf("%v: nobody knows whether the token is good: %t", err, !want)
		}
	}
}

// TestConditionBounds holds the last size that a condition takes, and what is said of the next.
func TestConditionBounds(t *testing.T) {
	object := func(n int) []byte { // of n values, itself among them
		var b strings.Builder
		for i := range n - 1 {
			fmt.Fprintf(&b, `,"%d":0`, i)
		}
		return []byte("{" + b.String()[1:] + "}")
	}
	if newClaimSet(object(maxConditionNodes)).decode() == nil || newClaimSet(object(maxConditionNodes+1)).decode() != nil || newClaimSet([]byte(`[]`)).decode() != nil {
		t.Error("claims have another bound")
	}
	live, cancel := context.WithCancel(t.Context())
	if v, err := decodeArguments(live, object(maxConditionNodes)); err != nil || v.(map[string]any)[fmt.Sprint(maxConditionNodes-2)] != int64(0) {
		t.Error(err)
	}
	for _, many := range [][]byte{object(maxConditionNodes + 1), []byte("[0" + strings.Repeat(",0", maxConditionNodes-1) + "]")} {
		if _, err := decodeArguments(live, many); fmt.Sprint(err) != "condition: the arguments are too many" {
			t.Error(err)
		}
	}
	cancel()
	if _, err := decodeArguments(live, object(maxConditionNodes)); fmt.Sprint(err) != "condition: it takes too long" {
		t.Error(err)
	}
	if n, ok := number("9007199254740992.0").(float64); !ok || n != 1<<53 {
		t.Errorf("%v", number("9007199254740992.0"))
	}
	if n, ok := number("5.0").(int64); !ok || n != 5 {
		t.Errorf("%v", number("5.0"))
	}
	if _, err := NewCondition("true" + strings.Repeat(" ", maxCondition-4)); err != nil {
		t.Error(err)
	}
	if _, err := NewCondition("true" + strings.Repeat(" ", maxCondition-3)); fmt.Sprint(err) != "condition has more than 4096 bytes" {
		t.Error(err)
	}
	for _, text := range []string{"1.5 < 2", "size(claims) == 0"} {
		c, err := NewCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := c.Allows(t.Context(), &Principal{}, ConditionTool{}, nil); !ok || err != nil {
			t.Errorf("%s: %t, %v", text, ok, err)
		}
	}
	if firstLine("a\nb") != "a" {
		t.Error("more than the first line")
	}
	for cause, want := range map[interpreter.CancellationCause]string{interpreter.CostLimitExceeded: "it costs too much", interpreter.ContextCancelled: "it takes too long"} {
		if got := conditionReason(interpreter.EvalCancelledError{Cause: cause}); got != want {
			t.Errorf("%v: %s", cause, got)
		}
	}
}

// TestKeysThatAreLeftOut: what can't be used does not stand in a key set, and a set that says something twice is none.
func TestKeysThatAreLeftOut(t *testing.T) {
	rsa := func(bits uint, more string) string {
		n := new(big.Int).SetBit(big.NewInt(1), int(bits-1), 1)
		return `{"kty":"RSA","e":"AQAB"` + more + `,"n":"` + base64.RawURLEncoding.EncodeToString(n.Bytes()) + `"}`
	}
	for keys, want := range map[string]int{
		rsa(2048, ""): 1, rsa(4096, ""): 1, rsa(2047, ""): 0, rsa(4097, ""): 0, rsa(2048, `,"use":"enc"`): 0, rsa(2048, `,"use":"sig"`): 1, rsa(2048, `,"key_ops":["sign"]`): 0,
		`{"kty":"oct","k":"AAAA"}`: 0, `5`: 0, rsa(2048, "") + "," + rsa(3072, ""): 2,
	} {
		set, err := parseKeySet([]byte(`{"keys":[` + keys + `]}`))
		if err != nil || len(set.keys) != want {
			t.Errorf("%.40s: %v, %v", keys, set, err)
		}
	}
	if _, err := parseKeySet([]byte(`{"keys":[],"keys":[]}`)); err == nil {
		t.Error("two lists of keys are taken")
	}
	i := &issuer{url: "u"}
	if _, err := i.parseServerMetadata([]byte(`{"issuer":"x","issuer":"u"}`)); err == nil {
		t.Error("metadata that names two issuers is taken")
	}
	var f proof
	for n, want := range map[int]bool{maxProofID: true, maxProofID + 1: false} {
		if err := f.parse([]byte(`{"jti":"` + strings.Repeat("j", n) + `"}`)); (err == nil) != want {
			t.Errorf("a jti of %d bytes: %v", n, err)
		}
	}
}

// TestIssuerLearns: what the metadata of an issuer of opaque tokens says is known at once, and from when it is.
func TestIssuerLearns(t *testing.T) {
	at := time.Unix(1_000, 0)
	i := &issuer{url: "https://h", introspector: &introspector{}, now: func() time.Time { return at }}
	if s := i.status(); s.Keys != 0 || !s.Fetched.IsZero() || s.Fixed {
		t.Errorf("at first: %+v", s)
	}
	if err := i.setIntrospectionEndpoint(serverMetadata{introspection: "https://h/ask"}, at); err != nil {
		t.Fatal(err)
	}
	if s := i.status(); !s.Fetched.Equal(at) || !i.discovered.Equal(at) || i.introspector.endpoint.Load().url != "https://h/ask" {
		t.Errorf("then: %+v, %v", s, i.discovered)
	}
	i.keys.Store(&keySet{keys: make([]key, 2)})
	if i.status().Keys != 2 || i.currentKeys(at.Add(staleAfter)) == nil || i.currentKeys(at.Add(staleAfter+1)) != nil {
		t.Errorf("with keys: %+v", i.status())
	}
}

// TestLongLife: one warning of tokens that live longer than a day, if nothing bounds that.
func TestLongLife(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for _, c := range []struct {
		issuer *issuer
		claims claims
		warns  int
	}{
		{&issuer{}, claims{expiry: now.Add(longLife)}, 0},
		{&issuer{}, claims{expiry: now.Add(longLife + 1)}, 1},
		{&issuer{}, claims{expiry: now.Add(longLife), issuedAt: now.Add(-1)}, 1},
		{&issuer{}, claims{expiry: now.Add(longLife + 1), issuedAt: now.Add(1)}, 0},
		{&issuer{maxLifetime: 1}, claims{expiry: now.Add(2 * longLife)}, 0},
		{&issuer{introspector: &introspector{}}, claims{expiry: now.Add(2 * longLife)}, 0},
	} {
		var log strings.Builder
		i := c.issuer
		i.log = slog.New(slog.NewTextHandler(&log, nil))
		i.warnLongLived(t.Context(), c.claims, now)
		i.warnLongLived(t.Context(), c.claims, now)
		if n := strings.Count(log.String(), "are long-lived"); n != c.warns {
			t.Errorf("%v after %v: %d warnings", c.claims.expiry, c.claims.issuedAt, n)
		}
	}
}

// TestTokenInfoAnswers: an answer in the way of tokeninfo has to name audience, expiry and subject.
func TestTokenInfoAnswers(t *testing.T) {
	i := &issuer{url: "https://h", introspector: &introspector{config: Introspection{TokenInfo: true}}}
	for text, want := range map[string]string{
		`{"aud":"a","exp":"5","sub":"s"}`: "<nil>",
		`{"aud":"a","exp":"5"}`:           "no subject",
		`{"aud":"a","sub":"s"}`:           "not active",
		`{"exp":"5","sub":"s"}`:           "not active",
	} {
		if _, err := i.parseIntrospection([]byte(text)); fmt.Sprint(err) != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestPresetRules: who gives tokens names subject and client, but for the one that knows no client.
func TestPresetRules(t *testing.T) {
	for _, p := range presets() {
		if !p.issuer.RequireSubject || p.issuer.RequireClient != (p.name != "dex") {
			t.Errorf("%s: %+v", p.name, p.issuer)
		}
		if google := p.name == "google"; google != (p.issuer.Introspection != nil && p.issuer.Introspection.TokenInfo) {
			t.Errorf("%s: %+v", p.name, p.issuer.Introspection)
		}
	}
	own := &http.Client{}
	if (Issuer{}).WithDefaults(Issuer{Client: own}).Client != own {
		t.Error("the client of the defaults is lost")
	}
}
