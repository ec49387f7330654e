package gatewaytest

import (
	"net/http"
)

// From makes requests come from an address.
func From(h http.Handler, address string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = address
		h.ServeHTTP(w, r)
	})
}
