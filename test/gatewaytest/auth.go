package gatewaytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"drawbridge/gateway"
)

// These are the URLs of the gateways that require tokens, an application on another origin, and the challenge without a token.
const (
	PublicURL   = "https://mcp.example.com"
	ResourceURL = PublicURL + "/mcp"
	MetadataURL = PublicURL + "/.well-known/oauth-protected-resource/mcp"
	AppOrigin   = "https://app.example.com"
	Challenge   = `Bearer scope="mcp:tools", resource_metadata="` + MetadataURL + `"`
)

// Eras are a revision of each era of the protocol.
var Eras = []string{"2026-07-28", "2025-06-18"}

// IDP is an authorization server that tests take tokens from.
type IDP struct {
	*httptest.Server
	Key *ecdsa.PrivateKey
}

// NewIDP starts an issuer of tokens.
func NewIDP(t *testing.T) *IDP {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &IDP{Key: key}
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

// Token signs an access token of alice with the scope mcp:tools; change replaces claims, and the key id under "kid".
func (i *IDP) Token(t *testing.T, change map[string]any) string {
	t.Helper()
	now := time.Now()
	claims := map[string]any{
		"iss": i.URL, "aud": ResourceURL, "sub": "alice", "client_id": "app", "scope": "mcp:tools",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	maps.Copy(claims, change)
	id := "k1"
	if kid, ok := claims["kid"].(string); ok {
		id = kid
		delete(claims, "kid")
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: i.Key, KeyID: id}},
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

// RecordingService notes the requests that it gets.
type RecordingService struct {
	*httptest.Server
	Mu       sync.Mutex
	Requests []*http.Request
}

// NewRecordingService starts a service that keeps the requests it is sent.
func NewRecordingService(t *testing.T) *RecordingService {
	t.Helper()
	s := &RecordingService{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Mu.Lock()
		s.Requests = append(s.Requests, r)
		s.Mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"done":true}`))
	}))
	t.Cleanup(s.Close)
	return s
}

// Taken returns the requests since the last call.
func (s *RecordingService) Taken() []*http.Request {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	taken := s.Requests
	s.Requests = nil
	return taken
}

// ProtectedConfig is a configuration with tokens; purge needs a scope of its own. Format verbs: list of issuers.
const ProtectedConfig = `server: {public_url: https://mcp.example.com, allowed_origins: [https://app.example.com]}
auth:
  issuers: [%s]
  default_scopes: [mcp:tools]
  implies: {"orders:all": ["orders:admin", "mcp:tools"]}
apis: [{name: shop, spec: $SPEC, base_url: $BASE, credential: {type: api_key, in: header, name: X-Key, value: "${NONE:-upstream-key}"}}]
rules:
  - {match: {operation: purge, optional: true}, set: {scopes: ["orders:admin"]}}
`

// Issuers is the configuration of issuers.
func Issuers(list ...*IDP) string {
	var items []string
	for _, i := range list {
		items = append(items, fmt.Sprintf("{issuer: %q}", i.URL))
	}
	return strings.Join(items, ", ")
}

// Client sends requests of one revision with one token.
type Client struct {
	T        *testing.T
	H        http.Handler
	Revision string
	Header   http.Header // sent with every request
	Query    string      // of the URL, with its ?
	Session  string      // of the legacy era
	// connection is the response to initialize.
	Connection *httptest.ResponseRecorder
}

// NewClient initializes a client of a protocol revision; token may be empty.
func NewClient(t *testing.T, h http.Handler, revision, token string) *Client {
	c := &Client{T: t, H: h, Revision: revision, Header: http.Header{}}
	if token != "" {
		c.Header.Set("Authorization", "Bearer "+token)
	}
	return c
}

// Send sends one request; a legacy one gets a session first, with the same headers.
func (c *Client) Send(method, name, arguments string) *httptest.ResponseRecorder {
	c.T.Helper()
	header := c.Header.Clone()
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json, text/event-stream")
	params := ""
	if name != "" {
		params = fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments)
	}
	if c.Revision >= "2026" {
		header.Set("MCP-Protocol-Version", c.Revision)
		header.Set("Mcp-Method", method)
		if name != "" {
			header.Set("Mcp-Name", name)
			params += ","
		}
		params += `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + c.Revision + `","io.modelcontextprotocol/clientCapabilities":{}}`
	} else {
		if c.Session == "" {
			w := PostTo(c.H, "/mcp"+c.Query, header.Clone(), `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+c.Revision+
				`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
			if w.Code != http.StatusOK {
				return w
			}
			c.Connection = w
			c.Session = w.Header().Get("Mcp-Session-Id")
		}
		header.Set("MCP-Protocol-Version", c.Revision)
		header.Set("Mcp-Session-Id", c.Session)
	}
	return PostTo(c.H, "/mcp"+c.Query, header, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params))
}

// Instructions connects and returns the instructions that the client gets.
func (c *Client) Instructions() string {
	c.T.Helper()
	w := c.Send("server/discover", "", "")
	if c.Revision < "2026" {
		w = c.Connection
	}
	var answer struct{ Result struct{ Instructions string } }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		c.T.Fatalf("%v: %s", err, w.Body)
	}
	return answer.Result.Instructions
}

// Call calls a tool without arguments.
func (c *Client) Call(tool string) *httptest.ResponseRecorder {
	return c.Send("tools/call", tool, "{}")
}

// Succeeded reports whether a response is a result that is no error.
func Succeeded(w *httptest.ResponseRecorder) bool {
	return w.Code == http.StatusOK && strings.Contains(w.Body.String(), `"structuredContent":{"done":true}`)
}

// Protected is a gateway that wants tokens of an authorization server.
func Protected(t *testing.T) (*gateway.Gateway, *IDP, *RecordingService) {
	t.Helper()
	i, service := NewIDP(t), NewRecordingService(t)
	g := Start(t, Document("Shop", "list", "purge"), fmt.Sprintf(ProtectedConfig, Issuers(i)), service.URL)
	return g, i, service
}

// Do sends a request without a body.
func Do(h http.Handler, method, target string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8080"+target, nil)
	maps.Copy(r.Header, header)
	if host := header.Get("Host"); host != "" {
		r.Host = host
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
