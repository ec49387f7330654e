package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// Access says who may ask for what. It is immutable.
type Access struct {
	gate   *gate
	token  [sha256.Size]byte
	closed bool // there is no token
}

// NewAccess makes the rules of a listener. token is what requests that change something must carry; "" refuses them all. hosts
// are the names by which requests may ask for the listener besides localhost and IP addresses, with a port or for every port.
// loopback tells that the listener is bound to a loopback address: of IP addresses only loopback ones are served then.
func NewAccess(token string, hosts []string, loopback bool) *Access {
	return &Access{gate: newGate(hosts, loopback), token: sha256.Sum256([]byte(token)), closed: token == ""}
}

// screened lets in the hosts of the rules that hold now.
func screened(access func() *Access, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { access().gate.guard(next).ServeHTTP(w, r) })
}

// operators lets those do something who show the token. what it is stands in the refusals, and instead says what may be done
// where there is no token.
func operators(access func() *Access, what, instead string, do http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := access()
		if a.closed {
			writeText(w, http.StatusForbidden, what+" over HTTP is off: set admin.token in the configuration"+instead+"\n")
			return
		}
		// Browsers are kept out by the token and by what they say of themselves: a page that was opened on the operator's
		// machine must not be able to get here (O12).
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
