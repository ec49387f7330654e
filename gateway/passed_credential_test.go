package gateway

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"drawbridge/gateway/redact"
)

const passedConfig = `server: {public_url: https://mcp.example.com}
auth: {issuers: [$ISSUERS], default_scopes: [mcp:tools]}
apis: [{name: shop, spec: $SPEC, base_url: $BASE, pass_headers: [{from: X-Shop-Token, to: Authorization}]}]
rules: [{match: {method: GET}, set: {cache: {ttl: 1h}, resource: {uri: "shop://{operation}", poll: 1s}}}]
`

// echoing is a service that answers with a status, and shows each request's credential, as some do.
func echoing(t *testing.T, status int) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var calls atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"answer":%d,"for":%q}`, n, r.Header["Authorization"])
	}))
	t.Cleanup(s.Close)
	return s, &calls
}

// TestPassedCredential: each user's own credential reaches the service where it looks for it. It stands in no answer, and what the
// service says to the one who has it is said to nobody with another, or with none. (pains row 113)
func TestPassedCredential(t *testing.T) {
	i := newIDP(t)
	service := newRecordingService(t)
	doc := document("A", "one")
	g := start(t, doc, strings.NewReplacer("$ISSUERS", issuers(i)).Replace(strings.Replace(passedConfig, `rules: [{match: {method: GET}, set: {cache: {ttl: 1h}, resource: {uri: "shop://{operation}", poll: 1s}}}]`, "", 1)), service.URL)
	for _, revision := range eras {
		c := newClient(t, g.Handler(), revision, i.token(t, nil))
		c.header.Set("X-Shop-Token", "Bearer own-credential")
		if w := c.call("one"); !succeeded(w) {
			t.Fatal(w.Code, w.Body)
		}
		got := service.taken()
		if len(got) != 1 || got[0].Header.Get("Authorization") != "Bearer own-credential" || got[0].Header.Get("X-Shop-Token") != "" {
			t.Errorf("the service got %v", got)
		}
		c.header.Del("X-Shop-Token")
		c.call("one")
		if got := service.taken(); len(got) != 1 || got[0].Header["Authorization"] != nil {
			t.Errorf("without a credential the service got %v", got)
		}
	}
}

// TestPassedCredentialKept: what is kept of answers is for one value alone, of one caller too; and nothing that repeats it is kept or shown.
func TestPassedCredentialKept(t *testing.T) {
	i, service := newIDP(t), newCounting(t)
	config := strings.NewReplacer("$ISSUERS", issuers(i), `, resource: {uri: "shop://{operation}", poll: 1s}`, "").Replace(passedConfig)
	g := start(t, keeperDocument, config, service.URL)
	c := newClient(t, g.Handler(), eras[0], i.token(t, nil))
	seen := map[string]string{}
	for range 2 {
		for _, value := range []string{"Bearer credential-one", "Bearer credential-two", ""} {
			c.header.Del("X-Shop-Token")
			if value != "" {
				c.header.Set("X-Shop-Token", value)
			}
			got := answerOf(t, c.call("list"))
			for other, answer := range seen {
				if (other == value) != (answer == got) {
					t.Errorf("%q got %s, %q got %s", other, answer, value, got)
				}
			}
			seen[value] = got
		}
	}

	for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
		secretForm, calls := echoing(t, status)
		g := start(t, keeperDocument, config, secretForm.URL)
		checkEchoes(t, newClient(t, g.Handler(), eras[0], i.token(t, nil)), calls)
	}
}

// checkEchoes calls a service that repeats what it was sent.
func checkEchoes(t *testing.T, c *client, calls *atomic.Int64) {
	t.Helper()
	for _, value := range []string{"Bearer own-credential-4c1", "own-credential-4c1", "Basic " + base64.StdEncoding.EncodeToString([]byte("user:own-credential-4c1"))} {
		c.header.Set("X-Shop-Token", value)
		before := calls.Load()
		for range 2 {
			text := c.call("list").Body.String()
			_, bare, _ := strings.Cut(value, " ")
			if strings.Contains(text, "own-credential-4c1") || bare != "" && strings.Contains(text, bare) || !strings.Contains(text, redact.Placeholder) {
				t.Errorf("%q: %s", value, text)
			}
		}
		if calls.Load() != before+2 {
			t.Errorf("%q: an answer with it was kept", value)
		}
	}
}

// TestPassedCredentialOfGateway: no service gets a token for the gateway, whoever puts it into the header that goes there: not the one that
// was presented, not another's, in whatever it is wrapped (T1). A token of the same issuer for the service is what the header is for.
func TestPassedCredentialOfGateway(t *testing.T) {
	i := newIDP(t)
	service := newRecordingService(t)
	config := strings.NewReplacer("$ISSUERS", issuers(i), `cache: {ttl: 1h}, resource: {uri: "shop://{operation}", poll: 1s}`, "resource: {poll: 1s}").Replace(passedConfig)
	g := start(t, document("A", "one"), config, service.URL)
	token, other := i.token(t, nil), i.token(t, map[string]any{"sub": "bob"})
	for _, value := range []string{
		token, "Bearer " + token, "bearer  " + token, "token=" + token, `token="` + token + `"`, "x" + token, "Basic " + base64.StdEncoding.EncodeToString([]byte("u:"+token)),
		other, "Bearer " + other, "Token token=" + other, "Basic " + base64.StdEncoding.EncodeToString([]byte("u:"+other)),
	} {
		for _, revision := range eras {
			c := newClient(t, g.Handler(), revision, token)
			c.header.Set("X-Shop-Token", value)
			w := c.call("one")
			if want := "The header X-Shop-Token of the client's request, which the service gets too, holds a token for the gateway"; !strings.Contains(w.Body.String(), want) {
				t.Errorf("%.20s…: %d %s", value, w.Code, w.Body)
			}
			if strings.Contains(w.Body.String(), token[len(token)-12:]) || strings.Contains(w.Body.String(), other[len(other)-12:]) {
				t.Errorf("the token came out: %s", w.Body)
			}
		}
	}
	if got := service.taken(); len(got) > 0 {
		t.Errorf("the service got %v", got)
	}
	c := newClient(t, g.Handler(), eras[0], token)
	foreign := i.token(t, map[string]any{"aud": "https://orders.example.com"})
	c.header.Set("X-Shop-Token", "Bearer "+foreign)
	if w := c.call("one"); !succeeded(w) || len(service.taken()) != 1 {
		t.Errorf("a token for the service: %d %s", w.Code, w.Body)
	}
	if len(metricLines(g, "drawbridge_tool_calls_total", `outcome="bad_header"`)) != 1 {
		t.Error("it is not counted")
	}
	server := httptest.NewServer(g.Handler())
	defer server.Close()
	w := watchOver(t, server, "/mcp", eras[0], http.Header{"Authorization": {"Bearer " + token}, "X-Shop-Token": {token}}, "drawbridge://shop/one")
	defer w.end()
	if n := g.subscriptions.Count(); n != 0 {
		t.Errorf("%d resources are watched with a token for the gateway", n)
	}
}
