package gatewaytest

import (
	"net/http"
)

// EndpointsConfig is a configuration with two endpoints.
const EndpointsConfig = `server: {public_url: https://mcp.example.com, instructions: "All of the shop."}
auth:
  issuers: [%s]
  default_scopes: [mcp:tools]
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
rules:
  - {match: {operation: purge}, set: {scopes: ["orders:admin"]}}
endpoints:
  - {name: shop}
  - {name: reading, match: [{operation: list}, {operation: show}], default_scopes: [read], title: Reading, instructions: "Only looks."}
`

// At makes a client's requests for another path than /mcp.
func At(path string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = path
		h.ServeHTTP(w, r)
	})
}
