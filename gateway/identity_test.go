package gateway

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/big"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway/render"
)

// publishedKeys returns the keys for services by their id.
func publishedKeys(t *testing.T, g *Gateway) map[string]jose.JSONWebKey {
	t.Helper()
	w := do(g.Handler(), http.MethodGet, "/.well-known/jwks.json", nil)
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(w.Body.Bytes(), &set); err != nil || w.Code != http.StatusOK {
		t.Fatalf("jwks = %d %s: %v", w.Code, w.Body, err)
	}
	keys := map[string]jose.JSONWebKey{}
	for _, k := range set.Keys {
		if !k.IsPublic() {
			t.Errorf("a private key is published: %s", k.KeyID)
		}
		keys[k.KeyID] = k
	}
	return keys
}

// keyOf returns the id of the key that a JWT names.
func keyOf(t *testing.T, text string) string {
	t.Helper()
	signed, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return signed.Signatures[0].Header.KeyID
}

// A service that asks for it is told who calls, in a header that it can check with the published keys; through changes of key
// files and of their list, and for its own audience alone. Headers of the caller go along, where they are listed.
func TestIdentity(t *testing.T) {
	_, first := newKey(t)
	_, second := newKey(t)
	_, third := newKey(t)
	i, service := newIDP(t), newRecordingService(t)
	text := fmt.Sprintf(`
server: {public_url: %s}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
identity: {key_files: [a.pem]}
apis:
  - {name: a, spec: a.yaml, base_url: "%[3]s", identity: {}, pass_headers: [X-Request-ID]}
  - {name: b, spec: a.yaml, base_url: "%[3]s", identity: {audience: "https://b.example", header: X-Caller}}
  - {name: c, spec: a.yaml, base_url: "%[3]s"}
`, publicURL, issuers(i), service.URL)
	var c clock
	r := runWith(t, map[string]string{"a.pem": first, "b.pem": second, "c.pem": third, "a.yaml": document("A", "one"), "drawbridge.yaml": text}, Options{Test: TestOptions{Now: c.now}})
	r.eventually("all are served", func() bool { return r.Status().Tools == 3 })
	used := map[string]bool{}
	look := func(step string) {
		t.Helper()
		caller := newClient(t, r.Handler(), eras[0], i.token(t, nil))
		caller.header.Set("X-Request-ID", "request-7")
		caller.header.Set("X-Drawbridge-Identity", "forged")
		caller.header.Set("X-Caller", "forged")
		for api, want := range map[string]map[string]any{
			"a": {"header": "X-Drawbridge-Identity", "aud": "a", "request": "request-7"}, "b": {"header": "X-Caller", "aud": "https://b.example", "request": ""}, "c": nil,
		} {
			if w := caller.call(api + "_one"); !succeeded(w) {
				t.Fatalf("%s: %d %s", step, w.Code, w.Body)
			}
			got := service.taken()[0].Header
			if want == nil {
				if got.Get("X-Drawbridge-Identity")+got.Get("X-Caller")+got.Get("X-Request-ID") != "" {
					t.Errorf("%s: %s was told: %v", step, api, got)
				}
				continue
			}
			told := got.Values(want["header"].(string))
			if len(told) != 1 || got.Get("X-Request-ID") != want["request"] {
				t.Fatalf("%s: %s got %v", step, api, got)
			}
			id := keyOf(t, told[0])
			key, ok := publishedKeys(t, r.Gateway)[id]
			if !ok {
				t.Fatalf("%s: %s was told with the key %s, which is not published", step, api, id)
			}
			used[id] = true
			claims := claimsOf(t, told[0], key.Key)
			for name, value := range map[string]any{"iss": publicURL, "aud": want["aud"], "sub": "alice", "client_id": "app", "scope": "mcp:tools", "idp": i.URL} {
				if claims[name] != value {
					t.Errorf("%s: %s: %s is %v, want %v", step, api, name, claims[name], value)
				}
			}
		}
	}
	reload := func(files map[string]string) {
		t.Helper()
		r.write(files)
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	look("at start")
	reload(map[string]string{"drawbridge.yaml": strings.Replace(text, "[a.pem]", "[a.pem, b.pem]", 1)})
	look("with the next key published")
	if n := len(publishedKeys(t, r.Gateway)); n != 2 || len(used) != 1 {
		t.Errorf("%d keys are published, %d used", n, len(used))
	}
	reload(map[string]string{"drawbridge.yaml": strings.Replace(text, "[a.pem]", "[b.pem, a.pem]", 1)})
	look("with the next key in use")
	reload(map[string]string{"drawbridge.yaml": text}) // and back, with another key in the file
	reload(map[string]string{"a.pem": third})
	c.advance(2 * time.Second)
	look("with another key in the file")
	if n := len(publishedKeys(t, r.Gateway)); n != 2 || len(used) != 3 {
		t.Errorf("%d keys are published, %d used: the key that was replaced is to be there for a while", n, len(used))
	}
	reload(map[string]string{"drawbridge.yaml": strings.NewReplacer("identity: {key_files: [a.pem]}", "", ", identity: {}", "", ", identity: {audience: \"https://b.example\", header: X-Caller}", "").Replace(text)})
	if w := do(r.Handler(), http.MethodGet, "/.well-known/jwks.json", nil); w.Code != http.StatusNotFound {
		t.Errorf("without identities: %d %s", w.Code, w.Body)
	}
}

// TestPublicRoutes is Z9: of all that the public listener serves, nothing but the metadata, the keys, and the page for browsers
// does without a token.
func TestPublicRoutes(t *testing.T) {
	_, keyFile := newKey(t)
	i := newIDP(t)
	r := run(t, map[string]string{"key.pem": keyFile, "a.yaml": document("A", "one"), "drawbridge.yaml": fmt.Sprintf(`
server: {public_url: %s/tools}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
identity: {key_files: [key.pem]}
apis: [{name: a, spec: a.yaml, base_url: "http://127.0.0.1:1"}]
`, publicURL, issuers(i))})
	r.served()
	open := map[string]int{"/.well-known/jwks.json": 200, "/.well-known/oauth-protected-resource": 200}
	browser := map[string]int{"/": 200}
	maps.Copy(browser, open)
	routes, ok := r.public.(chi.Routes)
	if !ok {
		t.Fatalf("the public surface is a %T", r.public)
	}
	for accept, want := range map[string]map[string]int{"*/*": open, "text/html,application/xhtml+xml,*/*;q=0.8": browser} {
		seen := map[string]int{}
		err := chi.Walk(routes, func(_, path string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
			if w := do(r.Handler(), http.MethodGet, path, http.Header{"Accept": {accept}}); w.Code != http.StatusUnauthorized && w.Code != http.StatusNotFound { // of what has parameters there is none here
				seen[path] = w.Code
			}
			return nil
		})
		if diff := cmp.Diff(want, seen); err != nil || diff != "" {
			t.Errorf("%v; what is served without a token for Accept: %s (-want +got)\n%s", err, accept, diff)
		}
	}
	for method, want := range map[string]int{http.MethodHead: 200, http.MethodPost: 405, http.MethodDelete: 405, http.MethodOptions: 405} {
		w := do(r.Handler(), method, "/.well-known/jwks.json", nil)
		if w.Code != want || w.Header().Get("X-Content-Type-Options") != "nosniff" || want == 200 && w.Header().Get("Cache-Control") != "public, max-age=60" {
			t.Errorf("%s of the keys: %d %v", method, w.Code, w.Header())
		}
	}
}

// A header of the caller that can't be passed on stops the call, with the reason.
func TestPassedHeaderRefused(t *testing.T) {
	service := newRecordingService(t)
	g := start(t, document("A", "one"), "apis: [{name: a, spec: $SPEC, base_url: $BASE, pass_headers: [X-A]}]", service.URL)
	c := newClient(t, g.Handler(), eras[0], "")
	c.header["X-A"] = []string{"one", "canary-two"}
	w := c.call("one")
	if want := "The header X-A of the client's request, which the service gets too, is there 2 times. Nothing was sent to the service."; !strings.Contains(w.Body.String(), want) || len(service.taken()) > 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if len(metricLines(g, "drawbridge_tool_calls_total", `outcome="bad_header"`)) != 1 {
		t.Error("it is not counted")
	}
}

// certificates issues certificates for clients.
type certificates struct {
	t   *testing.T
	ca  *x509.Certificate
	key *ecdsa.PrivateKey
}

func newCertificates(t *testing.T) *certificates {
	t.Helper()
	c := &certificates{t: t}
	c.key, _ = newKey(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	c.ca, _ = c.sign(template, template, c.key)
	return c
}

func (c *certificates) sign(template, parent *x509.Certificate, key *ecdsa.PrivateKey) (*x509.Certificate, string) {
	c.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, c.key)
	if err != nil {
		c.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		c.t.Fatal(err)
	}
	return cert, pemOf("CERTIFICATE", der)
}

// issue returns a file with a certificate of that name and its key.
func (c *certificates) issue(name string) string {
	key, keyFile := newKey(c.t)
	_, cert := c.sign(&x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour)}, c.ca, key)
	return cert + keyFile
}

// server starts a server that wants certificates of the authority and notes who came.
func (c *certificates) server(h func(w http.ResponseWriter, r *http.Request, name string)) *httptest.Server {
	pool := x509.NewCertPool()
	pool.AddCert(c.ca)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := ""
		if len(r.TLS.PeerCertificates) > 0 {
			name = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		h(w, r, name)
	}))
	s.TLS = &tls.Config{ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: pool}
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // of connections that are closed
	s.StartTLS()
	c.t.Cleanup(s.Close)
	return s
}

// The gateway shows its certificate to the service and to the authorization server for which it is, and to nobody else (E4);
// the next connection has the one that is in the files then.
func TestClientCertificates(t *testing.T) {
	certs := newCertificates(t)
	var mu sync.Mutex
	var seen []string
	note := func(what, name string) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, what+" "+name)
	}
	service := certs.server(func(w http.ResponseWriter, r *http.Request, name string) {
		note("service", name+" "+r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"done":true}`)
	})
	docs := certs.server(func(w http.ResponseWriter, _ *http.Request, name string) {
		note("docs", name)
		_, _ = io.WriteString(w, document("A", "one"))
	})
	tokens := certs.server(func(w http.ResponseWriter, r *http.Request, name string) {
		note("tokens", name+" "+r.PostFormValue("client_id"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"t1","token_type":"Bearer"}`)
	})
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: service.Certificate().Raw}))
	var c clock
	r := runWith(t, map[string]string{"ca.pem": ca, "service.pem": certs.issue("for the service"), "tokens.pem": certs.issue("for tokens"), "drawbridge.yaml": `apis:
  - name: a
    spec: ` + docs.URL + `/a.yaml
    base_url: ` + service.URL + `
    ca_file: ca.pem
    client_certificate: {cert_file: service.pem, key_file: service.pem}
    credential: {type: client_credentials, token_url: "` + tokens.URL + `/", client_id: gw, client_auth: tls_client_auth, cert_file: tokens.pem, key_file: tokens.pem, ca_file: ca.pem}
`}, Options{Test: TestOptions{Now: c.now}})
	r.served()
	call := func() {
		t.Helper()
		if _, answer := ask(t, r.Handler(), "", "tools/call", "one", `"name":"one","arguments":{}`); !strings.Contains(string(answer), `"done":true`) {
			t.Fatalf("%s", answer)
		}
	}
	call()
	r.write(map[string]string{"service.pem": certs.issue("for the service, newer"), "tokens.pem": certs.issue("for tokens, newer")})
	service.CloseClientConnections()
	tokens.CloseClientConnections()
	c.advance(10 * time.Minute) // the token has ended
	call()
	if lines := metricLines(r.Gateway, `drawbridge_client_certificate_expiry_timestamp_seconds{api="a"}`); len(lines) != 1 {
		t.Errorf("no metric of the end of the certificate: %q", lines)
	}
	mu.Lock()
	defer mu.Unlock()
	seen = slices.DeleteFunc(seen, func(s string) bool { return strings.HasPrefix(s, "docs") && s == "docs " })
	want := []string{"tokens for tokens gw", "service for the service Bearer t1", "tokens for tokens, newer gw", "service for the service, newer Bearer t1"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("who saw which certificate (-want +got)\n%s", diff)
	}
}

// Whatever is attached goes to one origin: not to the document's server when the API is elsewhere, not to those of
// allow_refs, not to servers that the document names, not where a redirect leads, and of all of it nothing but the client's
// own proof to the authorization server (E3, E4).
func TestForeignOrigins(t *testing.T) {
	_, keyFile := newKey(t)
	tokens, i := newTokenServer(t), newIDP(t)
	var mu sync.Mutex
	strange := map[string][]string{}
	suspicious := []string{"Authorization", "X-Key", "X-Drawbridge-Identity", "X-Request-Id", "Cookie"}
	note := func(who string, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		for _, name := range suspicious {
			if v := r.Header.Get(name); v != "" {
				strange[who] = append(strange[who], name+": "+v)
			}
		}
		if strings.Contains(r.URL.RawQuery, "canary") {
			strange[who] = append(strange[who], r.URL.RawQuery)
		}
	}
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note("foreign", r)
		_, _ = io.WriteString(w, `{"name":"q","in":"query","schema":{"type":"string"}}`)
	}))
	defer foreign.Close()
	var got http.Header
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		http.Redirect(w, r, foreign.URL+"/next", http.StatusTemporaryRedirect)
	}))
	defer service.Close()
	docs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note("docs", r)
		_, _ = io.WriteString(w, `{"openapi":"3.1.0","info":{"title":"Shop","version":"1"},"servers":[{"url":"`+foreign.URL+`"}],
			"components":{"securitySchemes":{"user":{"type":"http","scheme":"bearer"},"key":{"type":"apiKey","in":"query","name":"key"}}},"security":[{"user":[],"key":[]}],
			"paths":{"/one":{"servers":[{"url":"`+foreign.URL+`"}],"get":{"operationId":"one","parameters":[{"$ref":"`+foreign.URL+`/q.json"}],"responses":{}}}}}`)
	}))
	defer docs.Close()
	r := run(t, map[string]string{"key.pem": keyFile, "drawbridge.yaml": fmt.Sprintf(`
server: {public_url: %s}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
identity: {key_files: [key.pem]}
apis:
  - name: a
    spec: %s/a.yaml
    base_url: %s
    allow_servers: ["%[5]s"]
    allow_refs: ["%[5]s"]
    identity: {}
    pass_headers: [X-Request-ID]
    credential: &token {type: client_credentials, token_url: "%[6]s/", client_id: gw, client_secret: "${S:-client-secret-canary}"}
    credentials: {user: *token, key: {type: api_key, in: query, name: key, value: "${S:-query-key-canary}"}}
`, publicURL, issuers(i), docs.URL, service.URL, foreign.URL, tokens.URL)})
	r.served()
	caller := newClient(t, r.Handler(), eras[0], i.token(t, nil))
	caller.header.Set("X-Request-ID", "request-canary")
	w := caller.send("tools/call", "one", `{"q":"1"}`)
	if !strings.Contains(w.Body.String(), "The gateway does not follow redirects") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, name := range suspicious[:4] {
		if name != "X-Key" && got.Get(name) == "" {
			t.Errorf("the service did not get %s: %v", name, got)
		}
	}
	if len(strange) > 0 {
		t.Errorf("others got %v", strange)
	}
	for _, form := range tokens.taken() {
		if text := form.Encode(); strings.Contains(text, "request-canary") || strings.Contains(text, "query-key") {
			t.Errorf("the authorization server got %s", text)
		}
	}
}

// A service that shows what it was sent shows neither the token nor the identity to the caller, wherever it puts them.
func TestSentEchoes(t *testing.T) {
	_, keyFile := newKey(t)
	tokens, i := newTokenServer(t), newIDP(t)
	docs := newShelf(t, map[string]string{"/spec.json": `{"openapi":"3.1.0","info":{"title":"S","version":"1"},"paths":{
		"/plain":{"get":{"operationId":"plain","responses":{}}},"/moved":{"get":{"operationId":"moved","responses":{"302":{"description":"elsewhere"}}}},
		"/made":{"post":{"operationId":"made","responses":{}}},"/bad":{"get":{"operationId":"bad","responses":{}}},"/long":{"get":{"operationId":"long","responses":{}}},
		"/file":{"get":{"operationId":"file","responses":{}}},"/problem":{"get":{"operationId":"problem","responses":{}}},
		"/drift":{"get":{"operationId":"drift","responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"array"}}}}}}}}}`})
	var told []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, identity := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r.Header.Get("X-Drawbridge-Identity")
		told = append(told, token, identity)
		both := token + "/" + identity
		switch r.URL.Path {
		case "/plain":
			_, _ = io.WriteString(w, "you sent "+both)
		case "/moved":
			w.Header().Set("Location", "/login/"+both)
			w.WriteHeader(http.StatusFound)
		case "/made":
			w.Header().Set("Location", "/things/"+both)
			w.WriteHeader(http.StatusCreated)
		case "/file":
			w.Header().Set("Content-Type", "application/pdf")
			w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": token + ".pdf"}))
			_, _ = io.WriteString(w, "%PDF")
		case "/bad":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, "you sent "+both)
		case "/problem":
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"title":"Bad","detail":"`+token+`","x":"`+identity+`"}`)
		case "/long":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, strings.Repeat("x", render.MaxErrorBody-len(identity)/2)+identity+token+"[redacted]"+strings.Repeat("y", render.MaxErrorBody))
		case "/drift":
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"sent":"`+both+`"}`)
		}
	}))
	defer service.Close()
	for _, tt := range []struct{ name, token string }{
		{"as most tokens are", "Token.canary_0123456789-ABCDEF~"}, {"with signs that are escaped", "Token/canary+0123456789==<&>"}, {"an identity alone", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer, credential := tt.token, ", credential: {type: client_credentials, token_url: \""+tokens.URL+"/\", client_id: gw, client_secret: \"${S:-ssssssssss}\"}"
			if answer == "" {
				credential = ""
			}
			tokens.answer = func(w http.ResponseWriter, _ int) {
				_ = json.NewEncoder(w).Encode(map[string]any{"access_token": answer, "token_type": "Bearer"})
			}
			r := run(t, map[string]string{"key.pem": keyFile, "drawbridge.yaml": fmt.Sprintf(`
server: {public_url: %s}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
identity: {key_files: [key.pem]}
apis:
  - {name: s, spec: "%s/spec.json", base_url: "%s", identity: {}%s}
`, publicURL, issuers(i), docs.URL, service.URL, credential)})
			r.served()
			for _, revision := range eras {
				c := newClient(t, r.Handler(), revision, i.token(t, nil))
				for _, p := range r.Plans() {
					if p.Tool.Name == "file" && (answer == "" || strings.Contains(answer, "/")) {
						continue // the name of a file is one segment: what is left is a part
					}
					told = nil
					w := c.call(p.Tool.Name)
					text := w.Body.String()
					if len(told) != 2 || told[0] != answer || told[1] == "" {
						t.Fatalf("%s: the service was told %q", p.Tool.Name, told)
					}
					leaks := canaries{"token": answer, "identity": told[1][strings.LastIndexByte(told[1], '.')+1:]}
					if names := leaks.found(text); len(names) > 0 || !strings.Contains(text, "redacted") && p.Tool.Name != "long" {
						t.Errorf("%s %s: %v came out: %s", revision, p.Tool.Name, names, text)
					}
				}
			}
		})
	}
}
