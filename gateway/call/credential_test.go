package call_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"drawbridge/auth/authtest"
	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// Each way to get a token works end to end, and asks the authorization server for exactly what was configured.
func TestTokenTypes(t *testing.T) {
	key, keyFile := gatewaytest.NewKey(t)
	for _, tt := range []struct {
		name, credential string
		want             url.Values // assertions are looked at apart
		issuer           string     // of the assertion
	}{
		{"secret in the header", `{type: client_credentials, token_url: $TOKEN, client_id: "g w", client_secret: "${S:-s+s}", scopes: [a, b], parameters: {x: y}}`,
			url.Values{"grant_type": {"client_credentials"}, "scope": {"a b"}, "x": {"y"}, "basic": {"g+w:s%2Bs"}}, ""},
		{"secret in the body", `{type: client_credentials, token_url: "$TOKEN?tenant=a", client_id: gw, client_secret: "${S:-ss}", client_auth: client_secret_post, resources: ["https://orders"], audiences: [x, y]}`,
			url.Values{"grant_type": {"client_credentials"}, "client_id": {"gw"}, "client_secret": {"ss"}, "resource": {"https://orders"}, "audience": {"x", "y"}}, ""},
		{"signed client", `{type: client_credentials, token_url: $TOKEN, client_id: gw, client_auth: private_key_jwt, key_file: key.pem, assertion: {audience: "https://idp"}}`,
			url.Values{"grant_type": {"client_credentials"}, "client_id": {"gw"}, "client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}}, "gw"},
		{"assertion", `{type: jwt_assertion, token_url: $TOKEN, key_file: key.pem, assertion: {issuer: robot, subject: alice, audience: "https://idp", claims: {scope: a}}}`,
			url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}}, "robot"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tokens, service := gatewaytest.NewTokenServer(t), gatewaytest.NewRecordingService(t)
			r := gatewaytest.Run(t, map[string]string{"key.pem": keyFile, "a.yaml": gatewaytest.Document("A", "one"), "drawbridge.yaml": "apis: [{name: a, spec: a.yaml, base_url: " +
				service.URL + ", credential: " + strings.ReplaceAll(tt.credential, "$TOKEN", tokens.URL+"/token") + "}]\n"})
			r.Served()
			for range 2 {
				if status, answer := gatewaytest.Ask(t, r.Handler(), "", "tools/call", "one", `"name":"one","arguments":{}`); status != 200 || !bytes.Contains(answer, []byte(`"done":true`)) {
					t.Fatalf("%d %s", status, answer)
				}
			}
			for _, got := range service.Taken() {
				if got := got.Header["Authorization"]; !slices.Equal(got, []string{"Bearer " + gatewaytest.TokenCanary + "1"}) {
					t.Errorf("the service got %q", got)
				}
			}
			asked := tokens.Taken()
			if len(asked) != 1 {
				t.Fatalf("%d token requests", len(asked))
			}
			for _, name := range []string{"assertion", "client_assertion"} {
				if text := asked[0].Get(name); text != "" {
					claims := gatewaytest.ClaimsOf(t, text, key.Public())
					if claims["iss"] != tt.issuer || claims["aud"] != "https://idp" || tt.issuer == "robot" && (claims["sub"] != "alice" || claims["scope"] != "a") {
						t.Errorf("%s: %v", name, claims)
					}
					asked[0].Del(name)
					tt.issuer = ""
				}
			}
			if diff := cmp.Diff(tt.want, asked[0]); diff != "" || tt.issuer != "" {
				t.Errorf("token request (-want +got); assertion of %q\n%s", tt.issuer, diff)
			}
		})
	}
}

// exchanging is a gateway that exchanges the tokens of its callers, if kind is token_exchange.
func exchanging(t *testing.T, kind, scopes string) (*gatewaytest.Running, *authtest.Server, *gatewaytest.RecordingService) {
	t.Helper()
	idp, err := authtest.Start(authtest.Options{
		DefaultResource: gatewaytest.ResourceURL,
		Clients:         []authtest.Client{{ID: "gateway", Secret: "client-secret-canary-1d", Scopes: []string{"orders"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = idp.Close() })
	service := gatewaytest.NewRecordingService(t)
	r := gatewaytest.Run(t, map[string]string{"a.yaml": gatewaytest.Document("A", "one"), "drawbridge.yaml": `
server: {public_url: ` + gatewaytest.PublicURL + `}
auth: {issuers: [{issuer: "` + idp.Issuer() + `"}], default_scopes: [mcp:tools]}
apis:
  - name: a
    spec: a.yaml
    base_url: ` + service.URL + `
    credential: {type: ` + kind + `, token_url: "` + idp.Issuer() + `/token", client_id: gateway, client_secret: client-secret-canary-1d, audiences: [orders], scopes: [` + scopes + `]}
`})
	r.Served()
	return r, idp, service
}

// The service gets a token for the caller: with its subject, for the service's audience, never the caller's own (T1), and
// never that of another caller (P9).
func TestTokenExchange(t *testing.T) {
	r, idp, service := exchanging(t, "token_exchange", "orders")
	seen := map[string]string{}
	for _, revision := range gatewaytest.Eras {
		for _, name := range []string{"alice", "bob"} {
			token, err := idp.Issue(authtest.Token{Subject: name, ClientID: "app", Audience: []string{gatewaytest.ResourceURL}, Scopes: []string{"mcp:tools"}})
			if err != nil {
				t.Fatal(err)
			}
			c := gatewaytest.NewClient(t, r.Handler(), revision, token)
			for range 2 {
				if w := c.Call("one"); !gatewaytest.Succeeded(w) {
					t.Fatalf("%d %s", w.Code, w.Body)
				}
			}
			for _, got := range service.Taken() {
				sent := strings.TrimPrefix(got.Header.Get("Authorization"), "Bearer ")
				var claims struct {
					Subject  string `json:"sub"`
					Audience string `json:"aud"`
					Scope    string
				}
				payload, _ := base64.RawURLEncoding.DecodeString(strings.Split(sent+"..", ".")[1])
				if err := json.Unmarshal(payload, &claims); err != nil || sent == token || claims.Subject != name || claims.Audience != "orders" || claims.Scope != "orders" {
					t.Errorf("%s: the service got %q, %+v", name, sent, claims)
				}
				if of := seen[sent]; of != "" && of != name+revision {
					t.Errorf("%s got the token of %s", name, of)
				}
				seen[sent] = name + revision
			}
		}
	}
	if n := idp.Requests(authtest.TokenEndpoint); n != 4 {
		t.Errorf("%d token requests, want one for each token", n)
	}
	// From the command line nobody calls.
	result, err := gatewaytest.CallAsOperator(t.Context(), r.Gateway, "one", nil)
	if err != nil || !strings.Contains(string(result), "a call without a login, such as one from the command line, has no caller") || len(service.Taken()) > 0 {
		t.Errorf("%s %v", result, err)
	}
}

// What an authorization server says of a refusal is told in our words, counted apart, and not shown.
func TestTokenFailures(t *testing.T) {
	r, idp, service := exchanging(t, "token_exchange", "admin")
	token, err := idp.Issue(authtest.Token{Subject: "alice", ClientID: "app", Audience: []string{gatewaytest.ResourceURL}, Scopes: []string{"mcp:tools"}})
	if err != nil {
		t.Fatal(err)
	}
	c := gatewaytest.NewClient(t, r.Handler(), gatewaytest.Eras[0], token)
	if w := c.Call("one"); !strings.Contains(w.Body.String(), "The user lacks a permission that the service needs.") || len(service.Taken()) > 0 {
		t.Errorf("refused: %d %s", w.Code, w.Body)
	}

	tokens := gatewaytest.NewTokenServer(t)
	for _, tt := range []struct {
		outcome, want string
		answer        func(w http.ResponseWriter, n int)
	}{
		{"token_refused", "the operator of the gateway must repair the credential", func(w http.ResponseWriter, _ int) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":"invalid_client","error_description":"words of the server"}`)
		}},
		{"token_unavailable", "can't be reached or is busy", func(w http.ResponseWriter, _ int) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, "words of the server")
		}},
		{"token_unusable", "the operator of the gateway must repair the credential", func(w http.ResponseWriter, _ int) {
			_, _ = io.WriteString(w, `{"access_token":"words of the server","token_type":"DPoP"}`)
		}},
	} {
		tokens.Answer = tt.answer
		g := gatewaytest.Start(t, gatewaytest.Document("A", "one"), "apis: [{name: a, spec: $SPEC, base_url: $BASE, credential: {type: client_credentials, token_url: "+tokens.URL+
			"/, client_id: gw, client_secret: "+strings.Repeat("s", 20)+"}}]", service.URL)
		_, answer := gatewaytest.Ask(t, g.Handler(), "", "tools/call", "one", `"name":"one","arguments":{}`)
		if text := string(answer); !strings.Contains(text, tt.want) || strings.Contains(text, "words of") || strings.Contains(text, "127.0.0.1") || !strings.Contains(text, `"isError":true`) {
			t.Errorf("%s: %s", tt.outcome, text)
		}
		if len(gatewaytest.MetricLines(g, "drawbridge_tool_calls_total", `outcome="`+tt.outcome+`"`)) != 1 {
			t.Errorf("no call ended with %s", tt.outcome)
		}
	}
	// Nobody at all: the client for tokens has an error of its own, which is not about the service.
	g := gatewaytest.Start(t, gatewaytest.Document("A", "one"), `apis: [{name: a, spec: $SPEC, base_url: $BASE, credential: {type: client_credentials, token_url: "http://127.0.0.1:1/", client_id: gw, client_secret: "${X:-ssssssssss}"}}]`, service.URL)
	_, answer := gatewaytest.Ask(t, g.Handler(), "", "tools/call", "one", `"name":"one","arguments":{}`)
	if text := string(answer); !strings.Contains(text, "The authorization server that gives access to the service can't be reached") {
		t.Error(text)
	}
	if len(service.Taken()) > 0 {
		t.Error("the service was called without a token")
	}
}

// However many call first, one asks for the token (E7); a token that the service refuses is replaced once, and the call
// repeated with its body; a service that refuses all tokens is told of as ever.
func TestTokenRenewal(t *testing.T) {
	tokens := gatewaytest.NewTokenServer(t)
	var refused atomic.Pointer[string]
	var bodies atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); string(body) == `{"note":"n"}` {
			bodies.Add(1)
		}
		if no := refused.Load(); no != nil && (r.Header.Get("Authorization") == *no || *no == "all") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"done":true}`)
	}))
	defer service.Close()
	const doc = `openapi: 3.1.0
info: {title: A, version: '1'}
paths: {/one: {post: {operationId: one, requestBody: {content: {application/json: {schema: {type: object, properties: {note: {type: string}}}}}}, responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}}}}
`
	var c gatewaytest.Clock
	r := gatewaytest.RunWith(t, map[string]string{"a.yaml": doc, "drawbridge.yaml": "apis: [{name: a, spec: a.yaml, base_url: " + service.URL +
		", credential: {type: client_credentials, token_url: " + tokens.URL + "/, client_id: gw, client_secret: \"${S:-ssssssssss}\"}}]\n"}, gateway.Options{Test: gateway.TestOptions{Now: c.Now}})
	r.Served()
	call := func() string {
		_, answer := gatewaytest.Ask(t, r.Handler(), "", "tools/call", "one", `"name":"one","arguments":{"note":"n"}`)
		return string(answer)
	}
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if got := call(); !strings.Contains(got, `"done":true`) {
				t.Error(got)
			}
		})
	}
	timebox.Done(t, group.Wait)
	if n := tokens.Count(); n != 1 {
		t.Errorf("%d token requests for 50 first calls", n)
	}
	c.Advance(time.Minute)
	first := "Bearer " + gatewaytest.TokenCanary + "1"
	refused.Store(&first)
	bodies.Store(0)
	if got := call(); !strings.Contains(got, `"done":true`) || tokens.Count() != 2 || bodies.Load() != 2 {
		t.Errorf("after a 401: %d token requests, %d requests with the body, %s", tokens.Count(), bodies.Load(), got)
	}
	c.Advance(time.Minute)
	all := "all"
	refused.Store(&all)
	bodies.Store(0)
	if got := call(); !strings.Contains(got, "The service does not accept the gateway's credential") || tokens.Count() != 3 || bodies.Load() != 2 {
		t.Errorf("a service that refuses all: %d token requests, %d requests, %s", tokens.Count(), bodies.Load(), got)
	}
	// A reload that changes nothing here keeps the token.
	refused.Store(nil)
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := call(); !strings.Contains(got, `"done":true`) || tokens.Count() != 3 {
		t.Errorf("after a reload: %d token requests, %s", tokens.Count(), got)
	}
}

// The document is fetched with the default credential too, a token if it is one; but for that of a caller, whom it has none.
func TestDocumentToken(t *testing.T) {
	tokens, i := gatewaytest.NewTokenServer(t), gatewaytest.NewIDP(t)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+gatewaytest.TokenCanary+"1" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, gatewaytest.Document("A", "one"))
	}))
	defer service.Close()
	outcome := func(credential string) gateway.Outcome {
		t.Helper()
		c := gatewaytest.Configure(t, t.TempDir(), "", "server: {public_url: "+gatewaytest.PublicURL+"}\nauth: {issuers: ["+gatewaytest.Issuers(i)+"], default_scopes: [a]}\napis: [{name: a, spec: "+service.URL+"/a.yaml, "+credential+"}]", "")
		g, err := gateway.New(gateway.Options{Config: c})
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := g.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return outcomes[0]
	}
	own := "token_url: " + tokens.URL + "/, client_id: gw, client_secret: '${S:-ssssssssss}'"
	for _, good := range []string{"credential: {type: client_credentials, " + own + "}",
		"credential: {type: token_exchange, audiences: [a], " + own + "}, spec_credential: {type: client_credentials, " + own + "}"} {
		tokens.Taken()
		if o := outcome(good); o.Err != nil || len(o.API.Operations) != 1 {
			t.Errorf("%s: %v", good, o.Err)
		}
	}
	o := outcome("credential: {type: token_exchange, audiences: [a], " + own + "}")
	want := `document "` + service.URL + `/a.yaml": fetch: the server answered "401 Unauthorized"; if the document is protected, give the API a credential` +
		` of its own, spec_credential: that of type token_exchange needs a caller, and a document is fetched for nobody`
	if o.Err == nil || o.Err.Error() != want {
		t.Errorf("%v\nwant %s", o.Err, want)
	}
}

// What can't work is refused at start and at reload, with its key, and what was there stays (Z8).
func TestCredentialProblems(t *testing.T) {
	_, keyFile := gatewaytest.NewKey(t)
	const bad = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
	service, tokens := gatewaytest.NewRecordingService(t), gatewaytest.NewTokenServer(t)
	text := "apis: [{name: a, spec: a.yaml, base_url: " + service.URL + ", pass_headers: [X-A], credentials: {user: {type: jwt_assertion, token_url: " + tokens.URL + "/, key_file: key.pem, assertion: {issuer: gw}}}}]\n"
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": text, "a.yaml": schemes, "key.pem": keyFile})
	r.Served()
	for name, tt := range map[string]struct{ file, text, want string }{
		"key":    {"key.pem", bad, `$DIR/drawbridge.yaml:1:$KEY: apis[0].credentials.user: key file "$DIR/key.pem" holds a private key that can't be read`},
		"header": {"drawbridge.yaml", strings.Replace(text, "X-A", "X-Forwarded-For", 1), `$DIR/drawbridge.yaml:1:$PASS: apis[0].pass_headers: header "X-Forwarded-For" can't be passed on`},
	} {
		r.Write(map[string]string{tt.file: tt.text})
		at := func(value string) string { return fmt.Sprint(strings.Index(text, value) + 1) }
		want := strings.NewReplacer("$DIR", r.Dir, "$KEY", at("{type: jwt"), "$PASS", at("[X-A]")).Replace(tt.want)
		if err := r.Reload(t.Context()); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", name, err, want)
		}
		if got := r.Status().Config.Error; got != want {
			t.Errorf("%s: the state says %q", name, got)
		}
		if _, answer := gatewaytest.Ask(t, r.Handler(), "", "tools/call", "inherits", `"name":"inherits","arguments":{}`); !bytes.Contains(answer, []byte(`done`)) {
			t.Errorf("%s: %s", name, answer)
		}
		r.Write(map[string]string{"drawbridge.yaml": text, "key.pem": keyFile})
	}
	if _, err := gateway.New(gateway.Options{Config: brokenKey(t, text, bad)}); err == nil || !strings.Contains(err.Error(), `apis[0].credentials.user: key file`) {
		t.Errorf("at start: %v", err)
	}
}

func brokenKey(t *testing.T, text, key string) *config.Config {
	t.Helper()
	r := &gatewaytest.Running{T: t, Dir: t.TempDir()}
	r.Write(map[string]string{"drawbridge.yaml": text, "key.pem": key})
	c, problems := config.Load(filepath.Join(r.Dir, "drawbridge.yaml"), func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	return c
}

// A reload that brings the first token exchange makes the guard keep tokens for it, and takes that back.
func TestReloadOfExchange(t *testing.T) {
	r, idp, service := exchanging(t, "client_credentials", "orders")
	token, err := idp.Issue(authtest.Token{Subject: "alice", ClientID: "app", Audience: []string{gatewaytest.ResourceURL}, Scopes: []string{"mcp:tools"}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(r.Dir, "drawbridge.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	without := string(text)
	with := strings.Replace(without, "type: client_credentials", "type: token_exchange", 1)
	for _, text := range []string{with, without, with} {
		r.Write(map[string]string{"drawbridge.yaml": text})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if w := gatewaytest.NewClient(t, r.Handler(), gatewaytest.Eras[0], token).Call("one"); !gatewaytest.Succeeded(w) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		sent := service.Taken()[0].Header.Get("Authorization")
		payload, _ := base64.RawURLEncoding.DecodeString(strings.Split(sent+"..", ".")[1])
		if got := strings.Contains(string(payload), `"alice"`); got != (text == with) {
			t.Errorf("the service got a token of %s", payload)
		}
	}
}
