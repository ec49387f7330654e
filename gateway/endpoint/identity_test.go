package endpoint_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway"
	"drawbridge/gateway/render"
	"drawbridge/test/gatewaytest"
)

// publishedKeys returns the keys for services by their id.
func publishedKeys(t *testing.T, g *gateway.Gateway) map[string]jose.JSONWebKey {
	t.Helper()
	w := gatewaytest.Do(g.Handler(), http.MethodGet, "/.well-known/jwks.json", nil)
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
	_, first := gatewaytest.NewKey(t)
	_, second := gatewaytest.NewKey(t)
	_, third := gatewaytest.NewKey(t)
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	text := fmt.Sprintf(`
server: {public_url: %s}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
identity: {key_files: [a.pem]}
apis:
  - {name: a, spec: a.yaml, base_url: "%[3]s", identity: {}, pass_headers: [X-Request-ID]}
  - {name: b, spec: a.yaml, base_url: "%[3]s", identity: {audience: "https://b.example", header: X-Caller}}
  - {name: c, spec: a.yaml, base_url: "%[3]s"}
`, gatewaytest.PublicURL, gatewaytest.Issuers(i), service.URL)
	var c gatewaytest.Clock
	r := gatewaytest.RunWith(t, map[string]string{"a.pem": first, "b.pem": second, "c.pem": third, "a.yaml": gatewaytest.Document("A", "one"), "drawbridge.yaml": text}, gateway.Options{Test: gateway.TestOptions{Now: c.Now}})
	r.Eventually("all are served", func() bool { return r.Status().Tools == 3 })
	used := map[string]bool{}
	look := func(step string) {
		t.Helper()
		caller := gatewaytest.NewClient(t, r.Handler(), gatewaytest.Eras[0], i.Token(t, nil))
		caller.Header.Set("X-Request-ID", "request-7")
		caller.Header.Set("X-Drawbridge-Identity", "forged")
		caller.Header.Set("X-Caller", "forged")
		for api, want := range map[string]map[string]any{
			"a": {"header": "X-Drawbridge-Identity", "aud": "a", "request": "request-7"}, "b": {"header": "X-Caller", "aud": "https://b.example", "request": ""}, "c": nil,
		} {
			if w := caller.Call(api + "_one"); !gatewaytest.Succeeded(w) {
				t.Fatalf("%s: %d %s", step, w.Code, w.Body)
			}
			got := service.Taken()[0].Header
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
			claims := gatewaytest.ClaimsOf(t, told[0], key.Key)
			for name, value := range map[string]any{"iss": gatewaytest.PublicURL, "aud": want["aud"], "sub": "alice", "client_id": "app", "scope": "mcp:tools", "idp": i.URL} {
				if claims[name] != value {
					t.Errorf("%s: %s: %s is %v, want %v", step, api, name, claims[name], value)
				}
			}
		}
	}
	reload := func(files map[string]string) {
		t.Helper()
		r.Write(files)
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
	c.Advance(2 * time.Second)
	look("with another key in the file")
	if n := len(publishedKeys(t, r.Gateway)); n != 2 || len(used) != 3 {
		t.Errorf("%d keys are published, %d used: the key that was replaced is to be there for a while", n, len(used))
	}
	reload(map[string]string{"drawbridge.yaml": strings.NewReplacer("identity: {key_files: [a.pem]}", "", ", identity: {}", "", ", identity: {audience: \"https://b.example\", header: X-Caller}", "").Replace(text)})
	if w := gatewaytest.Do(r.Handler(), http.MethodGet, "/.well-known/jwks.json", nil); w.Code != http.StatusNotFound {
		t.Errorf("without identities: %d %s", w.Code, w.Body)
	}
}

// A header of the caller that can't be passed on stops the call, with the reason.
func TestPassedHeaderRefused(t *testing.T) {
	service := gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("A", "one"), "apis: [{name: a, spec: $SPEC, base_url: $BASE, pass_headers: [X-A]}]", service.URL)
	c := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], "")
	c.Header["X-A"] = []string{"one", "canary-two"}
	w := c.Call("one")
	if want := "The header X-A of the client's request, which the service gets too, is there 2 times. Nothing was sent to the service."; !strings.Contains(w.Body.String(), want) || len(service.Taken()) > 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if len(gatewaytest.MetricLines(g, "drawbridge_tool_calls_total", `outcome="bad_header"`)) != 1 {
		t.Error("it is not counted")
	}
}

// The gateway shows its certificate to the service and to the authorization server for which it is, and to nobody else (E4);
// the next connection has the one that is in the files then.
func TestClientCertificates(t *testing.T) {
	certs := gatewaytest.NewCertificates(t)
	var mu sync.Mutex
	var seen []string
	note := func(what, name string) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, what+" "+name)
	}
	service := certs.Server(func(w http.ResponseWriter, r *http.Request, name string) {
		note("service", name+" "+r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"done":true}`)
	})
	docs := certs.Server(func(w http.ResponseWriter, _ *http.Request, name string) {
		note("docs", name)
		_, _ = io.WriteString(w, gatewaytest.Document("A", "one"))
	})
	tokens := certs.Server(func(w http.ResponseWriter, r *http.Request, name string) {
		note("tokens", name+" "+r.PostFormValue("client_id"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"t1","token_type":"Bearer"}`)
	})
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: service.Certificate().Raw}))
	var c gatewaytest.Clock
	r := gatewaytest.RunWith(t, map[string]string{"ca.pem": ca, "service.pem": certs.Issue("for the service"), "tokens.pem": certs.Issue("for tokens"), "drawbridge.yaml": `apis:
  - name: a
    spec: ` + docs.URL + `/a.yaml
    base_url: ` + service.URL + `
    ca_file: ca.pem
    client_certificate: {cert_file: service.pem, key_file: service.pem}
    credential: {type: client_credentials, token_url: "` + tokens.URL + `/", client_id: gw, client_auth: tls_client_auth, cert_file: tokens.pem, key_file: tokens.pem, ca_file: ca.pem}
`}, gateway.Options{Test: gateway.TestOptions{Now: c.Now}})
	r.Served()
	call := func() {
		t.Helper()
		if _, answer := gatewaytest.Ask(t, r.Handler(), "", "tools/call", "one", `"name":"one","arguments":{}`); !strings.Contains(string(answer), `"done":true`) {
			t.Fatalf("%s", answer)
		}
	}
	call()
	r.Write(map[string]string{"service.pem": certs.Issue("for the service, newer"), "tokens.pem": certs.Issue("for tokens, newer")})
	service.CloseClientConnections()
	tokens.CloseClientConnections()
	c.Advance(10 * time.Minute) // the token has ended
	call()
	if lines := gatewaytest.MetricLines(r.Gateway, `drawbridge_client_certificate_expiry_timestamp_seconds{api="a"}`); len(lines) != 1 {
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
	_, keyFile := gatewaytest.NewKey(t)
	tokens, i := gatewaytest.NewTokenServer(t), gatewaytest.NewIDP(t)
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
	r := gatewaytest.Run(t, map[string]string{"key.pem": keyFile, "drawbridge.yaml": fmt.Sprintf(`
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
`, gatewaytest.PublicURL, gatewaytest.Issuers(i), docs.URL, service.URL, foreign.URL, tokens.URL)})
	r.Served()
	caller := gatewaytest.NewClient(t, r.Handler(), gatewaytest.Eras[0], i.Token(t, nil))
	caller.Header.Set("X-Request-ID", "request-canary")
	w := caller.Send("tools/call", "one", `{"q":"1"}`)
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
	for _, form := range tokens.Taken() {
		if text := form.Encode(); strings.Contains(text, "request-canary") || strings.Contains(text, "query-key") {
			t.Errorf("the authorization server got %s", text)
		}
	}
}

// A service that shows what it was sent shows neither the token nor the identity to the caller, wherever it puts them.
func TestSentEchoes(t *testing.T) {
	_, keyFile := gatewaytest.NewKey(t)
	tokens, i := gatewaytest.NewTokenServer(t), gatewaytest.NewIDP(t)
	docs := gatewaytest.NewShelf(t, map[string]string{"/spec.json": `{"openapi":"3.1.0","info":{"title":"S","version":"1"},"paths":{
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
			tokens.Answer = func(w http.ResponseWriter, _ int) {
				_ = json.NewEncoder(w).Encode(map[string]any{"access_token": answer, "token_type": "Bearer"})
			}
			r := gatewaytest.Run(t, map[string]string{"key.pem": keyFile, "drawbridge.yaml": fmt.Sprintf(`
server: {public_url: %s}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
identity: {key_files: [key.pem]}
apis:
  - {name: s, spec: "%s/spec.json", base_url: "%s", identity: {}%s}
`, gatewaytest.PublicURL, gatewaytest.Issuers(i), docs.URL, service.URL, credential)})
			r.Served()
			for _, revision := range gatewaytest.Eras {
				c := gatewaytest.NewClient(t, r.Handler(), revision, i.Token(t, nil))
				for _, p := range r.Plans() {
					if p.Tool.Name == "file" && (answer == "" || strings.Contains(answer, "/")) {
						continue // the name of a file is one segment: what is left is a part
					}
					told = nil
					w := c.Call(p.Tool.Name)
					text := w.Body.String()
					if len(told) != 2 || told[0] != answer || told[1] == "" {
						t.Fatalf("%s: the service was told %q", p.Tool.Name, told)
					}
					leaks := gatewaytest.Canaries{"token": answer, "identity": told[1][strings.LastIndexByte(told[1], '.')+1:]}
					if names := leaks.Found(text); len(names) > 0 || !strings.Contains(text, "redacted") && p.Tool.Name != "long" {
						t.Errorf("%s %s: %v came out: %s", revision, p.Tool.Name, names, text)
					}
				}
			}
		})
	}
}
