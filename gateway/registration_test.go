package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

const registrationConfig = `server: {public_url: https://mcp.example.com, seal_keys: ["${SEAL:-0123456789abcdef0123456789abcdef}"]}
auth:
  issuers: [%s, {issuer: "https://other.example.com"}]
  default_scopes: [mcp:tools]
  registration: {issuer: %q, client_id: gateway, client_secret: "${SECRET:-client-secret}"}
endpoints: [{name: admin, title: Admin, match: {api: shop}}]
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
`

// TestRegistrationMetadata: clients find the gateway as authorization server in place of the provider, beside the other issuers, and its
// paths are served.
func TestRegistrationMetadata(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), fmt.Sprintf(registrationConfig, gatewaytest.Issuers(i), i.URL), service.URL)
	for _, path := range []string{"/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource/mcp/admin"} {
		var m struct {
			Servers []string `json:"authorization_servers"`
		}
		w := gatewaytest.Do(g.Handler(), http.MethodGet, path, nil)
		if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil || !slices.Equal(m.Servers, []string{gatewaytest.PublicURL, "https://other.example.com"}) {
			t.Errorf("%s: %v %s", path, err, w.Body)
		}
	}
	if w := gatewaytest.Do(g.Handler(), http.MethodGet, "/.well-known/oauth-authorization-server", nil); w.Code != http.StatusOK ||
		!strings.HasPrefix(w.Body.String(), `{"issuer":"`+gatewaytest.PublicURL+`",`) {
		t.Errorf("metadata of the authorization server: %d %s", w.Code, w.Body)
	}
	if w := gatewaytest.Do(g.Handler(), http.MethodGet, "/register", nil); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("/register: %d", w.Code)
	}
	if w := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", i.Token(t, nil)).Call("list"); !gatewaytest.Succeeded(w) {
		t.Errorf("a token of the provider: %d %s", w.Code, w.Body)
	}
}

// TestMetadataDocumentsOfClients: no client makes the gateway fetch anything from a private address.
func TestMetadataDocumentsOfClients(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), fmt.Sprintf(registrationConfig, gatewaytest.Issuers(i), i.URL), service.URL)
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
	defer secure.Close()
	for _, id := range []string{
		service.URL + "/client.json", secure.URL + "/client.json", strings.Replace(secure.URL, "127.0.0.1", "localhost", 1) + "/client.json",
		strings.Replace(secure.URL, "127.0.0.1", "[::ffff:127.0.0.1]", 1) + "/client.json", strings.Replace(secure.URL, "127.0.0.1", "2130706433", 1) + "/client.json",
		i.URL + "/client.json", "https://169.254.169.254/latest", "https://10.0.0.1/client.json",
	} {
		q := url.Values{"client_id": {id}, "redirect_uri": {"http://127.0.0.1:5000/cb"}, "response_type": {"code"}, "code_challenge": {strings.Repeat("a", 43)}, "code_challenge_method": {"S256"}}
		w := gatewaytest.Do(g.Handler(), http.MethodGet, "/authorize?"+q.Encode(), nil)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "be read") {
			t.Errorf("%s: %d %s", id, w.Code, w.Body)
		}
	}
	if taken := service.Taken(); len(taken) > 0 {
		t.Errorf("the service was asked %s", taken[0].URL)
	}
}
