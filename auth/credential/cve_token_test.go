package credential

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/auth"
	"drawbridge/auth/authtest"
	"drawbridge/test/timebox"
)

// Advisories about tokens and what is kept; see cve_test.go.

// LiteLLM passed a bearer token on that it could not verify: here one that the
// authorization server refuses to exchange, and one that it gives back, go nowhere (T1).
func TestCVE_2026_59822_PassedOn(t *testing.T) {
	const token = "sk-" + canary
	for name, answer := range map[string]http.HandlerFunc{
		"refused":    answers(400, "application/json", `{"error":"invalid_request"}`),
		"given back": answers(200, "application/json", `{"access_token":"`+token+`","issued_token_type":"`+TypeAccessToken+`","token_type":"Bearer"}`),
		"down":       answers(503, "text/plain", token),
	} {
		e := &endpoint{handler: answer}
		next := &service{}
		rt := mustNew(t, exchangeOptions("https://idp.example.com/token", e.client()))(next)
		_, err := send(as(t.Context(), token, "mallory"), t, rt, "GET", resource, nil)
		var failure *TokenError
		if !errors.As(err, &failure) || len(next.seen) != 0 || strings.Contains(err.Error()+failure.ToolMessage(), canary) {
			t.Errorf("%s: %v, %q", name, err, next.seen)
		}
	}
}

// The confused deputy of FastMCP's OAuth proxy: the gateway's own token is used
// for nobody who has none, and a caller's is never taken for another service.
func TestCVE_2026_27124_NoCallerNoToken(t *testing.T) {
	s, e := issuer(t, authtest.Options{})
	next := &service{}
	rt := mustNew(t, exchangeOptions(tokenURL(s), e.client()))(next)
	for _, ctx := range []context.Context{t.Context(), as(t.Context(), "", "alice"), as(t.Context(), "a.b.c", "")} {
		_, err := send(ctx, t, rt, "GET", resource, nil)
		var failure *TokenError
		if !errors.As(err, &failure) || failure.Failure != NoCaller {
			t.Error(err)
		}
	}
	if len(next.seen) != 0 || e.requests.Load() != 0 {
		t.Errorf("%q, %d token requests", next.seen, e.requests.Load())
	}
}

// What Oathkeeper kept under a key without the endpoint was taken for another
// one's: here two credentials share nothing, and nor do two tokens of one
// caller, or two callers with one name.
func TestCVE_2026_33496_SharedKey(t *testing.T) {
	s, e := issuer(t, authtest.Options{})
	issue := func(user, scope string) string {
		token, err := s.Issue(authtest.Token{Subject: user, Scopes: []string{scope}})
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	billing := exchangeOptions(tokenURL(s), e.client())
	billing.OAuth.Resources = []string{"https://billing.example.com"}
	next := &service{}
	toOrders, toBilling := mustNew(t, exchangeOptions(tokenURL(s), e.client()))(next), mustNew(t, billing)(next)
	reader, writer, other := issue("alice", "read"), issue("alice", "write"), issue("bob", "read")
	seen := map[string]bool{}
	for _, c := range []struct {
		rt         http.RoundTripper
		token, key string
	}{
		{toOrders, reader, "alice"}, {toOrders, writer, "alice"}, {toOrders, other, "bob"}, {toBilling, reader, "alice"},
		{toOrders, reader, "bob"}, // even with a key that is wrong, the token decides
	} {
		if _, err := send(as(t.Context(), c.token, c.key), t, c.rt, "GET", resource, nil); err != nil {
			t.Fatal(err)
		}
		got := next.seen[len(next.seen)-1]
		if seen[got] {
			t.Error("one token for two:", c.key)
		}
		seen[got] = true
		claims, want := decode(t, strings.Split(got, ".")[1]), decode(t, strings.Split(c.token, ".")[1])
		if claims["sub"] != want["sub"] || claims["scope"] != want["scope"] {
			t.Errorf("%v for %v", claims, want)
		}
	}
}

// The same cache, poisoned by an error: what the authorization server says to
// one caller is no answer to another, ends after a moment, and never stands
// over a token that is good.
func TestCVE_2026_33496_Poisoned(t *testing.T) {
	now := time.Now()
	var refuse string
	e := &endpoint{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subject := r.PostFormValue("subject_token")
		if strings.Contains(subject, refuse) {
			answers(400, "application/json", `{"error":"invalid_request","access_token":"poison","token_type":"Bearer","issued_token_type":"`+TypeAccessToken+`"}`)(w, r)
			return
		}
		answers(200, "application/json", `{"access_token":"for-`+subject+`","token_type":"Bearer","expires_in":100,"issued_token_type":"`+TypeAccessToken+`"}`)(w, r)
	})}
	o := exchangeOptions("https://idp.example.com/token", e.client())
	o.Now = func() time.Time { return now }
	next := &service{}
	rt := mustNew(t, o)(next)
	ask := func(user string) string {
		next.seen = nil
		if _, err := send(as(t.Context(), user, "everybody"), t, rt, "GET", resource, nil); err != nil {
			return "error"
		}
		return next.seen[0]
	}
	for i, c := range []struct {
		refuse, user, want string
		later              time.Duration
	}{
		{"mallory", "mallory", "error", 0}, {"mallory", "alice", "Bearer for-alice", 0},
		{"never", "mallory", "error", 0}, {"never", "mallory", "Bearer for-mallory", retryDelay},
		{"alice", "alice", "Bearer for-alice", 95 * time.Second}, // an early refresh that fails
		{"alice", "alice", "error", 5 * time.Second},
		{"never", "alice", "Bearer for-alice", retryDelay},
	} {
		now, refuse = now.Add(c.later), c.refuse
		if got := ask(c.user); got != c.want {
			t.Errorf("%d: %s", i, got)
		}
	}
}

// github-mcp-server had one client for all users: here 50 at once, over one
// transport, and nobody's request goes out with what is another's.
func TestCVE_2026_48529_OneForAll(t *testing.T) {
	e := &endpoint{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers(200, "application/json", `{"access_token":"for-`+r.PostFormValue("subject_token")+`","token_type":"Bearer","expires_in":0,"issued_token_type":"`+TypeAccessToken+`"}`)(w, r)
	})}
	i, _, _ := newIdentity(t, nil, writePEM(t, "", ecKey(t)))
	introduce, err := i.For(IdentityUse{Audience: "orders", Origin: origin0()})
	if err != nil {
		t.Fatal(err)
	}
	exchange := mustNew(t, exchangeOptions("https://idp.example.com/token", e.client()))
	rt := introduce(exchange(through(func(req *http.Request) (*http.Response, error) {
		user := req.Header.Get("X-User")
		claims := decode(t, strings.Split(req.Header.Get("X-Drawbridge-Identity"), ".")[1])
		if got := req.Header.Get("Authorization"); got != "Bearer for-"+user || claims["sub"] != user {
			t.Errorf("%s: %s, %v", user, got, claims)
		}
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})))
	var wg sync.WaitGroup
	for n := range 50 {
		user := fmt.Sprintf("user%d", n)
		ctx := auth.NewContext(as(t.Context(), user, user), &auth.Principal{Subject: user})
		wg.Go(func() {
			for range 20 {
				req := request(t, "GET https://orders.example.com/\nX-User: "+user).WithContext(ctx)
				if _, err := rt.RoundTrip(req); err != nil {
					t.Error(err)
				}
			}
		})
	}
	timebox.Done(t, wg.Wait)
}

// through is a transport of one function.
type through func(*http.Request) (*http.Response, error)

func (f through) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// The TypeScript SDK shared instances between clients: what was chosen for one
// API is not sent by the transport of another.
func TestCVE_2026_25536_ChoiceOfAnother(t *testing.T) {
	made := func(key string) *Set {
		set, err := NewSet(SetOptions{Origin: origin0(), Schemes: map[string]Options{"key": {Kind: APIKey, In: Header, Name: "X-Api-Key", Key: Fixed(key)}}})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	orders, billing := made("orders-"+canary), made("billing")
	choice, err := orders.Choose([][]string{{"key"}})
	if err != nil {
		t.Fatal(err)
	}
	next := &record{}
	req := request(t, "GET https://orders.example.com/").WithContext(choice.Context(t.Context()))
	if _, err := billing.Wrap(next).RoundTrip(req); err != nil || len(next.request.Header) != 0 {
		t.Error(print(next.request), err)
	}
}

// The MCP Registry took a token that was for another: what an exchange gives is
// for the service, and an identity is for one service alone.
func TestCVE_2026_44428_Audience(t *testing.T) {
	for _, aud := range []string{`"https://billing.example.com"`, `["https://billing.example.com"]`, `[]`, `""`, `null`, `{"0":"` + resource + `"}`, `"` + resource + `/"`, `"` + strings.ToUpper(resource) + `"`, `[["` + resource + `"]]`, `1`} {
		answer := `{"access_token":"` + unsigned(`{"aud":`+aud+`}`) + `","issued_token_type":"` + TypeAccessToken + `","token_type":"Bearer"}`
		e := &endpoint{handler: answers(200, "application/json", answer)}
		next := &service{}
		_, err := send(as(t.Context(), "a.b.c", "alice"), t, mustNew(t, exchangeOptions("https://idp.example.com/", e.client()))(next), "GET", resource, nil)
		if err == nil || len(next.seen) != 0 {
			t.Errorf("%s: %v, %q", aud, err, next.seen)
		}
	}
	i, _, _ := newIdentity(t, nil, writePEM(t, "", ecKey(t)))
	p := &auth.Principal{Subject: "alice"}
	for _, api := range []string{"orders", "billing"} {
		wrap, err := i.For(IdentityUse{Audience: api, Origin: origin0()})
		if err != nil {
			t.Fatal(err)
		}
		next := &record{}
		claims, ok := verify(t, i, identityOf(t, wrap(next), p, next))
		if !ok || claims["aud"] != api {
			t.Error(api, claims)
		}
	}
}

// Traefik served without what guards a service when that could not be made:
// here a credential whose secret has gone sends nothing (Z8).
func TestCVE_2026_54762_NoSecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	put(t, file, []byte("s3cret+ /&\n"))
	read := func() (string, error) { content, err := os.ReadFile(file); return string(content), err }
	s, e := issuer(t, authtest.Options{})
	oauth := clientCredentials(tokenURL(s), e.client())
	oauth.OAuth.ClientSecret = read
	all := []Options{oauth, {Kind: Bearer, Token: func() (string, error) { _, err := read(); return "t", err }, Origin: origin0()}}
	var wraps []func(http.RoundTripper) http.RoundTripper
	for _, o := range all {
		wraps = append(wraps, mustNew(t, o))
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	for i, wrap := range wraps {
		next := &service{}
		if _, err := send(t.Context(), t, wrap(next), "GET", resource, nil); err == nil || len(next.seen) != 0 {
			t.Errorf("%v, %d requests", err, len(next.seen))
		}
		if _, err := New(all[i]); err == nil {
			t.Error("New took a credential without its secret")
		}
	}
	if e.requests.Load() != 0 {
		t.Error("a token was asked for without the secret")
	}
}

// Caddy turned mutual TLS off when a file of authorities could not be read: here
// that is an error, and a later one leaves what was there.
func TestCVE_2026_27586_NoAuthorities(t *testing.T) {
	servers, clients := newAuthority(t), newAuthority(t)
	s := peer(t, servers, clients)
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	o := CertificateOptions{CAFile: caFile, Origin: mustURL(t, s.URL)}
	if _, err := NewClientCertificate(o); err == nil {
		t.Error("a missing file of authorities is no error")
	}
	put(t, caFile, newAuthority(t).pem) // not that of the service
	c, err := NewClientCertificate(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"} {
		put(t, caFile, []byte(content))
		if got, err := ask(t, c, s.URL); err == nil || c.Problem() == nil {
			t.Errorf("%q: connected, %q", content, got)
		}
	}
}

// Traefik read an answer about authentication without a bound, kin-openapi
// (CVE-2025-30153) one that was small only while it was packed.
func TestCVE_2026_26998_EndlessToken(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	zeros := make([]byte, 1<<20)
	if _, err := z.Write(zeros); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	bomb := bytes.Repeat(packed.Bytes(), 64) // gzip's members one after the other are one stream
	for name, handler := range map[string]http.HandlerFunc{
		"endless": func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `{"access_token":"`)
			for r.Context().Err() == nil {
				if _, err := w.Write(zeros); err != nil {
					return
				}
			}
		},
		"packed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb)
		},
	} {
		s := httptest.NewServer(handler)
		rt := mustNew(t, clientCredentials(s.URL, s.Client()))(&service{})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := send(t.Context(), t, rt, "GET", resource, nil)
		runtime.ReadMemStats(&after)
		s.Close()
		if err == nil || !strings.HasSuffix(err.Error(), "the answer is longer than 64 KiB") {
			t.Errorf("%s: %v", name, err)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
			t.Errorf("%s: %d bytes were allocated", name, grown)
		}
	}
}

// golang.org/x/oauth2/jws took a token of dots apart into as many parts.
func TestCVE_2025_22868_TokenOfDots(t *testing.T) {
	token := strings.Repeat(".", maxToken)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		if _, ok := audienceOf(token); ok {
			t.Fatal("dots are for somebody")
		}
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 100<<10 {
		t.Errorf("%d bytes a token", (after.TotalAlloc-before.TotalAlloc)/100)
	}
}

// jwkset kept keys that had been removed: here one that was replaced is
// published as long as what it signed can be in use, and not longer.
func TestCVE_2025_22149_RemovedKey(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	file := writePEM(t, "", ecKey(t))
	i, rt, seen := newIdentity(t, func() time.Time { return now }, file)
	first := identityOf(t, rt, &auth.Principal{Subject: "alice"}, seen)
	writePEM(t, file, ecKey(t))
	now = now.Add(checkInterval)
	for _, c := range []struct {
		later time.Duration
		good  bool
	}{{0, true}, {maxIdentityLife + graceTime - time.Second, true}, {time.Second, false}} {
		now = now.Add(c.later)
		if _, ok := verify(t, i, first); ok != c.good {
			t.Errorf("after %s: %t", c.later, ok)
		}
	}
}
