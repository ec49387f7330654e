package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// Access is the access control of an admin listener. It is immutable.
type Access struct {
	gate    *hostFilter
	token   [sha256.Size]byte
	noToken bool // no token is configured
}

// NewAccess returns the access control of a listener. Requests with side effects require token; if
// it is "", they are all rejected. hosts are the accepted values of Host besides localhost and IP
// addresses, with a port or for every port. If the listener is bound to a loopback address, of IP
// addresses only loopback ones are accepted.
func NewAccess(token string, hosts []string, loopback bool) *Access {
	return &Access{gate: newHostFilter(hosts, loopback), token: sha256.Sum256([]byte(token)), noToken: token == ""}
}

// checkHost rejects requests whose Host the current rules do not accept.
func checkHost(access func() *Access, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { access().gate.guard(next).ServeHTTP(w, r) })
}

// requireToken restricts a handler to requests with the token. what names the action in errors, and
// instead is the alternative if no token is configured.
func requireToken(access func() *Access, what, instead string, do http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := access()
		if a.noToken {
			writeText(w, http.StatusForbidden, what+" over HTTP is off: set admin.token in the configuration"+instead+"\n")
			return
		}
		// Browsers are rejected by the token and by their headers: a page that was opened on the
		// operator's machine must not be able to get here (O12).
		if r.Header.Get("Origin") != "" || (r.Header.Get("Sec-Fetch-Site") != "" && r.Header.Get("Sec-Fetch-Site") != "none") {
			writeText(w, http.StatusForbidden, what+" is not for web pages\n")
			return
		}
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(token))
		if !ok || subtle.ConstantTimeCompare(got[:], a.token[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			writeText(w, http.StatusUnauthorized, "send the token admin.token as \"Authorization: Bearer …\"\n")
			return
		}
		do(w, r)
	})
}
