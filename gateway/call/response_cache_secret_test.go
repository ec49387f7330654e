package call_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestKeptAnswersTellNoToken: an answer that repeats the token that was sent for it is not kept, in body or header, since who
// gets it later has sent none and could not find it (T1). One that does not is.
func TestKeptAnswersTellNoToken(t *testing.T) {
	tokens := gatewaytest.NewTokenServer(t)
	var asked atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "max-age=600")
		token := r.Header.Get("Authorization")
		switch r.URL.Path {
		case "/body":
			_, _ = fmt.Fprintf(w, `{"got":%q}`, token)
		case "/head":
			w.Header().Set("X-Got", token)
			_, _ = w.Write([]byte(`{"got":"it"}`))
		default:
			_, _ = w.Write([]byte(`{"got":"it"}`))
		}
	}))
	defer service.Close()
	g := gatewaytest.Start(t, gatewaytest.Document("A", "body", "head", "quiet"), `
apis:
  - {name: a, spec: $SPEC, base_url: $BASE, credential: {type: client_credentials, token_url: "`+tokens.URL+`", client_id: gateway, client_secret: "${NONE:-client-secret-of-the-test}"}}
rules: [{match: {api: a}, set: {cache: true}}]
`, service.URL)
	for tool, want := range map[string]int64{"body": 3, "head": 3, "quiet": 1} {
		asked.Store(0)
		for range 3 {
			w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], "").Call(tool)
			if w.Code != http.StatusOK || strings.Contains(w.Body.String(), gatewaytest.TokenCanary) || !strings.Contains(w.Body.String(), `"got":`) {
				t.Errorf("%s: %d %s", tool, w.Code, w.Body)
			}
		}
		if n := asked.Load(); n != want {
			t.Errorf("%s: the service was asked %d times, want %d", tool, n, want)
		}
	}
}
