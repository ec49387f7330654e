package call_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"drawbridge/auth/authtest"
	"drawbridge/gateway/redact"
	"drawbridge/test/gatewaytest"
)

// TestServiceLogin is a call from the client to a service that gives a token or a cookie for a user name and a password: the path of
// the login at the service, or its URL. The service echoes what it got, and no result shows a secret of it.
func TestServiceLogin(t *testing.T) {
	const password = "login-password-canary"
	var mu sync.Mutex
	var valid string
	var logins int
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/login" {
			logins++
			if string(body) != `{"username":"gateway","password":"`+password+`"}` || r.Header.Get("Authorization") != "" {
				t.Errorf("the login was %s %v", body, r.Header)
			}
			valid = fmt.Sprint("session-canary-", logins)
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: valid})
			_ = json.NewEncoder(w).Encode(map[string]string{"token": valid})
			return
		}
		cookie, _ := r.Cookie("sid")
		if valid == "" || r.Header.Get("X-Auth") != valid && (cookie == nil || cookie.Value != valid) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		_, _ = fmt.Fprint(w, "got ", r.Header, string(body))
	}))
	defer service.Close()
	document := gatewaytest.Document("A", "one")
	g := gatewaytest.Start(t, document, `apis:
  - {name: header, spec: $SPEC, base_url: $BASE, credential: {type: login, username: gateway, password: `+password+`, name: X-Auth, login: {url: /login, token_pointer: /token}}}
  - {name: cookie, spec: $SPEC, base_url: $BASE, credential: {type: login, username: gateway, password: `+password+`, login: {url: $BASE/login, token_cookie: sid}}}
`, service.URL)
	for n, tool := range []string{"header_one", "cookie_one"} {
		for range 2 {
			raw, err := gatewaytest.CallAsOperator(t.Context(), g, tool, nil)
			if text := string(raw); err != nil || !strings.Contains(text, "got map") || strings.Contains(text, "canary") || !strings.Contains(text, redact.Placeholder) {
				t.Errorf("%s: %v %s", tool, err, text)
			}
		}
		if logins != n+1 {
			t.Errorf("%s: %d logins", tool, logins)
		}
	}
}

// TestOnBehalfOf: the service gets a token for the caller from an authorization server that is Entra ID in what it knows and refuses; a
// token of an application is not presented, and a login that has ended is answered with 401, so that the client logs in again.
func TestOnBehalfOf(t *testing.T) {
	idp, err := authtest.Start(authtest.Options{
		DefaultResource: gatewaytest.ResourceURL, EntraID: true,
		Clients: []authtest.Client{{ID: "gateway", Secret: "client-secret-canary-1d"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = idp.Close() })
	service := gatewaytest.NewRecordingService(t)
	r := gatewaytest.Run(t, map[string]string{"a.yaml": gatewaytest.Document("A", "one"), "drawbridge.yaml": `
server: {public_url: ` + gatewaytest.PublicURL + `}
auth: {issuers: [{issuer: "` + idp.Issuer() + `"}], default_scopes: [mcp:tools]}
apis:
  - name: a
    spec: a.yaml
    base_url: ` + service.URL + `
    credential: {type: on_behalf_of, token_url: "` + idp.Issuer() + `/token", client_id: gateway, client_secret: client-secret-canary-1d, scopes: ["api://orders/.default"]}
`})
	r.Served()
	issue := func(claims map[string]any) string {
		token, err := idp.Issue(authtest.Token{Subject: "alice", ClientID: "app", Audience: []string{gatewaytest.ResourceURL}, Scopes: []string{"mcp:tools"}, Claims: claims})
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	for _, revision := range gatewaytest.Eras {
		token := issue(nil)
		if w := gatewaytest.NewClient(t, r.Handler(), revision, token).Call("one"); !gatewaytest.Succeeded(w) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		for _, got := range service.Taken() {
			if sent := got.Header.Get("Authorization"); !strings.HasPrefix(sent, "Bearer eyJ") || strings.Contains(sent, token) {
				t.Errorf("the service got %q", sent)
			}
		}
		before := idp.Requests(authtest.TokenEndpoint)
		w := gatewaytest.NewClient(t, r.Handler(), revision, issue(map[string]any{"idtyp": "app"})).Call("one")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "this call has no user") || idp.Requests(authtest.TokenEndpoint) != before || len(service.Taken()) > 0 {
			t.Errorf("an application: %d %s", w.Code, w.Body)
		}
		idp.Fail(authtest.TokenEndpoint, &authtest.Failure{Status: http.StatusBadRequest, Body: `{"error":"invalid_grant","error_codes":[50173],"error_description":"words of the server"}`, Times: 1})
		w = gatewaytest.NewClient(t, r.Handler(), revision, issue(nil)).Call("one")
		if w.Code != http.StatusUnauthorized || !strings.Contains(w.Header().Get("Www-Authenticate"), `error="invalid_token"`) {
			t.Errorf("a login that has ended: %d %s", w.Code, w.Body)
		}
		idp.Fail(authtest.TokenEndpoint, &authtest.Failure{Status: http.StatusBadRequest, Body: `{"error":"interaction_required","error_codes":[50076],"claims":"words of the server"}`, Times: 1})
		w = gatewaytest.NewClient(t, r.Handler(), revision, issue(nil)).Call("one")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "a second factor") || strings.Contains(w.Body.String(), "words of") {
			t.Errorf("a second factor: %d %s", w.Code, w.Body)
		}
	}
}
