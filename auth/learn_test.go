package auth

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// asked is an issuer that answers as it is told, and remembers when it was asked for what.
type asked struct {
	start  time.Time
	broken func(path string) bool
	log    []string
	accept map[string]bool
}

func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	a.log = append(a.log, fmt.Sprint(time.Since(a.start), " ", r.URL.Path))
	a.accept[r.Header.Get("Accept")] = true
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if a.broken(r.URL.Path) {
		return nil, errors.New("broken")
	}
	text := `{"keys":[]}`
	if strings.HasPrefix(r.URL.Path, "/.well-known/") {
		text = `{"issuer":"https://h","jwks_uri":"https://h/keys","introspection_endpoint":"https://h/ask"}`
	}
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(text)), Header: http.Header{"Content-Type": {"application/json"}}, Request: r}, nil
}

// TestWhenIssuersAreAsked: after failures soon and then less often, else every five minutes; where the keys are once an hour, and again
// once they are not where they were.
func TestWhenIssuersAreAsked(t *testing.T) {
	const metadata = " /.well-known/openid-configuration"
	synctest.Test(t, func(t *testing.T) {
		ask := func(c Issuer, last time.Duration, broken func(now time.Duration, path string) bool) (*asked, *issuer, string) {
			a := &asked{start: time.Now(), accept: map[string]bool{}}
			a.broken = func(path string) bool { return broken(time.Since(a.start), path) }
			var log bytes.Buffer
			i, err := newIssuer(c, &http.Client{Transport: a}, &fetchGroup{}, time.Now, slog.New(slog.NewTextHandler(&log, nil)))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { defer close(done); i.refreshLoop(ctx) }()
			time.Sleep(last)
			synctest.Wait()
			cancel()
			<-done
			return a, i, log.String()
		}
		jwt := Issuer{URL: "https://h"}
		a, _, log := ask(jwt, 10*time.Minute, func(now time.Duration, _ string) bool {
			return now < 4*time.Second || now == 5*time.Minute+7*time.Second
		})
		want := []string{
			"0s" + metadata, "1s" + metadata, "3s" + metadata, "7s" + metadata, "7s /keys",
			"5m7s /keys", "5m8s" + metadata, "5m8s /keys",
		}
		if !slices.Equal(a.log, want) || !a.accept["application/json, application/jwk-set+json"] {
			t.Errorf("%q, accepting %v", a.log, a.accept)
		}
		if n := strings.Count(log, "keys or metadata of issuer not fetched"); n != 4 {
			t.Errorf("%d warnings:\n%s", n, log)
		}
		a, _, _ = ask(jwt, time.Hour+6*time.Minute, func(time.Duration, string) bool { return false })
		n := 0
		for _, line := range a.log {
			if strings.HasSuffix(line, metadata) {
				n++
			}
		}
		if n != 2 || a.log[1] != "0s /keys" || a.log[len(a.log)-2] != "1h5m0s"+metadata {
			t.Errorf("metadata is fetched %d times: %q", n, a.log)
		}
		// Metadata that can't be had again does no harm as long as the keys are where they were.
		a, i, _ := ask(jwt, time.Hour+6*time.Minute, func(now time.Duration, path string) bool { return now > time.Hour && path != "/keys" })
		if i.status().Err != nil || a.log[len(a.log)-1] != "1h5m0s /keys" {
			t.Errorf("%v: %q", i.status().Err, a.log)
		}
		opaque := Issuer{URL: "https://h", Tokens: Opaque, Introspection: &Introspection{}}
		a, i, _ = ask(opaque, time.Hour+6*time.Minute, func(now time.Duration, _ string) bool { return now < time.Second })
		if want := []string{"0s" + metadata, "1s" + metadata, "1h5m1s" + metadata}; !slices.Equal(a.log, want) || i.status().Err != nil {
			t.Errorf("of opaque tokens: %q, %v", a.log, i.status().Err)
		}
	})
}

// TestBadTokensOfAddress: what an address has for bad tokens is spent by those alone.
func TestBadTokensOfAddress(t *testing.T) {
	refused := 0
	b := &badTokenLimit{
		BadTokens: BadTokens{
			Address: func(r *http.Request) (netip.Addr, bool) {
				a, err := netip.ParseAddr(r.RemoteAddr)
				return a, err == nil
			},
			OnReject: func(*http.Request) { refused++ },
		},
		buckets: addressBuckets{rate: rate{size: 2, refill: time.Second}},
	}
	now := time.Unix(1_000, 0)
	from := func(address string) *http.Request { return &http.Request{RemoteAddr: address} }
	for range 3 {
		good, err := b.charge(from("192.0.2.1"), now)
		if err != nil {
			t.Fatal(err)
		}
		good()
		if _, err := b.charge(from("nobody"), now); err != nil {
			t.Fatal(err)
		}
		if _, err := b.charge(nil, now); err != nil {
			t.Fatal(err)
		}
	}
	for n, want := range []string{"<nil>", "<nil>", "too many bad tokens from one address"} {
		if _, err := b.charge(from("192.0.2.1"), now); fmt.Sprint(err) != want {
			t.Errorf("bad token %d: %v", n, err)
		}
	}
	if refused != 1 {
		t.Errorf("%d were refused", refused)
	}
	for range 30 {
		var a addressBuckets
		a.rate = rate{size: 1, refill: time.Second}
		for n := range 8 {
			a.take(netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}), now.Add(time.Duration((n+3)%8)*time.Second))
		}
		a.evict()
		if len(a.buckets) != 7 || a.buckets[netip.AddrFrom4([4]byte{10, 0, 0, 5})] != nil {
			t.Fatal("not the one that was used least recently is forgotten")
		}
	}
	// A question that the guard has no room for is not on the address's account.
	g := &Guard{clientAddress: b.Address}
	asks := &introspector{rate: rate{size: 1, refill: time.Second}, addressLimit: addressBuckets{rate: rate{size: 5, refill: time.Hour}}}
	for n, want := range []string{"<nil>", "too many unknown tokens", "too many unknown tokens"} {
		if _, err := g.charge(asks, &issuer{}, credential{request: from("192.0.2.1")}, now); fmt.Sprint(err) != want {
			t.Errorf("question %d: %v", n, err)
		}
	}
	if used := asks.addressLimit.buckets[netip.MustParseAddr("192.0.2.1")].used; used != 1 {
		t.Errorf("%d questions are on its account", used)
	}
}

// TestSmallRules holds rules of one line each.
func TestSmallRules(t *testing.T) {
	g := &Guard{issuers: map[string]*issuer{}}
	for name := range strings.SplitSeq("fadbec", "") {
		g.issuers[name] = &issuer{url: name, now: time.Now}
	}
	names := ""
	for _, s := range g.Status() {
		names += s.Issuer
	}
	if names != "abcdef" {
		t.Errorf("the state of issuers is told in the order %s", names)
	}
	if _, ok := (&variables{principal: &Principal{}}).ResolveName("none"); ok {
		t.Error("a name that there is not has a value")
	}
	if _, err := newLongString([]byte("x")).ConvertToNative(reflect.TypeFor[string]()); err == nil {
		t.Error("a text that is too long has a value")
	}
	if _, err := (overflowNumber{}).ConvertToNative(reflect.TypeFor[float64]()); err == nil {
		t.Error("a number that is none has a value")
	}
	i := &issuer{url: "u"}
	for text, want := range map[string]string{
		`[]`: "read metadata: not an object", `{"issuer":"x"}`: `metadata of issuer "x"`, `{"issuer":"u","issuer":"x"}`: `read metadata: json: member name "issuer" stands twice at byte 14`,
		`{"issuer":"u"}`: "<nil>",
	} {
		if _, err := i.parseServerMetadata([]byte(text)); fmt.Sprint(err) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	if !isPrivate([]byte(`{"kty":"RSA","d":"x"}`)) || isPrivate([]byte(`{"kty":"RSA","n":"x"}`)) {
		t.Error("a private key is taken for a public one, or the other way round")
	}
	if (key{public: 5}).supports("RS256") {
		t.Error("what is no key fits")
	}
	p := &proofVerifier{nonces: [][]byte{[]byte("key")}}
	made := time.Unix(1_000_000, 0)
	nonce := p.newNonce(made)
	for at, want := range map[time.Duration]bool{nonceTime - 1: true, nonceTime: false, -proofTime + 1: true, -proofTime: false} {
		if p.isNonce(nonce, made.Add(at)) != want {
			t.Errorf("a nonce counts after %v: %t", at, !want)
		}
	}
	proof := "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"nonce":"`+nonce+`"}`)) + ".AA"
	for after, want := range map[time.Duration]bool{nonceTime / 2: false, nonceTime/2 + 1: true} {
		h := http.Header{}
		if p.refreshNonce(h, proof, made.Add(after)); (h["Dpop-Nonce"] != nil) != want {
			t.Errorf("after %v the next nonce is handed out: %t", after, !want)
		}
	}
	for _, bad := range []string{"x", (&proofVerifier{nonces: [][]byte{[]byte("other")}}).newNonce(made)} {
		if _, ok := p.openNonce(bad); ok {
			t.Errorf("%s is a nonce of ours", bad)
		}
	}
	from := context.WithValue(NewContext(t.Context(), &Principal{Subject: "s"}), tokenKey{}, Token{"t"})
	if ctx := CallerFromContext(from).Context(t.Context()); FromContext(ctx) == nil || FromContext(ctx).Subject != "s" {
		t.Error("the caller is not carried on")
	} else if token, ok := SubjectToken(ctx); !ok || token.value != "t" {
		t.Error("the token of the caller is not carried on")
	}
	if _, ok := SubjectToken(CallerFromContext(t.Context()).Context(t.Context())); ok || FromContext(CallerFromContext(t.Context()).Context(t.Context())) != nil {
		t.Error("somebody is carried on where nobody is")
	}
	v := (&Guard{}).Views([][]string{{"a"}, {"b"}, {"a"}, {"c"}})
	if len(v.sets) != 3 || len(v.Of(&Principal{}).bits) != 1 {
		t.Errorf("%d sets, %d bytes", len(v.sets), len(v.Of(&Principal{}).bits))
	}
	var known introspectionCache
	known.put([32]byte{}, introspectionResult{verified: &verified{}, until: made.UnixNano()}, made)
	if len(known.shards[0].entries) != 0 {
		t.Error("a verdict that does not count any more is kept")
	}
}

// TestRefusalsAreCounted: each request without a good token is counted by its reason, and the log names the address.
func TestRefusalsAreCounted(t *testing.T) {
	var log bytes.Buffer
	var counted []string
	g := &Guard{
		log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), onReject: func(_ *http.Request, reason string, _ int) { counted = append(counted, reason) },
		clientAddress: func(*http.Request) (netip.Addr, bool) { return netip.MustParseAddr("192.0.2.7"), true }, now: time.Now, challenges: newChallenges("access token", "m", nil, nil), cache: &tokenCache{},
	}
	h := g.Protect(http.NotFoundHandler())
	for _, authorization := range []string{"", ",", "Bearer " + strings.Repeat("a", maxToken+1), "Bearer " + strings.Repeat("a", maxToken)} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	g.reject(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", nil), credential{}, context.Canceled)
	if want := []string{"no token", "not exactly one token", "token too long", "not a JWT", "canceled"}; !slices.Equal(counted, want) {
		t.Errorf("counted %q, want %q", counted, want)
	}
	if !strings.Contains(log.String(), "client=192.0.2.7") {
		t.Errorf("the log has no address:\n%s", &log)
	}
	for _, proof := range []string{",x", "x,"} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set("Authorization", "Bearer abc")
		r.Header.Set("Dpop", proof)
		if _, o := g.credential(r); o != badProofs {
			t.Errorf("proofs %s: %v", proof, o)
		}
	}
	p := &proofVerifier{}
	for n, want := range map[int]string{maxProof: "not a JWS of JSON objects", maxProof + 1: "too long"} {
		if _, err := p.parse(strings.Repeat("a", n)); fmt.Sprint(err) != fmt.Sprint(rejectProof(want)) {
			t.Errorf("a proof of %d bytes: %v", n, err)
		}
	}
}
