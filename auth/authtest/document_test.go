package authtest

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"drawbridge/auth/oauthserver"
)

// A client may be its metadata document (draft-ietf-oauth-client-id-metadata-document): what is wrong with one is told to
// the user, and nothing else on the machine or beyond can be reached by way of it.
func TestMetadataDocuments(t *testing.T) {
	kind, body, status, location := "", "", 0, ""
	host := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/secret" {
			t.Error("a redirect was followed")
		}
		w.Header().Set("Content-Type", kind)
		if location != "" {
			w.Header().Set("Location", location)
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	defer host.Close()
	roots := x509.NewCertPool()
	roots.AddCert(host.Certificate())
	o := testOptions()
	o.AutoConsent, o.RootCAs = true, roots
	s, err := NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	id := host.URL + "/client.json"
	good := fmt.Sprintf(`{"client_id": %q, "client_name": "An editor", "redirect_uris": ["http://127.0.0.1/cb"], "grant_types": ["authorization_code", "refresh_token"]}`, id)
	authorize := func(id string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/authorize?"+url.Values{
			"client_id": {id}, "redirect_uri": {"http://127.0.0.1:7000/cb"}, "response_type": {"code"},
			"code_challenge": {exampleChallenge}, "code_challenge_method": {"S256"},
		}.Encode(), nil)
		r.Host = s.issuer.Host
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}

	kind, body, status = "application/json", good, http.StatusOK
	answer, err := url.Parse(authorize(id).Header().Get("Location"))
	if err != nil || answer.Query().Get("code") == "" {
		t.Fatalf("no code: %v", answer)
	}
	form := redeemForm(answer.Query().Get("code"))
	form.Set("client_id", id)
	form.Set("redirect_uri", "http://127.0.0.1:7000/cb")
	tokens := decode(t, post(s, "/token", form))
	form = refreshForm(tokens.RefreshToken)
	form.Set("client_id", id)
	if w := post(s, "/token", form); w.Code != http.StatusOK {
		t.Errorf("refresh: %d %s", w.Code, w.Body)
	}

	for _, test := range []struct{ name, kind, body, location, want string }{
		{"not found", "application/json", "", "", "can't be read: status 404 Not Found"},
		{"redirect", "application/json", "", "/secret", "can't be read: status 302 Found"},
		{"page", "text/html", good, "", "can't be read: it is not JSON"},
		{"large", "application/json", good + strings.Repeat(" ", maxDocument), "", "can't be read: it has more than 5 KiB"},
		{"malformed", "application/json", "{", "", "the body is not a JSON object with unique members"},
		{"for another", "application/json", strings.Replace(good, "client.json", "other.json", 1), "", "is for client_id '" + host.URL + "/other.json'"},
		{"no redirects", "application/json", fmt.Sprintf(`{"client_id": %q}`, id), "", "0 redirect_uris, not 1 to 16"},
		{"secret", "application/json", strings.Replace(good, "{", `{"token_endpoint_auth_method": "client_secret_post", `, 1), "", "asks for token_endpoint_auth_method 'client_secret_post'; here it is 'none'"},
		{"another redirect", "application/json", strings.Replace(good, "/cb", "/other", 1), "", "redirect_uri 'http://127.0.0.1:7000/cb' is not one of client '" + id + "'"},
	} {
		kind, body, location, status = test.kind, test.body, test.location, http.StatusOK
		if test.location != "" {
			status = http.StatusFound
		} else if test.body == "" {
			status = http.StatusNotFound
		}
		w := authorize(id)
		if page := showPage(w.Body.String()); w.Code != http.StatusBadRequest || !strings.Contains(page, test.want+"\n") {
			t.Errorf("%s: %d\n%s\nwant %s", test.name, w.Code, page, test.want)
		}
	}
	if page := showPage(authorize("https://client.example/client.json").Body.String()); !strings.Contains(page, "is on another machine, where this server does not look\n") {
		t.Errorf("a document elsewhere:\n%s", page)
	}
	host.Close()
	if page := showPage(authorize(id).Body.String()); !strings.Contains(page, "connection refused\n") {
		t.Errorf("a host that is gone:\n%s", page)
	}
}

func TestIsDocument(t *testing.T) {
	for id, want := range map[string]bool{
		"https://client.example/client.json":   true,
		"https://client.example/a?b=c":         true,
		"http://localhost:8080/client.json":    true,
		"http://127.0.0.1/client.json":         true,
		"https://client.example":               false,
		"https://client.example/":              false,
		"https://client.example/../x":          false,
		"https://client.example/a/%2e%2e/x":    false,
		"https://client.example/a#b":           false,
		"https://user@client.example/a":        false,
		"http://client.example/client.json":    false,
		"http://localhost.evil.example/a":      false,
		"ftp://client.example/a":               false,
		"dyn-ABCDEFGHIJKLMNOPQRSTUVWXYZ":       false,
		"https:///client.json":                 false,
		"https://client.example/" + longPath(): false,
	} {
		if got := oauthserver.IsMetadataURL(id); got != want {
			t.Errorf("oauthserver.IsMetadataURL(%q) = %t", id, got)
		}
	}
}

func longPath() string { return strings.Repeat("a", oauthserver.MaxRedirectURI) }

// What fetches documents uses no proxy and looks at the address that a name resolved to.
func TestDialsLoopbackOnly(t *testing.T) {
	transport, ok := newDocumentClient(nil, nil).Transport.(*http.Transport)
	if !ok || transport.Proxy != nil {
		t.Error("it would use a proxy")
	}
	for address, want := range map[string]bool{
		"127.0.0.1:80": true, "127.8.8.8:1": true, "[::1]:443": true, "[::ffff:127.0.0.1]:80": true,
		"192.0.2.1:80": false, "0.0.0.0:80": false, "[::]:80": false, "[2001:db8::1]:80": false, "[::ffff:192.0.2.1]:80": false, "[fe80::1%eth0]:80": false, "x": false,
	} {
		if err := loopbackOnly("tcp", address, nil); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
}
