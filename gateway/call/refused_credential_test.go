package call_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestRefusedCredentials: of each way in which an API gets credentials it is known whose they are
// (pains row 157).
func TestRefusedCredentials(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer service.Close()
	const (
		operator = "does not accept the gateway's credential"
		nobody   = "the gateway has none for it"
		user     = "the user's credential in X-Depot-Token"
		missing  = "The client sent no X-Depot-Token"
	)
	for _, test := range []struct{ api, header, want string }{
		{"", "", nobody},
		{"credential: {type: bearer, token: abcdefgh12345678}", "", operator},
		{"request: {headers: {X-Org: {secret: abcdefgh12345678}}}", "", operator},
		{"request: {headers: {X-Org: acme}}", "", nobody},
		{"pass_headers: [{from: X-Depot-Token, to: Authorization}]", "Bearer own-credential-1", user},
		{"pass_headers: [{from: X-Depot-Token, to: Authorization}]", "", missing},
		{"pass_headers: [{from: X-Depot-Token, to: Authorization}]", "Bearer ", missing},
		{"pass_headers: [{from: X-Depot-Token, to: Authorization}]", " ", missing},
		{"pass_headers: [X-Depot-Token]", "own-credential-1", user},
		{"pass_headers: [X-Depot-Token]", "", missing},
		{"pass_headers: [X-Tenant]", "", nobody},
		{"credential: {type: bearer, token: abcdefgh12345678}, pass_headers: [X-Tenant]", "", operator},
		{"credential: {type: bearer, token: abcdefgh12345678}, pass_headers: [X-Depot-Token]", "", operator},
		{"credential: {type: api_key, in: header, name: X-Key, value: abcdefgh12345678}, pass_headers: [{from: X-Depot-Token, to: Authorization}]", "", missing},
		{"credential: {type: api_key, in: header, name: X-Key, value: abcdefgh12345678}, pass_headers: [{from: X-Depot-Token, to: Authorization}]", "Bearer own-credential-1", user},
	} {
		api := "spec: $SPEC, base_url: $BASE, name: shop"
		if test.api != "" {
			api += ", " + test.api
		}
		g := gatewaytest.Start(t, gatewaytest.Document("A", "one"), "apis: [{"+api+"}]\n", service.URL)
		c := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[1], "")
		if test.header != "" {
			c.Header.Set("X-Depot-Token", test.header)
		}
		if w := c.Call("one"); !strings.Contains(w.Body.String(), test.want) || strings.Contains(w.Body.String(), "own-credential") {
			t.Errorf("%s, %q: %s", test.api, test.header, w.Body)
		}
	}
}
