package call_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"drawbridge/gateway/redact"
	"drawbridge/test/gatewaytest"
)

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
	i := gatewaytest.NewIDP(t)
	service := gatewaytest.NewRecordingService(t)
	doc := gatewaytest.Document("A", "one")
	g := gatewaytest.Start(t, doc, strings.NewReplacer("$ISSUERS", gatewaytest.Issuers(i)).Replace(strings.Replace(gatewaytest.PassedConfig, `rules: [{match: {method: GET}, set: {cache: {ttl: 1h}, resource: {uri: "shop://{operation}", poll: 1s}}}]`, "", 1)), service.URL)
	for _, revision := range gatewaytest.Eras {
		c := gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, nil))
		c.Header.Set("X-Shop-Token", "Bearer own-credential")
		if w := c.Call("one"); !gatewaytest.Succeeded(w) {
			t.Fatal(w.Code, w.Body)
		}
		got := service.Taken()
		if len(got) != 1 || got[0].Header.Get("Authorization") != "Bearer own-credential" || got[0].Header.Get("X-Shop-Token") != "" {
			t.Errorf("the service got %v", got)
		}
		c.Header.Del("X-Shop-Token")
		c.Call("one")
		if got := service.Taken(); len(got) != 1 || got[0].Header["Authorization"] != nil {
			t.Errorf("without a credential the service got %v", got)
		}
	}
}

// TestPassedCredentialKept: what is kept of answers is for one value alone, of one caller too; and nothing that repeats it is kept or shown.
func TestPassedCredentialKept(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewCounting(t)
	config := strings.NewReplacer("$ISSUERS", gatewaytest.Issuers(i), `, resource: {uri: "shop://{operation}", poll: 1s}`, "").Replace(gatewaytest.PassedConfig)
	g := gatewaytest.Start(t, gatewaytest.KeeperDocument, config, service.URL)
	c := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, nil))
	seen := map[string]string{}
	for range 2 {
		for _, value := range []string{"Bearer credential-one", "Bearer credential-two", ""} {
			c.Header.Del("X-Shop-Token")
			if value != "" {
				c.Header.Set("X-Shop-Token", value)
			}
			got := gatewaytest.AnswerOf(t, c.Call("list"))
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
		g := gatewaytest.Start(t, gatewaytest.KeeperDocument, config, secretForm.URL)
		checkEchoes(t, gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, nil)), calls)
	}
}

// checkEchoes calls a service that repeats what it was sent.
func checkEchoes(t *testing.T, c *gatewaytest.Client, calls *atomic.Int64) {
	t.Helper()
	for _, value := range []string{"Bearer own-credential-4c1", "own-credential-4c1", "Basic " + base64.StdEncoding.EncodeToString([]byte("user:own-credential-4c1"))} {
		c.Header.Set("X-Shop-Token", value)
		before := calls.Load()
		for range 2 {
			text := c.Call("list").Body.String()
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
