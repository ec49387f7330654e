package credential

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"drawbridge/test/timebox"
)

// writePEM writes a private key to a file and returns its path.
func writePEM(t testing.TB, path string, key crypto.Signer) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if path == "" {
		path = filepath.Join(t.TempDir(), "key.pem")
	}
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func ecKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func signingKey(t testing.TB, o KeyOptions) *SigningKey {
	t.Helper()
	k, err := NewSigningKey(o)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

const goodAnswer = `{"access_token":"a.token","token_type":"Bearer","expires_in":60}`

// What each way of client authentication and each parameter looks like at the token endpoint.
func TestTokenRequest(t *testing.T) {
	key := signingKey(t, KeyOptions{File: writePEM(t, "", ecKey(t))})
	base := OAuth{TokenURL: "https://idp.example.com/token", ClientID: "gateway", ClientSecret: Fixed("s3cret+ /&\n")}
	caller := func(context.Context) (string, string, bool) { return "subject.token", "alice", true }
	for _, c := range []struct {
		name   string
		kind   Kind
		change func(*OAuth)
		want   url.Values
	}{
		{"basic", ClientCredentials, func(*OAuth) {}, url.Values{
			"grant_type": {"client_credentials"}, "basic": {"gateway:s3cret%2B+%2F%26"}, // form-encoded first, RFC 6749 section 2.3.1
		}},
		{"post", ClientCredentials, func(o *OAuth) { o.ClientAuth = SecretPost }, url.Values{
			"grant_type": {"client_credentials"}, "client_id": {"gateway"}, "client_secret": {"s3cret+ /&"},
		}},
		{"private_key_jwt", ClientCredentials, func(o *OAuth) { o.ClientAuth, o.ClientSecret, o.SigningKey = PrivateKeyJWT, nil, key }, url.Values{
			"grant_type": {"client_credentials"}, "client_id": {"gateway"}, "client_assertion": {"JWT"}, "client_assertion_type": {assertionType},
		}},
		{"tls", ClientCredentials, func(o *OAuth) { o.ClientAuth, o.ClientSecret = ClientTLS, nil }, url.Values{
			"grant_type": {"client_credentials"}, "client_id": {"gateway"},
		}},
		{"parameters", ClientCredentials, func(o *OAuth) {
			o.Scopes, o.Resources, o.Audiences = []string{"orders:read", "orders:write"}, []string{"https://a.example/x", "urn:b"}, []string{"orders"}
			o.Parameters = map[string]string{"organization": "acme"}
		}, url.Values{
			"grant_type": {"client_credentials"}, "basic": {"gateway:s3cret%2B+%2F%26"}, "scope": {"orders:read orders:write"},
			"resource": {"https://a.example/x", "urn:b"}, "audience": {"orders"}, "organization": {"acme"},
		}},
		{"assertion", JWTAssertion, func(o *OAuth) {
			o.ClientAuth, o.ClientSecret, o.SigningKey, o.Scopes = NoClientAuth, nil, key, []string{"a"}
		}, url.Values{
			"grant_type": {grantAssertion}, "client_id": {"gateway"}, "assertion": {"JWT"}, "scope": {"a"},
		}},
		{"assertion of a client", JWTAssertion, func(o *OAuth) { o.SigningKey = key }, url.Values{
			"grant_type": {grantAssertion}, "basic": {"gateway:s3cret%2B+%2F%26"}, "assertion": {"JWT"},
		}},
		{"exchange", TokenExchange, func(o *OAuth) {
			o.Audiences, o.Exchange.Requested, o.Exchange.SubjectType = []string{"orders"}, TypeJWT, TypeIDToken
		}, url.Values{
			"grant_type": {grantExchange}, "basic": {"gateway:s3cret%2B+%2F%26"}, "audience": {"orders"}, "subject_token": {"subject.token"},
			"subject_token_type": {TypeIDToken}, "requested_token_type": {TypeJWT},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := strings.Replace(goodAnswer, "{", `{"issued_token_type":"`+TypeJWT+`",`, 1)
			e := &endpoint{handler: answers(200, "application/json", answer), forms: make(chan url.Values, 1)}
			o := base
			o.Client = e.client()
			c.change(&o)
			next := &service{}
			rt := mustNew(t, Options{Kind: c.kind, Origin: origin0(), OAuth: &o, Subject: caller})(next)
			if _, err := send(t.Context(), t, rt, "GET", resource, nil); err != nil {
				t.Fatal(err)
			}
			form := timebox.Receive(t, e.forms)
			for _, name := range []string{"assertion", "client_assertion"} {
				if strings.HasPrefix(form.Get(name), "ey") {
					form.Set(name, "JWT")
				}
			}
			if diff := cmp.Diff(c.want, form); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"Bearer a.token"}, next.seen); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a JWT assertion says: who, for whom, shortly, and never twice the same
// (RFC 7523 section 3); the key is read again when its file changes.
func TestAssertion(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key       crypto.Signer
		algorithm string
		want      jose.SignatureAlgorithm
	}{{rsaKey, "", jose.RS256}, {rsaKey, "PS256", jose.PS256}, {ecKey(t), "", jose.ES256}, {edKey, "", jose.EdDSA}} {
		file := writePEM(t, "", c.key)
		key := signingKey(t, KeyOptions{File: file, Algorithm: c.algorithm, ID: "key-1", Now: clock})
		a := &assertion{key: key, issuer: "gateway", subject: "robot", audience: "https://idp.example.com", life: time.Minute, claims: map[string]string{"scope": "x"}, now: clock}
		ids := map[any]bool{}
		for range 3 {
			text, err := a.mint()
			if err != nil {
				t.Fatal(err)
			}
			jws, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{c.want})
			if err != nil {
				t.Fatal(err)
			}
			payload, err := jws.Verify(c.key.Public())
			if err != nil {
				t.Fatal(err)
			}
			var claims map[string]any
			if err := json.Unmarshal(payload, &claims); err != nil {
				t.Fatal(err)
			}
			ids[claims["jti"]] = true
			delete(claims, "jti")
			want := map[string]any{"iss": "gateway", "sub": "robot", "aud": "https://idp.example.com", "scope": "x", "iat": float64(now.Unix()), "exp": float64(now.Unix() + 60)}
			if diff := cmp.Diff(want, claims); diff != "" || jws.Signatures[0].Header.KeyID != "key-1" {
				t.Error(jws.Signatures[0].Header, diff)
			}
		}
		if len(ids) != 3 {
			t.Error("a jti came twice")
		}

		other := ecKey(t)
		verifies := func() bool {
			text, err := a.mint()
			if err != nil {
				t.Fatal(err)
			}
			jws, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{c.want, jose.ES256})
			if err != nil {
				t.Fatal(err)
			}
			_, err = jws.Verify(other.Public())
			return err == nil
		}
		if err := os.WriteFile(file, []byte("half a fi"), 0o600); err != nil {
			t.Fatal(err)
		}
		now = now.Add(checkInterval)
		if verifies() || fmt.Sprint(key.Problem()) != fmt.Sprintf("credential: key file %q holds no private key in PEM form", file) {
			t.Error(key.Problem())
		}
		if c.algorithm != "" {
			continue
		}
		writePEM(t, file, other)
		now = now.Add(checkInterval)
		if !verifies() || key.Problem() != nil {
			t.Error("the new key does not sign", key.Problem())
		}
	}
}

// The errors of New for tokens: all at once, and without secrets.
func TestOAuthErrors(t *testing.T) {
	client := &http.Client{Transport: &endpoint{}}
	for name, c := range map[string]struct {
		o    Options
		want []string
	}{
		"nothing": {Options{Kind: ClientCredentials}, []string{
			"credential: origin must be an absolute http or https URL", "credential: OAuth is missing"}},
		"empty": {Options{Kind: ClientCredentials, Origin: origin0(), OAuth: &OAuth{}}, []string{
			"credential: the token URL must be an absolute https URL without user and fragment",
			"credential: the client for token requests is missing", "credential: client secret is missing", "credential: client ID is missing"}},
		"clear text": {Options{Kind: ClientCredentials, Origin: origin0(), OAuth: &OAuth{TokenURL: "http://idp.example.com/", Client: client, ClientID: "g", ClientSecret: Fixed("\n")}}, []string{
			"credential: the token URL must be https: secrets are sent to it", "credential: client secret is empty"}},
		"parameters": {Options{Kind: ClientCredentials, Origin: origin0(), OAuth: &OAuth{TokenURL: "https://idp.example.com/", Client: client, ClientID: "g", ClientAuth: ClientTLS,
			Scopes: []string{"a b"}, Resources: []string{"orders", "https://a/#b"}, Audiences: []string{""}, Parameters: map[string]string{"scope": "x"}}}, []string{
			`credential: "a b" is not a scope`, `credential: resource "orders" is not an absolute URI without fragment`,
			`credential: resource "https://a/#b" is not an absolute URI without fragment`, "credential: an audience is empty",
			`credential: parameter "scope" of a token request is set by the gateway`}},
		"exchange": {Options{Kind: TokenExchange, Origin: origin0(), OAuth: &OAuth{TokenURL: "https://idp.example.com/", Client: client, ClientAuth: NoClientAuth}}, []string{
			"credential: only a JWT assertion can do without client authentication", "credential: a token exchange needs the subject",
			"credential: a token exchange needs an audience or a resource"}},
		"key": {Options{Kind: ClientCredentials, Origin: origin0(), OAuth: &OAuth{TokenURL: "https://idp.example.com/", Client: client, ClientAuth: PrivateKeyJWT}}, []string{
			"credential: private_key_jwt needs a signing key", "credential: client ID is missing"}},
		"unknown": {Options{Kind: ClientCredentials, Origin: origin0(), OAuth: &OAuth{TokenURL: "https://idp.example.com/", Client: client, ClientID: "g", ClientAuth: 99}}, []string{
			"credential: unknown client authentication 99"}},
		"assertion": {Options{Kind: JWTAssertion, Origin: origin0(), OAuth: &OAuth{TokenURL: "https://idp.example.com/", Client: client, ClientAuth: NoClientAuth,
			Assertion: Assertion{Lifetime: time.Hour, Claims: map[string]string{"exp": "1"}}}}, []string{
			"credential: a JWT assertion needs a signing key", "credential: a JWT assertion needs an issuer",
			"credential: a JWT assertion can't live for 1h0m0s: 1s to 10m0s are good", `credential: claim "exp" of a JWT assertion is set by the gateway`}},
		"claim without a name": {Options{Kind: JWTAssertion, Origin: origin0(), OAuth: &OAuth{TokenURL: "https://idp.example.com/", Client: client, ClientAuth: NoClientAuth,
			Assertion: Assertion{Issuer: "g", Lifetime: time.Second - 1, Claims: map[string]string{"": "1", "scope": "a"}}}}, []string{
			"credential: a JWT assertion needs a signing key",
			"credential: a JWT assertion can't live for 999.999999ms: 1s to 10m0s are good", `credential: claim "" of a JWT assertion is set by the gateway`}},
		"exchange of both": {Options{Kind: TokenExchange, Origin: origin0(), OAuth: &OAuth{TokenURL: "https://idp.example.com/", Client: client, ClientID: "g", ClientAuth: ClientTLS,
			Resources: []string{"https://a"}, Audiences: []string{"a"}}}, []string{"credential: a token exchange needs the subject"}},
	} {
		_, err := New(c.o)
		if diff := cmp.Diff(strings.Join(c.want, "\n"), fmt.Sprint(err)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Where secrets may be sent: to https, and on the machine itself to http.
func TestTokenURL(t *testing.T) {
	const absolute, secure = "credential: the token URL must be an absolute https URL without user and fragment", "credential: the token URL must be https: secrets are sent to it"
	for target, want := range map[string]string{
		"https://idp.example.com": "", "https://idp.example.com:8443/token?tenant=a": "", "http://127.0.0.1:1/": "", "http://[::1]:1/": "", "http://LocalHost/": "", "http://[::ffff:127.0.0.1]/": "",
		"": absolute, "idp.example.com/token": absolute, "//idp.example.com/": absolute, "https:///token": absolute, "https:token": absolute, "ftp://idp.example.com/": absolute,
		"https://u@idp.example.com/": absolute, "https://:p@idp.example.com/": absolute, "https://idp.example.com/#a": absolute, "https://idp.example.com/\x7f": absolute, "https://idp%zz/": absolute,
		"http://idp.example.com/": secure, "http://10.0.0.1/": secure, "http://localhost.example.com/": secure, "http://127.0.0.1.example.com/": secure, "http://0x7f.1/": secure,
	} {
		_, err := New(clientCredentials(target, &http.Client{Transport: &endpoint{}}))
		if got := fmt.Sprint(err); got != want && (want != "" || err != nil) {
			t.Errorf("%q: %s", target, got)
		}
	}
}

// How long a token is good, by what its answer says, and when it is replaced:
// not by all replicas at once. (pains row 112)
func TestLifetimes(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	const form, object = "application/x-www-form-urlencoded", "application/json"
	for _, c := range []struct {
		kind, answer string
		want         time.Duration
	}{
		{object, `{"access_token":"t"}`, defaultLife}, {object, `{"access_token":"t","expires_in":null}`, defaultLife},
		{object, `{"access_token":"t","expires_in":90}`, 90 * time.Second}, {object, `{"access_token":"t","expires_in":"90"}`, 90 * time.Second},
		{object, `{"access_token":"t","expires_in":0}`, 0}, {object, `{"access_token":"t","expires_in":-90}`, 0}, {object, `{"access_token":"t","expires_in":9223372036854775807}`, maxLife},
		{object, `{"access_token":"t","expires_in":3600.0}`, time.Hour}, {object, `{"access_token":"t","expires_in":3.6e3}`, time.Hour}, {object, `{"access_token":"t","expires_in":"3600.0"}`, time.Hour},
		{object, `{"access_token":"t","expires_in":"3600 "}`, time.Hour}, {object, `{"access_token":"t","Expires_In":3600.0}`, time.Hour}, {object, `{"access_token":"t","expires_in":1e300}`, maxLife},
		{object, `{"access_token":"t","expires_in":-0.5}`, 0}, {object, `{"access_token":"t","expires_in":-1e300}`, 0}, {object, `{"access_token":"t","expires_in":"soon"}`, defaultLife},
		{object, `{"access_token":"t","expires_in":""}`, defaultLife}, {object, `{"access_token":"t","expires_in":{}}`, defaultLife}, {object, `{"access_token":"t","expires_in":"NaN"}`, defaultLife},
		{"text/plain", `{"access_token":"t","expires_in":90}`, 90 * time.Second}, {"text/plain; charset=utf-8", ` {"access_token":"t","expires_in":"90"}`, 90 * time.Second},
		{form, `{"access_token":"t","expires_in":90}`, 90 * time.Second}, {"text/plain", `access_token=t&expires_in=90`, 90 * time.Second},
		{form, `access_token=t`, defaultLife}, {form, `access_token=t&expires_in=90`, 90 * time.Second}, {form, `access_token=t&expires_in=90.5`, 90500 * time.Millisecond},
		{form, `access_token=t&expires_in=1e2`, 100 * time.Second}, {form, `access_token=t&expires_in=soon`, defaultLife}, {form, `access_token=t&expires_in=NaN`, defaultLife},
		{form, `access_token=t&expires_in=Inf`, maxLife}, {form, `access_token=t&expires_in=-Inf`, 0},
	} {
		e := &endpoint{handler: answers(200, c.kind, c.answer)}
		o := clientCredentials("https://idp.example.com/", e.client())
		o.Now = func() time.Time { return now }
		g, err := newGrant(o)
		if err != nil {
			t.Fatal(err)
		}
		first, last := c.want, time.Duration(0)
		for range 100 {
			got, err := g.fetch(t.Context(), "", fetchTime)
			if err != nil {
				t.Fatal(c.answer, err)
			}
			if life := got.expiry.Sub(now); life != c.want {
				t.Errorf("%s: %s", c.answer, life)
				break
			}
			refresh := got.refreshAt.Sub(now)
			first, last = min(first, refresh), max(last, refresh)
		}
		if first < c.want*4/5 || last > c.want*9/10 || c.want > 0 && first == last {
			t.Errorf("%s: replaced from %s to %s", c.answer, first, last)
		}
	}
	for length, good := range map[int]bool{maxToken: true, maxToken + 1: false} {
		e := &endpoint{handler: answers(200, object, `{"access_token":"`+strings.Repeat("t", length)+`"}`)}
		if _, err := send(t.Context(), t, mustNew(t, clientCredentials("https://idp.example.com/", e.client()))(&service{}), "GET", resource, nil); (err == nil) != good {
			t.Errorf("a token of %d bytes: %v", length, err)
		}
	}
	for scope, good := range map[string]bool{"a~!#[]": true, "a b": false, `a"`: false, `a\`: false, "ä": false, "a\x7f": false, "": false} {
		if isScope(scope) != good {
			t.Errorf("scope %q", scope)
		}
	}
}

// What is made of the answers of a token endpoint, the good and the odd ones. (pains row 112)
func TestTokenAnswers(t *testing.T) {
	const prefix = `credential: client_credentials: token endpoint "idp.example.com" `
	for _, c := range []struct {
		name              string
		status            int
		contentType, body string
		want              string // the error; empty: the token "tok" is sent
		failure           Failure
	}{
		{"json", 200, "application/json", `{"access_token":"tok","token_type":"bearer","expires_in":"60"}`, "", 0},
		{"form", 200, "application/x-www-form-urlencoded", `access_token=tok&token_type=bearer&expires_in=60`, "", 0},
		{"no token type", 200, "application/json", `{"access_token":"tok"}`, "", 0},
		{"as long as can be", 200, "application/json", `{"access_token":"tok"}` + strings.Repeat(" ", maxResponse-len(`{"access_token":"tok"}`)), "", 0},
		{"ends at once", 200, "application/json", `{"access_token":"tok","expires_in":-1}`, "", 0},
		{"BearerToken", 200, "application/json", `{"access_token":"tok","token_type":"BearerToken"}`, "", 0},
		{"space behind Bearer", 200, "application/json", `{"access_token":"tok","token_type":"Bearer "}`, "", 0},
		{"upper case", 200, "application/json", `{"access_token":"tok","token_type":"BEARER"}`, "", 0},
		{"JSON as text", 200, "text/plain;charset=UTF-8", `{"access_token":"tok","token_type":"Bearer","expires_in":"3600.0"}`, "", 0},
		{"refused in JSON as text", 400, "text/plain", `{"error":"invalid_scope"}`, `gives no token, status 400, error "invalid_scope"`, Refused},
		{"bound, as text", 200, "text/plain", `{"access_token":"tok","token_type":"DPoP","expires_in":60.0}`, "gave a token that can't be used, status 200: it is not a bearer token", Unusable},
		{"begins like Bearer", 200, "application/json", `{"access_token":"tok","token_type":"BearerDPoP"}`, "gave a token that can't be used, status 200: it is not a bearer token", Unusable},
		{"mac", 200, "application/json", `{"access_token":"tok","token_type":"mac"}`, "gave a token that can't be used, status 200: it is not a bearer token", Unusable},
		{"token type of spaces", 200, "application/json", `{"access_token":"tok","token_type":" "}`, "gave a token that can't be used, status 200: it is not a bearer token", Unusable},
		{"bound", 200, "application/json", `{"access_token":"tok","token_type":"DPoP"}`, "gave a token that can't be used, status 200: it is not a bearer token", Unusable},
		{"line", 200, "application/json", `{"access_token":"to\r\nk"}`, "gave a token that can't be used, status 200: it holds a space or a character that can't stand in a header", Unusable},
		{"huge token", 200, "application/json", `{"access_token":"` + strings.Repeat("t", maxToken+1) + `"}`, "gave a token that can't be used, status 200: it has more than 16384 bytes", Unusable},
		{"huge answer", 200, "application/json", `{"x":"` + strings.Repeat("t", maxResponse) + `"}`, "gave a token that can't be used, status 200: the answer is longer than 64 KiB", Unusable},
		{"page", 200, "text/html", `<html>`, "gave a token that can't be used, status 200: the answer is not that of RFC 6749 section 5.1", Unusable},
		{"empty", 200, "application/json", `{}`, "gave a token that can't be used, status 200: the answer is not that of RFC 6749 section 5.1", Unusable},
		{"refused", 401, "application/json", `{"error":"invalid_client","error_description":"s3cret is wrong"}`, `gives no token, status 401, error "invalid_client"`, Refused},
		{"own code", 400, "application/json", `{"error":"s3cret"}`, "gives no token, status 400: the error code is none of the standards", Refused},
		{"with 200", 200, "application/json", `{"error":"invalid_scope"}`, `gives no token, status 200, error "invalid_scope"`, Refused},
		{"busy by code", 400, "application/json", `{"error":"temporarily_unavailable"}`, `is not available, status 400, error "temporarily_unavailable"`, Unavailable},
		{"broken by code", 400, "application/json", `{"error":"server_error"}`, `is not available, status 400, error "server_error"`, Unavailable},
		{"too slow", 408, "text/plain", ``, "is not available, status 408", Unavailable},
		{"choices", 300, "text/plain", ``, "gave a token that can't be used, status 300: it redirects, and that is not followed", Unusable},
		{"refused plainly", 400, "text/plain", ``, "gives no token, status 400", Refused},
		{"busy", 503, "text/plain", `s3cret`, "is not available, status 503", Unavailable},
		{"redirect", 307, "text/plain", ``, "gave a token that can't be used, status 307: it redirects, and that is not followed", Unusable},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &endpoint{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", "https://elsewhere.example/")
				answers(c.status, c.contentType, c.body)(w, r)
			})}
			next := &service{}
			rt := mustNew(t, clientCredentials("https://idp.example.com/token", e.client()))(next)
			_, err := send(t.Context(), t, rt, "GET", resource, nil)
			if c.want == "" {
				if err != nil || next.seen[0] != "Bearer tok" {
					t.Fatal(err, next.seen)
				}
				return
			}
			if diff := cmp.Diff(prefix+c.want, fmt.Sprint(err)); diff != "" {
				t.Error(diff)
			}
			var failure *TokenError
			if !errors.As(err, &failure) || failure.Failure != c.failure || len(next.seen) != 0 || e.requests.Load() != 1 {
				t.Errorf("%+v, %d requests", failure, e.requests.Load())
			}
		})
	}
}

// The same over a real connection: a hung server, one that breaks off, and none at all.
func TestTokenEndpointConnections(t *testing.T) {
	mode := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // else the server does not notice that the client has gone
		switch mode {
		case "break":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			io.WriteString(conn, "HTTP/1.1 2s3cret00 OK\r\n\r\n")
			conn.Close()
		case "cut":
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"access_token":"s3cret`)
		case "hang":
			<-r.Context().Done()
		default:
			answers(200, "application/json", goodAnswer)(w, r)
		}
	}))
	transport := &http.Transport{DisableKeepAlives: true}
	try := func(target string, limit time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		rt := mustNew(t, clientCredentials(target, &http.Client{Transport: transport}))(&service{})
		_, err := send(ctx, t, rt, "GET", resource, nil)
		return err
	}
	at := strings.TrimPrefix(server.URL, "http://")
	prefix := fmt.Sprintf("credential: client_credentials: token endpoint %q is not available", at)
	if err := try(server.URL, time.Minute); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ mode, want string }{
		{"break", prefix + ": the connection broke off before the answer was complete"},
		{"cut", prefix + ", status 200: the connection broke off before the answer was complete"},
		{"hang", prefix + ": no answer in time"},
	} {
		limit := time.Minute
		if mode = c.mode; mode == "hang" {
			limit = 50 * time.Millisecond
		}
		if diff := cmp.Diff(c.want, fmt.Sprint(try(server.URL, limit))); diff != "" {
			t.Error(c.mode, diff)
		}
	}
	server.Close()
	err := try(server.URL, time.Minute)
	var dial *net.OpError
	if !errors.As(err, &dial) || !strings.HasPrefix(fmt.Sprint(err), prefix+": dial tcp") {
		t.Error(err)
	}
}

// The bounds of an assertion's life belong to it.
func TestAssertionLives(t *testing.T) {
	for life, good := range map[time.Duration]bool{time.Second - 1: false, time.Second: true, maxAssertionLife: true, maxAssertionLife + 1: false} {
		a := assertion{key: &SigningKey{}, issuer: "g", life: life}
		if err := a.check(); (err == nil) != good {
			t.Errorf("%s: %v", life, err)
		}
	}
}

// A token request goes out once more where the server has closed the connection that was kept, as it may at any time.
func TestTokenRequestOnClosedConnection(t *testing.T) {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 2 {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			conn.Close()
			return
		}
		answers(200, "application/json", `{"access_token":"t","expires_in":0}`)(w, r)
	}))
	defer server.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	rt := mustNew(t, clientCredentials(server.URL, &http.Client{Transport: transport}))(&service{})
	for range 2 {
		if _, err := send(t.Context(), t, rt, "GET", resource, nil); err != nil {
			t.Error(err)
		}
	}
	if n := requests.Load(); n != 3 {
		t.Errorf("%d token requests, want 3", n)
	}
}

// An answer ends at its bound, however it is read, and has to be whole below it.
func TestBoundedAnswers(t *testing.T) {
	for length, good := range map[int]bool{0: true, 3: true, 4: true, 5: false, 100: false} {
		for size := 1; size <= 8; size++ {
			b := &limitedBody{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("a", length))), left: 4}
			total, buffer := 0, make([]byte, size)
			var err error
			for err == nil {
				var n int
				n, err = b.Read(buffer[:size:size])
				total += n
			}
			if total != min(length, 4) || errors.Is(err, io.EOF) != good || errors.Is(b.err, errTooLong) == good {
				t.Errorf("%d bytes, %d at a time: %d are read, %v, %v", length, size, total, err, b.err)
			}
			if n, again := b.Read(buffer); n != 0 || again == nil {
				t.Errorf("%d bytes, %d at a time: after its end %d more, %v", length, size, n, again)
			}
		}
	}
}
