package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"drawbridge/test/gatewaytest"
)

// TestOwnTimeout: a timeout that an API or a rule sets is also how long the head of an answer may take; where none is set,
// limits.first_byte_timeout says it.
func TestOwnTimeout(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(200 * time.Millisecond)
		_, _ = w.Write([]byte("[]"))
	}))
	defer service.Close()
	const cut = `The service \"shop\" did not answer in time. The call changed nothing and can be repeated. Ask for less, or try again later.`
	for _, c := range []struct {
		name, api, more string
		want            string // "": the answer
	}{
		{"none", "", "", cut},
		{"that of all calls", "", "limits: {first_byte_timeout: 20ms, timeout: 30s}", cut},
		{"the API's", ", timeout: 30s", "", ""},
		{"the API's that is as long as that of all calls would be", ", timeout: 1m", "limits: {first_byte_timeout: 20ms, timeout: 1m}", ""},
		{"a rule's", "", "rules: [{match: {operation: list}, set: {timeout: 30s}}]", ""},
		{"a rule's for another operation", "", "rules: [{match: {operation: other}, set: {timeout: 30s}}]", cut},
		{"a rule's under the API's", ", timeout: 30s", "rules: [{match: {operation: list}, set: {timeout: 20ms}}]", cut},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.HasPrefix(c.more, "limits") {
				c.more = "limits: {first_byte_timeout: 20ms}\n" + c.more
			}
			g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "other"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE"+c.api+"}]\n"+c.more+"\n", service.URL)
			_, got := gatewaytest.Ask(t, g.Handler(), "", "tools/call", "list", `"name":"list","arguments":{}`)
			if failed := strings.Contains(string(got), `"isError":true`); failed != (c.want != "") || !strings.Contains(string(got), c.want) {
				t.Errorf("%s, want %q", got, c.want)
			}
		})
	}
}
