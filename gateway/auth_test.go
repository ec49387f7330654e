package gateway

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"
)

const (
	publicURL   = "https://mcp.example.com"
	resourceURL = publicURL + "/mcp"
	metadataURL = publicURL + "/.well-known/oauth-protected-resource/mcp"
	appOrigin   = "https://app.example.com"
	challenge   = `Bearer scope="mcp:tools", resource_metadata="` + metadataURL + `"`
)

// eras are a revision of each era of the protocol.
var eras = []string{"2026-07-28", "2025-06-18"}

// idp is an authorization server that tests take tokens from.
type idp struct {
	*httptest.Server
	key *ecdsa.PrivateKey
}

func newIDP(t *testing.T) *idp {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &idp{key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, i.URL, i.URL+"/jwks")
	})
	mux.HandleFunc("GET /jwks", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
			{Key: key.Public(), KeyID: "k1", Algorithm: string(jose.ES256), Use: "sig"}}})
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

// token signs an access token of alice with the scope mcp:tools; change replaces claims, and the key id under "kid".
func (i *idp) token(t *testing.T, change map[string]any) string {
	t.Helper()
	now := time.Now()
	claims := map[string]any{
		"iss": i.URL, "aud": resourceURL, "sub": "alice", "client_id": "app", "scope": "mcp:tools",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	maps.Copy(claims, change)
	id := "k1"
	if kid, ok := claims["kid"].(string); ok {
		id = kid
		delete(claims, "kid")
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: i.key, KeyID: id}},
		(&jose.SignerOptions{}).WithType("at+jwt"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// recordingService notes the requests that it gets.
type recordingService struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
}

func newRecordingService(t *testing.T) *recordingService {
	t.Helper()
	s := &recordingService{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r)
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"done":true}`))
	}))
	t.Cleanup(s.Close)
	return s
}

// taken returns the requests since the last call.
func (s *recordingService) taken() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.requests
	s.requests = nil
	return taken
}

// protectedConfig is a configuration with tokens; purge needs a scope of its own. Format verbs: list of issuers.
const protectedConfig = `server: {public_url: https://mcp.example.com, allowed_origins: [https://app.example.com]}
auth:
  issuers: [%s]
  default_scopes: [mcp:tools]
  implies: {"orders:all": ["orders:admin", "mcp:tools"]}
apis: [{name: shop, spec: $SPEC, base_url: $BASE, credential: {type: api_key, in: header, name: X-Key, value: "${NONE:-upstream-key}"}}]
rules:
  - {match: {operation: purge, optional: true}, set: {scopes: ["orders:admin"]}}
`

func issuers(list ...*idp) string {
	var items []string
	for _, i := range list {
		items = append(items, fmt.Sprintf("{issuer: %q}", i.URL))
	}
	return strings.Join(items, ", ")
}

// client sends requests of one revision with one token.
type client struct {
	t        *testing.T
	h        http.Handler
	revision string
	header   http.Header // sent with every request
	query    string      // of the URL, with its ?
	session  string      // of the legacy era
	// connection is the response to initialize.
	connection *httptest.ResponseRecorder
}

func newClient(t *testing.T, h http.Handler, revision, token string) *client {
	c := &client{t: t, h: h, revision: revision, header: http.Header{}}
	if token != "" {
		c.header.Set("Authorization", "Bearer "+token)
	}
	return c
}

// send sends one request; a legacy one gets a session first, with the same headers.
func (c *client) send(method, name, arguments string) *httptest.ResponseRecorder {
	c.t.Helper()
	header := c.header.Clone()
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json, text/event-stream")
	params := ""
	if name != "" {
		params = fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments)
	}
	if c.revision >= "2026" {
		header.Set("MCP-Protocol-Version", c.revision)
		header.Set("Mcp-Method", method)
		if name != "" {
			header.Set("Mcp-Name", name)
			params += ","
		}
		params += `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + c.revision + `","io.modelcontextprotocol/clientCapabilities":{}}`
	} else {
		if c.session == "" {
			w := postTo(c.h, "/mcp"+c.query, header.Clone(), `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+c.revision+
				`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
			if w.Code != http.StatusOK {
				return w
			}
			c.connection = w
			c.session = w.Header().Get("Mcp-Session-Id")
		}
		header.Set("MCP-Protocol-Version", c.revision)
		header.Set("Mcp-Session-Id", c.session)
	}
	return postTo(c.h, "/mcp"+c.query, header, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params))
}

// instructions connects and returns the instructions that the client gets.
func (c *client) instructions() string {
	c.t.Helper()
	w := c.send("server/discover", "", "")
	if c.revision < "2026" {
		w = c.connection
	}
	var answer struct{ Result struct{ Instructions string } }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		c.t.Fatalf("%v: %s", err, w.Body)
	}
	return answer.Result.Instructions
}

func (c *client) call(tool string) *httptest.ResponseRecorder {
	return c.send("tools/call", tool, "{}")
}

func succeeded(w *httptest.ResponseRecorder) bool {
	return w.Code == http.StatusOK && strings.Contains(w.Body.String(), `"structuredContent":{"done":true}`)
}

// protected is a gateway that wants tokens of an authorization server.
func protected(t *testing.T) (*Gateway, *idp, *recordingService) {
	t.Helper()
	i, service := newIDP(t), newRecordingService(t)
	g := start(t, document("Shop", "list", "purge"), fmt.Sprintf(protectedConfig, issuers(i)), service.URL)
	return g, i, service
}

func TestTokens(t *testing.T) {
	g, i, service := protected(t)
	stranger := newIDP(t)
	stranger.URL = i.URL // claims to be the other, and signs with its own key
	for _, tt := range []struct {
		name, token string
		status      int
		challenge   string
	}{
		{"none", "", 401, challenge},
		{"of another gateway", i.token(t, map[string]any{"aud": "https://other.example.com/mcp"}), 401,
			`Bearer error="invalid_token", error_description="the access token is not valid here", ` + strings.TrimPrefix(challenge, "Bearer ")},
		{"signed by another", stranger.token(t, nil), 401,
			`Bearer error="invalid_token", error_description="the access token is not valid here", ` + strings.TrimPrefix(challenge, "Bearer ")},
		{"expired", i.token(t, map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}), 401,
			`Bearer error="invalid_token", error_description="the access token has expired", ` + strings.TrimPrefix(challenge, "Bearer ")},
		{"no token at all", "not a token", 400,
			`Bearer error="invalid_request", error_description="exactly one access token must be sent, in the Authorization header", ` +
				strings.TrimPrefix(challenge, "Bearer ")},
		{"good", i.token(t, nil), 200, ""},
		{"good by implication", i.token(t, map[string]any{"scope": "orders:all"}), 200, ""},
	} {
		for _, revision := range eras {
			w := newClient(t, g.Handler(), revision, tt.token).call("list")
			if got := w.Header().Get("WWW-Authenticate"); w.Code != tt.status || got != tt.challenge || (tt.status == 200) != succeeded(w) {
				t.Errorf("%s, %s: %d, WWW-Authenticate %s\nwant %d, %s\n%s", tt.name, revision, w.Code, got, tt.status, tt.challenge, w.Body)
			}
			if reached := len(service.taken()); (tt.status == 200) != (reached == 1) {
				t.Errorf("%s, %s: %d requests reached the service", tt.name, revision, reached)
			}
		}
	}
	// Everything else on the endpoint wants a token too.
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut, http.MethodOptions} {
		w := do(g.Handler(), method, "/mcp", nil)
		if w.Code != 401 || w.Header().Get("WWW-Authenticate") != challenge {
			t.Errorf("%s = %d %v", method, w.Code, w.Header())
		}
	}
}

// do sends a request without a body.
func do(h http.Handler, method, target string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8080"+target, nil)
	maps.Copy(r.Header, header)
	if host := header.Get("Host"); host != "" {
		r.Host = host
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestScopes is Z2 and Z3: what a caller lacks is an HTTP 403 in every revision, with all that the next token needs,
// and nothing of the call is executed.
func TestScopes(t *testing.T) {
	g, i, service := protected(t)
	for _, tt := range []struct {
		tool, scope string
		need        string // the scopes of the challenge; "": it is let through
	}{
		{"list", "", "mcp:tools"},
		{"list", "orders:read profile offline_access", "orders:read profile mcp:tools"},
		{"list", "mcp:tool mcp:tools:x MCP:TOOLS", "mcp:tool mcp:tools:x MCP:TOOLS mcp:tools"},
		{"list", "x mcp:tools", ""},
		{"purge", "mcp:tools", "mcp:tools orders:admin"},
		{"purge", "", "orders:admin"},
		{"purge", "orders:admin", ""},
		{"purge", "orders:all", ""},
	} {
		for _, revision := range eras {
			w := newClient(t, g.Handler(), revision, i.token(t, map[string]any{"scope": tt.scope})).call(tt.tool)
			reached := len(service.taken())
			if tt.need == "" {
				if !succeeded(w) || reached != 1 {
					t.Errorf("%s with %q, %s: %d %s", tt.tool, tt.scope, revision, w.Code, w.Body)
				}
				continue
			}
			want := `Bearer error="insufficient_scope", error_description="the access token lacks a scope that this call needs", scope="` +
				tt.need + `", resource_metadata="` + metadataURL + `"`
			if got := w.Header().Get("WWW-Authenticate"); w.Code != 403 || got != want {
				t.Errorf("%s with %q, %s: %d %s\nwant 403 %s", tt.tool, tt.scope, revision, w.Code, got, want)
			}
			if want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"insufficient scope for this tool"}}`; w.Body.String() != want {
				t.Errorf("%s with %q, %s: body %s", tt.tool, tt.scope, revision, w.Body)
			}
			if reached != 0 {
				t.Errorf("%s with %q, %s: reached the service", tt.tool, tt.scope, revision)
			}
		}
	}
	// Wrong arguments don't come first: who may not call learns nothing of the call.
	w := newClient(t, g.Handler(), eras[0], i.token(t, nil)).send("tools/call", "purge", `{"no":1}`)
	if w.Code != 403 {
		t.Errorf("wrong arguments without the scope = %d %s", w.Code, w.Body)
	}
}

// TestMetadata is RFC 9728: the document stands at both paths, for everybody, whatever the request says of its host.
func TestMetadata(t *testing.T) {
	g, i, _ := protected(t)
	want := `{"resource":"` + resourceURL + `","authorization_servers":["` + i.URL + `"],"scopes_supported":["mcp:tools"],"bearer_methods_supported":["header"]}`
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		for _, header := range []http.Header{nil, {"Origin": {"https://anywhere.example"}}, {"Host": {"evil.example"}, "X-Forwarded-Host": {"evil.example"}}} {
			w := do(g.Handler(), http.MethodGet, path, header)
			if w.Code != 200 || w.Body.String() != want || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%s with %v = %d %v %s", path, header, w.Code, w.Header(), w.Body)
			}
		}
		w := do(g.Handler(), http.MethodOptions, path, http.Header{
			"Origin": {"https://anywhere.example"}, "Access-Control-Request-Method": {"GET"}, "Access-Control-Request-Headers": {"mcp-protocol-version"}})
		if w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Access-Control-Allow-Headers") != "MCP-Protocol-Version" {
			t.Errorf("preflight of %s = %d %v", path, w.Code, w.Header())
		}
	}
	for _, path := range []string{"/.well-known/oauth-protected-resource/other", "/.well-known/oauth-protected-resource/", "/.well-known/openid-configuration", "/"} {
		if w := do(g.Handler(), http.MethodGet, path, nil); w.Code != 404 {
			t.Errorf("%s = %d", path, w.Code)
		}
	}
	anonymous := start(t, document("Shop", "list"), "", "http://127.0.0.1:1")
	if w := do(anonymous.Handler(), http.MethodGet, "/.well-known/oauth-protected-resource/mcp", nil); w.Code != 404 {
		t.Errorf("metadata of an anonymous gateway = %d %s", w.Code, w.Body)
	}
}

// TestMetadataBeforeTheFirstDocument lets clients find the authorization server while all APIs are still down, even
// before Run has begun.
func TestMetadataBeforeTheFirstDocument(t *testing.T) {
	i := newIDP(t)
	cfg := fmt.Sprintf(protectedConfig, issuers(i))
	g, err := New(Options{Config: configure(t, t.TempDir(), "openapi: [", cfg, "http://127.0.0.1:1")})
	if err != nil {
		t.Fatal(err)
	}
	if w := do(g.Handler(), http.MethodGet, "/.well-known/oauth-protected-resource", nil); w.Code != 200 {
		t.Errorf("metadata = %d %s", w.Code, w.Body)
	}
	w := newClient(t, g.Handler(), eras[0], i.token(t, nil)).call("list")
	if w.Code != 503 || w.Header().Get("Retry-After") != "1" || len(w.Header().Get("X-Request-Id")) != 16 || w.Body.String() != "no API is served yet\n" {
		t.Errorf("call = %d %v %s", w.Code, w.Header(), w.Body)
	}
}

// TestCallerTokenStaysHere is T1: the service gets the gateway's own credential and nothing of the caller's.
func TestCallerTokenStaysHere(t *testing.T) {
	g, i, service := protected(t)
	token := i.token(t, nil)
	for _, revision := range eras {
		c := newClient(t, g.Handler(), revision, token)
		for name, value := range map[string]string{
			"Cookie": "session=" + token, "X-Key": "of the caller", "X-Forwarded-For": "10.0.0.1", "Proxy-Authorization": "Bearer " + token,
			"Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "Baggage": "token=" + token,
		} {
			c.header.Set(name, value)
		}
		if w := c.call("list"); !succeeded(w) {
			t.Fatalf("call = %d %s", w.Code, w.Body)
		}
		requests := service.taken()
		if len(requests) != 1 {
			t.Fatalf("%d requests", len(requests))
		}
		want := http.Header{"Accept": {"application/json"}, "X-Key": {"upstream-key"}, "Traceparent": c.header["Traceparent"]}
		got := requests[0].Header.Clone()
		got.Del("User-Agent")
		got.Del("Accept-Encoding")
		if accept := got.Get("Accept"); strings.HasPrefix(accept, "application/json") {
			got.Set("Accept", "application/json")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: the service saw other headers (-want +got):\n%s", revision, diff)
		}
	}
}

// TestSessionsBelongToTheirPrincipal is T20: a legacy session id is worth nothing in other hands.
func TestSessionsBelongToTheirPrincipal(t *testing.T) {
	g, i, service := protected(t)
	revision := eras[1]
	alice := newClient(t, g.Handler(), revision, i.token(t, nil))
	if w := alice.call("list"); !succeeded(w) {
		t.Fatalf("alice's call = %d %s", w.Code, w.Body)
	}
	service.taken()
	for name, token := range map[string]string{
		"another subject": i.token(t, map[string]any{"sub": "bob"}),
		"a client":        i.token(t, map[string]any{"sub": ""}),
	} {
		thief := newClient(t, g.Handler(), revision, token)
		thief.session = alice.session
		want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"session not found: it has ended; send initialize to begin another"}}`
		if w := thief.call("list"); w.Code != 404 || w.Body.String() != want {
			t.Errorf("%s with alice's session = %d %s", name, w.Code, w.Body)
		}
		header := thief.header.Clone()
		header.Set("Mcp-Session-Id", alice.session)
		header.Set("MCP-Protocol-Version", revision)
		if w := do(g.Handler(), http.MethodDelete, "/mcp", header); w.Code != 404 {
			t.Errorf("%s ends alice's session: %d", name, w.Code)
		}
	}
	if n := len(service.taken()); n != 0 {
		t.Errorf("%d calls were executed", n)
	}
	nobody := newClient(t, g.Handler(), revision, "")
	nobody.session = alice.session
	if w := nobody.call("list"); w.Code != 401 {
		t.Errorf("a session instead of a token = %d", w.Code)
	}
	// A new token of the same subject goes on with the session.
	alice.header.Set("Authorization", "Bearer "+i.token(t, map[string]any{"jti": "2"}))
	if w := alice.call("list"); !succeeded(w) {
		t.Errorf("alice's call with a new token = %d %s", w.Code, w.Body)
	}
}

// TestBrowsers is H1 to H3: preflights carry no token and are answered; a page that is let in can read a 401; all
// others are refused before anybody looks at their token.
func TestBrowsers(t *testing.T) {
	g, i, service := protected(t)
	token := i.token(t, nil)
	preflight := http.Header{"Origin": {appOrigin}, "Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {"authorization,content-type"}}
	w := do(g.Handler(), http.MethodOptions, "/mcp", preflight)
	if w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != appOrigin || !strings.Contains(w.Header().Get("Access-Control-Allow-Headers"), "Authorization") ||
		w.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("preflight = %d %v", w.Code, w.Header())
	}
	for _, tt := range []struct {
		token  string
		status int
	}{{"", 401}, {token, 200}, {i.token(t, map[string]any{"scope": ""}), 403}} {
		c := newClient(t, g.Handler(), eras[0], tt.token)
		c.header.Set("Origin", appOrigin)
		w := c.call("list")
		h := w.Header()
		if w.Code != tt.status || h.Get("Access-Control-Allow-Origin") != appOrigin || !strings.Contains(h.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") ||
			h.Get("Access-Control-Allow-Credentials") != "" || !slices.Contains(h["Vary"], "Origin") {
			t.Errorf("call from the page = %d %v, want %d", w.Code, h, tt.status)
		}
	}
	service.taken()
	for _, tt := range []struct{ host, origin, want string }{
		{"", "https://evil.example", "the Origin of this request is not allowed"},
		{"", "null", "the Origin of this request is not allowed"},
		{"", appOrigin + ".evil.example", "the Origin of this request is not allowed"},
		{"evil.example", "", "the Host of this request is not served here"},
		{"evil.example", "http://evil.example", "the Host of this request is not served here"},
	} {
		for _, method := range []string{http.MethodPost, http.MethodOptions, http.MethodGet} {
			header := http.Header{"Authorization": {"Bearer " + token}, "Access-Control-Request-Method": {"POST"}}
			if tt.origin != "" {
				header.Set("Origin", tt.origin)
			}
			if tt.host != "" {
				header.Set("Host", tt.host)
			}
			w := do(g.Handler(), method, "/mcp", header)
			want := `{"jsonrpc":"2.0","error":{"code":-32600,"message":"` + tt.want + `"}}`
			if w.Code != 403 || w.Body.String() != want || w.Header().Get("WWW-Authenticate") != "" || w.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s from %+v = %d %v %s", method, tt, w.Code, w.Header(), w.Body)
			}
		}
	}
	if n := len(service.taken()); n != 0 {
		t.Errorf("%d calls were executed", n)
	}
}

// TestIssuerDown is T12: who brings a token that can't be checked now is told to come back, not to log in again; keys
// that were fetched before go on to work.
func TestIssuerDown(t *testing.T) {
	unavailable := func(name string, w *httptest.ResponseRecorder) {
		t.Helper()
		seconds, err := strconv.Atoi(w.Header().Get("Retry-After"))
		if w.Code != 503 || err != nil || seconds < 1 || seconds > 60 || w.Header().Get("WWW-Authenticate") != "" ||
			w.Body.String() != `{"error":"temporarily_unavailable","error_description":"the access token can not be checked at the moment"}`+"\n" {
			t.Errorf("%s = %d %v %s", name, w.Code, w.Header(), w.Body)
		}
	}
	never, i, service := newIDP(t), newIDP(t), newRecordingService(t)
	good, unknown, unseen := i.token(t, nil), i.token(t, map[string]any{"kid": "k2"}), never.token(t, nil)
	never.Close()
	g := start(t, document("Shop", "list", "purge"), fmt.Sprintf(protectedConfig, issuers(never, i)), service.URL)
	for _, revision := range eras {
		if w := newClient(t, g.Handler(), revision, good).call("list"); !succeeded(w) {
			t.Errorf("while another issuer is down: %d %s", w.Code, w.Body)
		}
	}
	if w := newClient(t, g.Handler(), eras[0], unknown).call("list"); w.Code != 401 {
		t.Errorf("a key that the issuer does not know = %d, want 401", w.Code)
	}
	i.Close()
	for _, revision := range eras {
		unavailable("issuer that was never reached", newClient(t, g.Handler(), revision, unseen).call("list"))
		unavailable("unknown key", newClient(t, g.Handler(), revision, unknown).call("list"))
		if w := newClient(t, g.Handler(), revision, good).call("list"); !succeeded(w) {
			t.Errorf("a token that was checked before = %d %s", w.Code, w.Body)
		}
		if w := newClient(t, g.Handler(), revision, i.token(t, map[string]any{"sub": "bob"})).call("list"); !succeeded(w) {
			t.Errorf("a new token of a known key = %d %s", w.Code, w.Body)
		}
	}
}
