package gateway_test

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestPassedCredentialOfGateway: no service gets a token for the gateway, whoever puts it into the header that goes there: not the one that
// was presented, not another's, in whatever it is wrapped (T1). A token of the same issuer for the service is what the header is for.
func TestPassedCredentialOfGateway(t *testing.T) {
	i := gatewaytest.NewIDP(t)
	service := gatewaytest.NewRecordingService(t)
	config := strings.NewReplacer("$ISSUERS", gatewaytest.Issuers(i), `cache: {ttl: 1h}, resource: {uri: "shop://{operation}", poll: 1s}`, "resource: {poll: 1s}").Replace(gatewaytest.PassedConfig)
	g := gatewaytest.Start(t, gatewaytest.Document("A", "one"), config, service.URL)
	token, other := i.Token(t, nil), i.Token(t, map[string]any{"sub": "bob"})
	for _, value := range []string{
		token, "Bearer " + token, "bearer  " + token, "token=" + token, `token="` + token + `"`, "x" + token, "Basic " + base64.StdEncoding.EncodeToString([]byte("u:"+token)),
		other, "Bearer " + other, "Token token=" + other, "Basic " + base64.StdEncoding.EncodeToString([]byte("u:"+other)),
	} {
		for _, revision := range gatewaytest.Eras {
			c := gatewaytest.NewClient(t, g.Handler(), revision, token)
			c.Header.Set("X-Shop-Token", value)
			w := c.Call("one")
			if want := "The header X-Shop-Token of the client's request, which the service gets too, holds a token for the gateway"; !strings.Contains(w.Body.String(), want) {
				t.Errorf("%.20s…: %d %s", value, w.Code, w.Body)
			}
			if strings.Contains(w.Body.String(), token[len(token)-12:]) || strings.Contains(w.Body.String(), other[len(other)-12:]) {
				t.Errorf("the token came out: %s", w.Body)
			}
		}
	}
	if got := service.Taken(); len(got) > 0 {
		t.Errorf("the service got %v", got)
	}
	c := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], token)
	foreign := i.Token(t, map[string]any{"aud": "https://orders.example.com"})
	c.Header.Set("X-Shop-Token", "Bearer "+foreign)
	if w := c.Call("one"); !gatewaytest.Succeeded(w) || len(service.Taken()) != 1 {
		t.Errorf("a token for the service: %d %s", w.Code, w.Body)
	}
	if len(gatewaytest.MetricLines(g, "drawbridge_tool_calls_total", `outcome="bad_header"`)) != 1 {
		t.Error("it is not counted")
	}
	server := httptest.NewServer(g.Handler())
	defer server.Close()
	w := watchOver(t, server, "/mcp", gatewaytest.Eras[0], http.Header{"Authorization": {"Bearer " + token}, "X-Shop-Token": {token}}, "drawbridge://shop/one")
	defer w.end()
	if n := g.Subscriptions().Count(); n != 0 {
		t.Errorf("%d resources are watched with a token for the gateway", n)
	}
}
