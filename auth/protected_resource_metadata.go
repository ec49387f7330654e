package auth

import (
	"net/http"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// wellKnown is the well-known path of protected resource metadata (RFC 9728 section 3).
const wellKnown = "/.well-known/oauth-protected-resource"

// HasMetadata reports whether there is metadata: clients find an issuer in it, so without issuers there is none.
func (g *Guard) HasMetadata() bool { return len(g.issuers) > 0 }

// metadataURL inserts the well-known path before the path of the resource (RFC 9728 section 3.1). It
// is empty if there is no metadata.
func (g *Guard) metadataURL() string {
	if !g.HasMetadata() {
		return ""
	}
	return g.resource.Scheme + "://" + g.resource.Host + wellKnown + strings.TrimSuffix(g.resource.EscapedPath(), "/")
}

// MetadataPaths returns the paths for [Guard.Metadata]: that of the resource and the root form,
// which some clients try.
func (g *Guard) MetadataPaths() []string {
	if path := strings.TrimSuffix(g.resource.EscapedPath(), "/"); path != "" {
		return []string{wellKnown + path, wellKnown}
	}
	return []string{wellKnown}
}

// newMetadata returns the document of RFC 9728 section 2. The identifier is byte for byte as
// configured, the issuers are in order, and scopes_supported is the baseline rather than all scopes
// (Z1).
func newMetadata(o Options, p *proofVerifier) []byte {
	b := []byte(`{"resource":`)
	b = jsonscan.AppendString(b, o.Resource)
	servers := o.AuthorizationServers
	if len(servers) == 0 {
		for _, issuer := range o.Issuers {
			servers = append(servers, issuer.URL)
		}
	}
	b = appendList(append(b, `,"authorization_servers":`...), servers)
	if len(o.DefaultScopes) > 0 {
		b = appendList(append(b, `,"scopes_supported":`...), o.DefaultScopes)
	}
	b = appendList(append(b, `,"bearer_methods_supported":`...), []string{"header"})
	if p != nil {
		b = appendList(append(b, `,"dpop_signing_alg_values_supported":`...), strings.Fields(p.algs))
		if p.required {
			b = append(b, `,"dpop_bound_access_tokens_required":true`...)
		}
	}
	return append(b, '}')
}

func appendList(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonscan.AppendString(b, s)
	}
	return append(b, ']')
}

// Metadata serves the protected resource metadata. It requires no token, and any web page may read
// it (CORS).
func (g *Guard) Metadata() http.Handler {
	length := strconv.Itoa(len(g.metadata))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			h.Set("Content-Type", "application/json")
			h.Set("Content-Length", length)
			h.Set("Cache-Control", "public, max-age=60")
			w.WriteHeader(http.StatusOK)
			if r.Method == http.MethodGet {
				w.Write(g.metadata)
			}
		case http.MethodOptions:
			h.Set("Access-Control-Allow-Methods", "GET, HEAD")
			h.Set("Access-Control-Allow-Headers", "MCP-Protocol-Version") // clients send it here too
			h.Set("Access-Control-Max-Age", "86400")
			w.WriteHeader(http.StatusNoContent)
		default:
			h.Set("Allow", "GET, HEAD, OPTIONS")
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	})
}
