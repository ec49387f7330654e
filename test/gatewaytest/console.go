package gatewaytest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"drawbridge/gateway"
)

// SignInToConsole signs in with a token, and returns the header with the session's cookie.
func SignInToConsole(t *testing.T, g *gateway.Gateway, token string) http.Header {
	t.Helper()
	w := PostForm(g.Admin(), "/console/signin", url.Values{"token": {token}}, http.Header{"Sec-Fetch-Site": {"same-origin"}})
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || len(cookies) != 1 {
		t.Fatalf("signing in: %d %v %s", w.Code, cookies, w.Body)
	}
	return http.Header{"Cookie": {cookies[0].Name + "=" + cookies[0].Value}}
}

// PostForm sends a form.
func PostForm(h http.Handler, target string, form url.Values, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:9090"+target, strings.NewReader(form.Encode()))
	for name, values := range header {
		r.Header[name] = values
	}
	if host := header.Get("Host"); host != "" {
		r.Host = host
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
