package endpoint

import (
	"net/http"
	"strings"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/config"
)

// ServeKeys returns the handler of the public keys with which services verify identities. identity returns their signer,
// or nil if no API asks for identities. The keys require no token, and pages may read them too (Z9).
func ServeKeys(identity func() *credential.Identity) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		signer := identity()
		if signer == nil {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", "GET, HEAD")
			h.Set("Access-Control-Max-Age", "86400")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		signer.Keys().ServeHTTP(w, r)
	}
}

// metadataPath is the path of the RFC 9728 metadata; the path of an endpoint is appended to it.
const metadataPath = "/.well-known/oauth-protected-resource"

// MetadataGuards are the guards of all endpoints by metadata path, for each public URL.
type MetadataGuards struct {
	urls   publicURLs
	byPath []map[string]*auth.Guard
}

// NewMetadataGuards lists each path twice if a public URL has a path, since a proxy may have stripped it. guard is that of
// the main endpoint; nil if no token is required. Without issuers there is no metadata.
func NewMetadataGuards(c *config.Config, guard *auth.Guard) *MetadataGuards {
	all := &MetadataGuards{urls: newPublicURLs(c)}
	if guard == nil || !guard.HasMetadata() {
		return all
	}
	for n := range all.urls.paths {
		byPath := map[string]*auth.Guard{}
		for i, e := range c.Endpoints {
			own := guard.Endpoint(i).Alternate(n)
			byPath[own.MetadataPaths()[0]], byPath[metadataPath+"/mcp/"+e.Name] = own, own
		}
		main := guard.Alternate(n)
		for _, path := range append(main.MetadataPaths(), metadataPath, metadataPath+"/mcp") {
			byPath[path] = main
		}
		all.byPath = append(all.byPath, byPath)
	}
	return all
}

// find returns the guard whose metadata a request names, or nil.
func (m *MetadataGuards) find(r *http.Request) *auth.Guard {
	if len(m.byPath) == 0 {
		return nil
	}
	path := r.URL.Path
	if path != metadataPath+"/" {
		path = strings.TrimSuffix(path, "/") // the endpoint is served with and without the trailing slash
	}
	return m.byPath[m.urls.of(r)][path]
}

// ServeMetadata returns the handler of the protected resource metadata, which is served even before the first API is,
// since a client may discover it early.
func ServeMetadata(guards func() *MetadataGuards) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if guard := guards().find(r); guard != nil {
			guard.Metadata().ServeHTTP(w, r)
			return
		}
		http.NotFound(w, r)
	}
}
