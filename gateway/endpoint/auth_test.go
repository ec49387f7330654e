package endpoint_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

func TestTokens(t *testing.T) {
	g, i, service := gatewaytest.Protected(t)
	stranger := gatewaytest.NewIDP(t)
	stranger.URL = i.URL // claims to be the other, and signs with its own key
	for _, tt := range []struct {
		name, token string
		status      int
		challenge   string
	}{
		{"none", "", 401, gatewaytest.Challenge},
		{"of another gateway", i.Token(t, map[string]any{"aud": "https://other.example.com/mcp"}), 401,
			`Bearer error="invalid_token", error_description="the access token is not valid here", ` + strings.TrimPrefix(gatewaytest.Challenge, "Bearer ")},
		{"signed by another", stranger.Token(t, nil), 401,
			`Bearer error="invalid_token", error_description="the access token is not valid here", ` + strings.TrimPrefix(gatewaytest.Challenge, "Bearer ")},
		{"expired", i.Token(t, map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}), 401,
			`Bearer error="invalid_token", error_description="the access token has expired", ` + strings.TrimPrefix(gatewaytest.Challenge, "Bearer ")},
		{"no token at all", "not a token", 400,
			`Bearer error="invalid_request", error_description="exactly one access token must be sent, in the Authorization header", ` +
				strings.TrimPrefix(gatewaytest.Challenge, "Bearer ")},
		{"good", i.Token(t, nil), 200, ""},
		{"good by implication", i.Token(t, map[string]any{"scope": "orders:all"}), 200, ""},
	} {
		for _, revision := range gatewaytest.Eras {
			w := gatewaytest.NewClient(t, g.Handler(), revision, tt.token).Call("list")
			if got := w.Header().Get("WWW-Authenticate"); w.Code != tt.status || got != tt.challenge || (tt.status == 200) != gatewaytest.Succeeded(w) {
				t.Errorf("%s, %s: %d, WWW-Authenticate %s\nwant %d, %s\n%s", tt.name, revision, w.Code, got, tt.status, tt.challenge, w.Body)
			}
			if reached := len(service.Taken()); (tt.status == 200) != (reached == 1) {
				t.Errorf("%s, %s: %d requests reached the service", tt.name, revision, reached)
			}
		}
	}
	// Everything else on the endpoint wants a token too.
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut, http.MethodOptions} {
		w := gatewaytest.Do(g.Handler(), method, "/mcp", nil)
		if w.Code != 401 || w.Header().Get("WWW-Authenticate") != gatewaytest.Challenge {
			t.Errorf("%s = %d %v", method, w.Code, w.Header())
		}
	}
}

// TestScopes is Z2 and Z3: what a caller lacks is an HTTP 403 in every revision, with all that the next token needs,
// and nothing of the call is executed.
func TestScopes(t *testing.T) {
	g, i, service := gatewaytest.Protected(t)
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
		for _, revision := range gatewaytest.Eras {
			w := gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, map[string]any{"scope": tt.scope})).Call(tt.tool)
			reached := len(service.Taken())
			if tt.need == "" {
				if !gatewaytest.Succeeded(w) || reached != 1 {
					t.Errorf("%s with %q, %s: %d %s", tt.tool, tt.scope, revision, w.Code, w.Body)
				}
				continue
			}
			want := `Bearer error="insufficient_scope", error_description="the access token lacks a scope that this call needs", scope="` +
				tt.need + `", resource_metadata="` + gatewaytest.MetadataURL + `"`
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
	w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, nil)).Send("tools/call", "purge", `{"no":1}`)
	if w.Code != 403 {
		t.Errorf("wrong arguments without the scope = %d %s", w.Code, w.Body)
	}
}

// TestMetadata is RFC 9728: the document stands at both paths, for everybody, whatever the request says of its host.
func TestMetadata(t *testing.T) {
	g, i, _ := gatewaytest.Protected(t)
	want := `{"resource":"` + gatewaytest.ResourceURL + `","authorization_servers":["` + i.URL + `"],"scopes_supported":["mcp:tools"],"bearer_methods_supported":["header"]}`
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		for _, header := range []http.Header{nil, {"Origin": {"https://anywhere.example"}}, {"Host": {"evil.example"}, "X-Forwarded-Host": {"evil.example"}}} {
			w := gatewaytest.Do(g.Handler(), http.MethodGet, path, header)
			if w.Code != 200 || w.Body.String() != want || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%s with %v = %d %v %s", path, header, w.Code, w.Header(), w.Body)
			}
		}
		w := gatewaytest.Do(g.Handler(), http.MethodOptions, path, http.Header{
			"Origin": {"https://anywhere.example"}, "Access-Control-Request-Method": {"GET"}, "Access-Control-Request-Headers": {"mcp-protocol-version"}})
		if w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Access-Control-Allow-Headers") != "MCP-Protocol-Version" {
			t.Errorf("preflight of %s = %d %v", path, w.Code, w.Header())
		}
	}
	for _, path := range []string{"/.well-known/oauth-protected-resource/other", "/.well-known/oauth-protected-resource/", "/.well-known/openid-configuration", "/"} {
		if w := gatewaytest.Do(g.Handler(), http.MethodGet, path, nil); w.Code != 404 {
			t.Errorf("%s = %d", path, w.Code)
		}
	}
	anonymous := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), "", "http://127.0.0.1:1")
	if w := gatewaytest.Do(anonymous.Handler(), http.MethodGet, "/.well-known/oauth-protected-resource/mcp", nil); w.Code != 404 {
		t.Errorf("metadata of an anonymous gateway = %d %s", w.Code, w.Body)
	}
}

// TestMetadataBeforeTheFirstDocument lets clients find the authorization server while all APIs are still down, even
// before Run has begun.
func TestMetadataBeforeTheFirstDocument(t *testing.T) {
	i := gatewaytest.NewIDP(t)
	cfg := fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i))
	g, err := gateway.New(gateway.Options{Config: gatewaytest.Configure(t, t.TempDir(), "openapi: [", cfg, "http://127.0.0.1:1")})
	if err != nil {
		t.Fatal(err)
	}
	if w := gatewaytest.Do(g.Handler(), http.MethodGet, "/.well-known/oauth-protected-resource", nil); w.Code != 200 {
		t.Errorf("metadata = %d %s", w.Code, w.Body)
	}
	w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, nil)).Call("list")
	if w.Code != 503 || w.Header().Get("Retry-After") != "1" || len(w.Header().Get("X-Request-Id")) != 16 || w.Body.String() != "no API is served yet\n" {
		t.Errorf("call = %d %v %s", w.Code, w.Header(), w.Body)
	}
}

// TestCallerTokenStaysHere is T1: the service gets the gateway's own credential and nothing of the caller's.
func TestCallerTokenStaysHere(t *testing.T) {
	g, i, service := gatewaytest.Protected(t)
	token := i.Token(t, nil)
	for _, revision := range gatewaytest.Eras {
		c := gatewaytest.NewClient(t, g.Handler(), revision, token)
		for name, value := range map[string]string{
			"Cookie": "session=" + token, "X-Key": "of the caller", "X-Forwarded-For": "10.0.0.1", "Proxy-Authorization": "Bearer " + token,
			"Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "Baggage": "token=" + token,
		} {
			c.Header.Set(name, value)
		}
		if w := c.Call("list"); !gatewaytest.Succeeded(w) {
			t.Fatalf("call = %d %s", w.Code, w.Body)
		}
		requests := service.Taken()
		if len(requests) != 1 {
			t.Fatalf("%d requests", len(requests))
		}
		want := http.Header{"Accept": {"application/json"}, "X-Key": {"upstream-key"}, "Traceparent": c.Header["Traceparent"]}
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
	g, i, service := gatewaytest.Protected(t)
	revision := gatewaytest.Eras[1]
	alice := gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, nil))
	if w := alice.Call("list"); !gatewaytest.Succeeded(w) {
		t.Fatalf("alice's call = %d %s", w.Code, w.Body)
	}
	service.Taken()
	for name, token := range map[string]string{
		"another subject": i.Token(t, map[string]any{"sub": "bob"}),
		"a client":        i.Token(t, map[string]any{"sub": ""}),
	} {
		thief := gatewaytest.NewClient(t, g.Handler(), revision, token)
		thief.Session = alice.Session
		want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"session not found: it has ended; send initialize to begin another"}}`
		if w := thief.Call("list"); w.Code != 404 || w.Body.String() != want {
			t.Errorf("%s with alice's session = %d %s", name, w.Code, w.Body)
		}
		header := thief.Header.Clone()
		header.Set("Mcp-Session-Id", alice.Session)
		header.Set("MCP-Protocol-Version", revision)
		if w := gatewaytest.Do(g.Handler(), http.MethodDelete, "/mcp", header); w.Code != 404 {
			t.Errorf("%s ends alice's session: %d", name, w.Code)
		}
	}
	if n := len(service.Taken()); n != 0 {
		t.Errorf("%d calls were executed", n)
	}
	nobody := gatewaytest.NewClient(t, g.Handler(), revision, "")
	nobody.Session = alice.Session
	if w := nobody.Call("list"); w.Code != 401 {
		t.Errorf("a session instead of a token = %d", w.Code)
	}
	// A new token of the same subject goes on with the session.
	alice.Header.Set("Authorization", "Bearer "+i.Token(t, map[string]any{"jti": "2"}))
	if w := alice.Call("list"); !gatewaytest.Succeeded(w) {
		t.Errorf("alice's call with a new token = %d %s", w.Code, w.Body)
	}
}

// TestBrowsers is H1 to H3: preflights carry no token and are answered; a page that is let in can read a 401; all
// others are refused before anybody looks at their token.
func TestBrowsers(t *testing.T) {
	g, i, service := gatewaytest.Protected(t)
	token := i.Token(t, nil)
	preflight := http.Header{"Origin": {gatewaytest.AppOrigin}, "Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {"authorization,content-type"}}
	w := gatewaytest.Do(g.Handler(), http.MethodOptions, "/mcp", preflight)
	if w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != gatewaytest.AppOrigin || !strings.Contains(w.Header().Get("Access-Control-Allow-Headers"), "Authorization") ||
		w.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("preflight = %d %v", w.Code, w.Header())
	}
	for _, tt := range []struct {
		token  string
		status int
	}{{"", 401}, {token, 200}, {i.Token(t, map[string]any{"scope": ""}), 403}} {
		c := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], tt.token)
		c.Header.Set("Origin", gatewaytest.AppOrigin)
		w := c.Call("list")
		h := w.Header()
		if w.Code != tt.status || h.Get("Access-Control-Allow-Origin") != gatewaytest.AppOrigin || !strings.Contains(h.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") ||
			h.Get("Access-Control-Allow-Credentials") != "" || !slices.Contains(h["Vary"], "Origin") {
			t.Errorf("call from the page = %d %v, want %d", w.Code, h, tt.status)
		}
	}
	service.Taken()
	for _, tt := range []struct{ host, origin, want string }{
		{"", "https://evil.example", "the Origin of this request is not allowed"},
		{"", "null", "the Origin of this request is not allowed"},
		{"", gatewaytest.AppOrigin + ".evil.example", "the Origin of this request is not allowed"},
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
			w := gatewaytest.Do(g.Handler(), method, "/mcp", header)
			want := `{"jsonrpc":"2.0","error":{"code":-32600,"message":"` + tt.want + `"}}`
			if w.Code != 403 || w.Body.String() != want || w.Header().Get("WWW-Authenticate") != "" || w.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s from %+v = %d %v %s", method, tt, w.Code, w.Header(), w.Body)
			}
		}
	}
	if n := len(service.Taken()); n != 0 {
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
	never, i, service := gatewaytest.NewIDP(t), gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	good, unknown, unseen := i.Token(t, nil), i.Token(t, map[string]any{"kid": "k2"}), never.Token(t, nil)
	never.Close()
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge"), fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(never, i)), service.URL)
	for _, revision := range gatewaytest.Eras {
		if w := gatewaytest.NewClient(t, g.Handler(), revision, good).Call("list"); !gatewaytest.Succeeded(w) {
			t.Errorf("while another issuer is down: %d %s", w.Code, w.Body)
		}
	}
	if w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], unknown).Call("list"); w.Code != 401 {
		t.Errorf("a key that the issuer does not know = %d, want 401", w.Code)
	}
	i.Close()
	for _, revision := range gatewaytest.Eras {
		unavailable("issuer that was never reached", gatewaytest.NewClient(t, g.Handler(), revision, unseen).Call("list"))
		unavailable("unknown key", gatewaytest.NewClient(t, g.Handler(), revision, unknown).Call("list"))
		if w := gatewaytest.NewClient(t, g.Handler(), revision, good).Call("list"); !gatewaytest.Succeeded(w) {
			t.Errorf("a token that was checked before = %d %s", w.Code, w.Body)
		}
		if w := gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, map[string]any{"sub": "bob"})).Call("list"); !gatewaytest.Succeeded(w) {
			t.Errorf("a new token of a known key = %d %s", w.Code, w.Body)
		}
	}
}
