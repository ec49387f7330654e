package call_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"drawbridge/auth/authtest"
	"drawbridge/test/gatewaytest"
)

// TestSubjectRefused: a caller whose token the authorization server does not exchange is answered as one whose token is not valid, with
// HTTP 401 and the challenge, whatever it asks for. Its client gets another token, with which it is served. No model is told, and the
// authorization server is not asked each time; what is the gateway's own fault stays a result of the tool. (pains row 115)
func TestSubjectRefused(t *testing.T) {
	idp, err := authtest.Start(authtest.Options{DefaultResource: gatewaytest.ResourceURL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = idp.Close() })
	issue := func() string {
		token, err := idp.Issue(authtest.Token{Subject: "alice", ClientID: "app", Audience: []string{gatewaytest.ResourceURL}, Scopes: []string{"mcp:tools"}})
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	old := issue()
	code := "invalid_grant"
	var asked atomic.Int64
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		if r.FormValue("subject_token") == old {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"`+code+`","error_description":"words of the server"}`)
			return
		}
		_, _ = io.WriteString(w, `{"access_token":"exchanged-token","issued_token_type":"urn:ietf:params:oauth:token-type:access_token","token_type":"Bearer"}`)
	}))
	t.Cleanup(tokens.Close)
	service := gatewaytest.NewRecordingService(t)
	begin := func() *gatewaytest.Running {
		r := gatewaytest.Run(t, map[string]string{"a.yaml": gatewaytest.Document("A", "one"), "drawbridge.yaml": `
server: {public_url: ` + gatewaytest.PublicURL + `}
auth: {issuers: [{issuer: "` + idp.Issuer() + `"}], default_scopes: [mcp:tools]}
apis:
  - name: a
    spec: a.yaml
    base_url: ` + service.URL + `
    credential: {type: token_exchange, token_url: "` + tokens.URL + `/", client_id: gateway, client_secret: client-secret-canary-1d, audiences: [orders]}
rules: [{match: {path: /**}, set: {resource: {uri: "shop://one"}}}]
prompts: [{name: p, messages: [{tool: one}]}, {name: q, messages: [{resource: "shop://one"}]}]
`})
		r.Served()
		return r
	}
	r := begin()
	want := gatewaytest.NewClient(t, r.Handler(), gatewaytest.Eras[0], "no-token-of-anybody").Call("one").Header()["Www-Authenticate"]
	for _, revision := range gatewaytest.Eras {
		c := gatewaytest.NewClient(t, r.Handler(), revision, old)
		for range 3 {
			for what, w := range map[string]*httptest.ResponseRecorder{
				"tools/call": c.Call("one"), "prompts/get": c.Send("prompts/get", "p", "{}"), "a prompt's resource": c.Send("prompts/get", "q", "{}"),
			} {
				if w.Code != http.StatusUnauthorized || !slices.Equal(w.Header()["Www-Authenticate"], want) || len(want) != 1 || !strings.Contains(want[0], `error="invalid_token"`) {
					t.Errorf("%s %s: %d %q, want the challenge %q", revision, what, w.Code, w.Header(), want)
				}
				if text := w.Body.String(); strings.Contains(text, "words of") || strings.Contains(text, "isError") {
					t.Errorf("%s %s: %s", revision, what, text)
				}
			}
		}
		if w := gatewaytest.NewClient(t, r.Handler(), revision, issue()).Call("one"); !gatewaytest.Succeeded(w) {
			t.Errorf("%s: a fresh token: %d %s", revision, w.Code, w.Body)
		}
	}
	if n := asked.Load(); n != int64(1+len(gatewaytest.Eras)) {
		t.Errorf("%d token requests, want one for each token", n)
	}
	if len(gatewaytest.MetricLines(r.Gateway, "drawbridge_tool_calls_total", `outcome="token_subject_refused"`)) != 1 {
		t.Error("no call is counted as token_subject_refused")
	}
	code = "invalid_client"
	w := gatewaytest.NewClient(t, begin().Handler(), gatewaytest.Eras[0], old).Call("one")
	if w.Code != http.StatusOK || w.Header()["Www-Authenticate"] != nil || !strings.Contains(w.Body.String(), "the operator of the gateway must repair the credential") {
		t.Errorf("the gateway's own fault: %d %s", w.Code, w.Body)
	}
}
