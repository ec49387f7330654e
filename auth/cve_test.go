package auth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/test/timebox"
)

// The tests of this file are named after advisories about other products, and
// hold what would have gone wrong there against this package. `make cve` lists them.

// refused sends requests that must not get through.
func (h *house) refused(what string, r *http.Request) {
	h.t.Helper()
	w := httptest.NewRecorder()
	h.guard.Protect(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		h.t.Errorf("%s: let in", what)
	})).ServeHTTP(w, r)
	if w.Code < 400 || w.Code > 503 {
		h.t.Errorf("%s: status %d", what, w.Code)
	}
}

func bearerRequest(token string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

// A token of dots made golang.org/x/oauth2/jws split it into as many parts.
func TestCVE_2025_22868_TokenOfDots(t *testing.T) {
	h := opaqueHouse(t, nil)
	many := "a" + strings.Repeat(".", maxToken-1)
	allocated := testing.AllocsPerRun(20, func() { h.refused("dots", bearerRequest(many)) })
	if allocated > 300 {
		t.Errorf("%v allocations", allocated)
	}
	h.refused("more dots", bearerRequest("a"+strings.Repeat(".", 10*maxToken)))
}

// The same in the header of golang-jwt, and in go-jose.
func TestCVE_2025_30204_TokenOfDotsWithHeader(t *testing.T) {
	h := newHouse(t, nil)
	h.refused("dots", bearerRequest("eyJhbGciOiJFUzI1NiJ9"+strings.Repeat(".", maxToken-100)))
}

// See TestCVE_2025_30204_TokenOfDotsWithHeader.
func TestCVE_2025_27144_PartsOfJOSE(t *testing.T) {
	h := dpopHouse(t, DPoPAccept, DPoPAccept)
	token := h.keyA.token(h.a.url, h.now, nil)
	for _, proof := range []string{strings.Repeat(".", maxProof), strings.Repeat("a.", maxProof/2), "a.b.c.d.e"} {
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		r.Header.Set("Authorization", "DPoP "+token)
		r.Header.Set("DPoP", proof)
		h.refused("proof of dots", r)
	}
}

// A JWE without what its algorithm needs made go-jose panic: here none gets so far.
func TestCVE_2026_34986_EncryptedToken(t *testing.T) {
	h := newHouse(t, nil)
	e := base64.RawURLEncoding.EncodeToString
	for _, alg := range []string{"dir", "A128KW", "A256GCMKW", "ECDH-ES", "RSA-OAEP", "PBES2-HS256+A128KW"} {
		head := e(fmt.Appendf(nil, `{"alg":%q,"enc":"A128GCM","p2c":2147483647}`, alg))
		for _, rest := range []string{"....", ".a.b.c.d", "..b.c.", ".AA.AA.AA.AA"} {
			h.refused(alg, bearerRequest(head+rest))
			h.refused(alg+" in three parts", bearerRequest(head+rest[:min(len(rest), 4)]))
		}
	}
	if n := h.a.fetches.Load() + h.b.fetches.Load(); n != 0 {
		t.Errorf("%d fetches", n)
	}
}

// A fabricated key got through LiteLLM because what failed as a token was passed
// on. Here nothing is tried after a token of one kind has failed.
func TestCVE_2026_59822_FabricatedToken(t *testing.T) {
	for _, h := range []*house{newHouse(t, nil), opaqueHouse(t, nil)} {
		stale := h.keyB.token(h.b.url, h.now, map[string]any{"exp": h.now.Unix() - 3600})
		for _, token := range []string{"sk-1234", "sk-", "null", "undefined", "anonymous", "Bearer", "0", stale, stale + "x", h.keyA.token(h.b.url, h.now, nil)} {
			h.refused(token[:min(len(token), 10)], bearerRequest(token))
		}
		if h.a.question != "" && strings.Contains(h.a.question, "eyJ") {
			t.Errorf("a JWT that failed was asked about: %s", h.a.question)
		}
	}
}

// The MCP Toolbox took an answer without "active" for a good one.
func TestCVE_2026_11717_AnswerWithoutActive(t *testing.T) {
	h := opaqueHouse(t, nil)
	for n, active := range []string{"", "null", `"true"`, "1", "{}", "[]", `"false"`} {
		token := fmt.Sprint("token-", n)
		h.a.answers[token] = h.activeAnswer(h.now, map[string]string{"active": active})
		h.refused("active "+active, bearerRequest(token))
	}
}

// The MCP Toolbox took an answer about a token for another service for a good one.
func TestCVE_2026_11718_AnswerForAnotherAudience(t *testing.T) {
	h := opaqueHouse(t, nil)
	for n, aud := range []string{"", `"https://other.example"`, "[]", `["https://mcp.example.com/mcp/x"]`, "{}"} {
		token := fmt.Sprint("token-", n)
		h.a.answers[token] = h.activeAnswer(h.now, map[string]string{"aud": aud})
		h.refused("aud "+aud, bearerRequest(token))
	}
}

// A token for one deployment of the MCP Registry was good at all others, which
// shared an audience.
func TestCVE_2026_44428_SharedAudience(t *testing.T) {
	h := newHouse(t, nil)
	for _, aud := range []any{nil, "mcp", "https://mcp.example.com", "https://staging.example.com/mcp", []string{"https://mcp.example.com/mcp2", "*"}} {
		h.refused(fmt.Sprint(aud), bearerRequest(h.keyA.token(h.a.url, h.now, map[string]any{"aud": aud})))
	}
}

// Oathkeeper remembered answers by token alone: what one endpoint had said
// counted for another.
func TestCVE_2026_33496_VerdictOfAnotherEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := opaqueHouse(t, func(o *Options) { o.Now, o.Issuers[0].Introspection.Endpoint = nil, "" })
		h.a.document = map[string]any{"introspection_endpoint": h.a.url + "/introspect"}
		h.b.answers = map[string]string{} // knows no token
		h.a.answers["token"] = h.activeAnswer(time.Now(), nil)
		h.wantStatus("at the first endpoint", "token", http.StatusOK)
		h.guard.opaqueIssuer.introspector.setEndpoint(h.a.url, h.b.url+"/introspect")
		h.refused("at the second", bearerRequest("token"))
		h.guard.opaqueIssuer.introspector.setEndpoint(h.a.url, h.a.url+"/introspect")
		h.wantStatus("at the first again", "token", http.StatusOK)
		if a, b := h.a.asked.Load(), h.b.asked.Load(); a != 1 || b != 1 {
			t.Errorf("asked %d and %d times", a, b)
		}
	})
}

// Keys that were removed from a set stayed valid in jwkset.
func TestCVE_2025_22149_RemovedKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, func(o *Options) { o.Now = nil })
		run(t, h)
		token := h.keyA.token(h.a.url, time.Now(), nil)
		h.wantStatus("before", token, http.StatusOK)
		h.a.change(func() { h.a.keys = []signer{newES256("other")} })
		time.Sleep(refreshEvery + time.Second)
		h.refused("cached token of a removed key", bearerRequest(token))
		h.refused("new token of a removed key", bearerRequest(h.keyA.token(h.a.url, time.Now(), map[string]any{"jti": "2"})))
	})
}

// Traefik read whatever an authentication server sent.
func TestCVE_2026_26998_EndlessAnswer(t *testing.T) {
	big := bytes.Repeat([]byte(" "), 8<<20)
	h := opaqueHouse(t, nil)
	h.a.answers["token"] = string(big)
	h.b.keySet = big
	h.refused("introspection", bearerRequest("token"))
	h.refused("key set", bearerRequest(h.keyB.token(h.b.url, h.now, nil)))
	for _, s := range h.guard.Status() {
		if s.Err == nil || !strings.Contains(s.Err.Error(), "answer of more than") {
			t.Errorf("%s: %v", s.Issuer, s.Err)
		}
	}
}

// Traefik let requests in when its authentication could not be set up.
func TestCVE_2026_54762_ClosedOnFailure(t *testing.T) {
	for name, change := range map[string]func(*house){
		"server errors": func(h *house) { h.a.askCode, h.b.status = 500, 500 },
		"nonsense":      func(h *house) { h.a.answers["token"], h.b.keySet = "<html>", []byte("<html>") },
		"empty":         func(h *house) { h.a.answers["token"], h.b.keySet = "", []byte(`{}`) },
		"gone":          func(h *house) { h.network.listeners = nil },
		"no keys":       func(h *house) { h.b.keySet = []byte(`{"keys":[]}`) },
	} {
		h := opaqueHouse(t, nil)
		change(h)
		h.refused(name+", opaque", bearerRequest("token"))
		h.refused(name+", JWT", bearerRequest(h.keyB.token(h.b.url, h.now, nil)))
	}
	if guard, err := New(Options{Resource: resource, DefaultScopes: []string{"a"}, Client: client(t, &memory{})}); err == nil || guard != nil {
		t.Error("a guard without issuers")
	}
}

// ToolHive followed redirects of discovery to wherever they led.
func TestCVE_2026_58196_RedirectInDiscovery(t *testing.T) {
	h := opaqueHouse(t, nil)
	h.b.location = h.a.url + "/keys" // another origin
	h.refused("key set elsewhere", bearerRequest(h.keyA.token(h.b.url, h.now, nil)))
	if n := h.a.fetches.Load(); n != 0 {
		t.Errorf("%d requests to another origin", n)
	}
	h.a.askCode = http.StatusFound
	h.refused("introspection elsewhere", bearerRequest("token"))
	if n := h.a.asked.Load(); n != 1 {
		t.Errorf("the token was sent %d times", n)
	}
}

// mcp-remote ran what a hostile server named as its authorization endpoint. What
// we publish is configuration, whatever an authorization server says of itself.
func TestCVE_2025_6514_PublishedURLs(t *testing.T) {
	h := newHouse(t, nil)
	h.a.document = map[string]any{"authorization_endpoint": "a:$(calc.exe)", "resource": "https://evil.example"}
	h.wantStatus("a token", h.keyA.token(h.a.url, h.now, nil), http.StatusOK)
	w := httptest.NewRecorder()
	h.guard.Metadata().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "https://evil.example/", nil))
	if s := w.Body.String(); strings.Contains(s, "evil") || strings.Contains(s, "calc") {
		t.Error(s)
	}
	if _, err := New(Options{Resource: resource, DefaultScopes: []string{"a"}, Client: client(t, &memory{}), Issuers: []Issuer{{URL: "javascript://x/%0aalert(1)"}}}); err == nil {
		t.Error("an issuer that is no https URL")
	}
}

// The OAuth proxy of FastMCP could be used to get tokens for others. The gateway
// hands out no tokens: who does stands elsewhere.
func TestCVE_2026_27124_NoAuthorizationServer(t *testing.T) {
	h := newHouse(t, nil)
	var document struct {
		Servers []string `json:"authorization_servers"`
	}
	if err := json.Unmarshal(h.guard.metadata, &document); err != nil || len(document.Servers) != 2 {
		t.Fatal(err, document)
	}
	for _, s := range document.Servers {
		if strings.HasPrefix(s, "https://mcp.example.com") {
			t.Errorf("%s is the gateway", s)
		}
	}
}

// oauth2-proxy let requests in that named a health checker, and by what proxies
// write into headers. See also CVE-2025-54576, CVE-2026-40575 and CVE-2026-41059.
func TestCVE_2026_34457_NoWayAround(t *testing.T) {
	h := newHouse(t, func(o *Options) { o.Issuers[0].DPoP = DPoPAccept })
	for _, target := range []string{"/mcp", "/mcp/", "/healthz", "/ping", "/mcp?x=/.well-known/", "/.well-known/../mcp", "/mcp;/ping", "//mcp", "/mcp%2f..%2fping"} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", ""} {
			r := httptest.NewRequest(http.MethodGet, target, nil)
			r.Method = method
			for name, value := range map[string]string{
				"User-Agent": "GoogleHC/1.0 kube-probe", "X-Forwarded-Uri": "/ping", "X-Original-URL": "/ping", "X-Rewrite-URL": "/ping",
				"X-Forwarded-User": "alice", "X-Forwarded-For": "127.0.0.1", "X-Auth-Request-User": "alice", "X_Forwarded_User": "alice",
				"Proxy-Authorization": "Bearer x", "X-Authorization": "Bearer x", "Authorization_": "Bearer x", "X-Client-Cert": "x",
				"Mcp-Session-Id": "x", "Cookie": "access_token=x", "X-HTTP-Method-Override": "OPTIONS",
			} {
				r.Header[name] = []string{value}
			}
			h.refused(method+" "+target, r)
		}
	}
}

// A header of the Kuadrant gateway changed where a request went, and whether its
// token was looked at.
func TestGHSA_g53w_w6mj_hrpp_HeadersChangeNothing(t *testing.T) {
	h := newHouse(t, nil)
	r := bearerRequest("x.y.z")
	r.Host = "localhost"
	for _, name := range []string{"Mcp-Init-Host", "X-Forwarded-Host", "Forwarded", "X-Mcp-Authorized", "Mcp-Session-Id", "Router-Key"} {
		r.Header.Set(name, "secret-api-key")
	}
	h.refused("headers", r)
	w := h.serve(r)
	if got := w.Header().Get("WWW-Authenticate"); strings.Contains(got, "localhost") || !strings.Contains(got, "https://mcp.example.com/") {
		t.Error(got)
	}
}

// Member names were folded by case, and cut at NUL, in the Go SDK of MCP: two
// readers of one token could see two of them.
func TestCVE_2026_27896_FoldedNames(t *testing.T) {
	h := opaqueHouse(t, func(o *Options) { o.Issuers[1].DPoP = DPoPAccept })
	for n, name := range []string{"Exp", "EXP", "AUD", "Iss", "SCOPE", "Cnf", "sub\u0000", " sub", "Token_Use"} {
		h.refused("claim "+name, bearerRequest(h.keyB.token(h.b.url, h.now, map[string]any{name: "x"})))
		token := fmt.Sprint("token-", n)
		quoted, _ := json.Marshal(name)
		h.a.answers[token] = strings.Replace(h.activeAnswer(h.now, nil), "{", "{"+string(quoted)+`:"x",`, 1)
		h.refused("answer "+name, bearerRequest(token))
	}
	h.a.answers["control"] = strings.Replace(h.activeAnswer(h.now, nil), "{", `{"other":"x",`, 1)
	h.wantStatus("another name", "control", http.StatusOK)
	h.a.answers["active"] = h.activeAnswer(h.now, map[string]string{"active": "", "ACTIVE": "true"})
	h.refused("answer ACTIVE", bearerRequest("active"))
}

// A gateway of obot connected callers to what they only knew the id of: access
// that no rule gives is not given.
func TestGHSA_vw82_7fv8_r6gp_NothingWithoutARule(t *testing.T) {
	_, err := New(Options{Resource: resource, Client: client(t, &memory{}), Issuers: []Issuer{{URL: "https://idp.example.com"}}})
	if err == nil {
		t.Error("a guard without default scopes")
	}
	h := newHouse(t, nil)
	views := h.guard.Views([][]string{nil, {"orders:admin"}})
	for _, p := range []*Principal{nil, {}, {Scopes: []string{"orders"}}, {Scopes: []string{"mcp"}}, {Scopes: []string{"*"}}} {
		for n, set := range [][]string{nil, {"orders:admin"}} {
			if h.guard.Allows(p, set) || views.Of(p).Has(n) {
				t.Errorf("%+v has %q", p, set)
			}
		}
	}
}

// Shared clients and instances gave one user what was another's, in the GitHub
// server and in the TypeScript SDK (CVE-2026-25536).
func TestCVE_2026_48529_OwnPrincipal(t *testing.T) {
	h := opaqueHouse(t, nil)
	h.a.answers["alice-token"] = h.activeAnswer(h.now, nil)
	h.a.answers["bob-token"] = h.activeAnswer(h.now, map[string]string{"sub": `"bob"`})
	tokens := map[string]string{
		"alice-token": "|alice", "bob-token": "|bob",
		h.keyB.token(h.b.url, h.now, map[string]any{"sub": "carol"}): "|carol",
		h.keyB.token(h.b.url, h.now, map[string]any{"sub": "dave"}):  "|dave",
	}
	done := make(chan struct{})
	for range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 50 {
				for token, want := range tokens {
					if body := h.call(token).Body.String(); !strings.Contains(body, want+" ") {
						t.Errorf("%s: %s", want, body)
					}
				}
			}
		}()
	}
	for range 4 {
		timebox.Wait(t, done)
	}
}
