package endpoint

import (
	"fmt"
	"net/http"
	"regexp"

	"github.com/go-chi/chi/v5"
)

// serveSignpost answers a request for / or for the path of the former transport HTTP+SSE with 404 and the URL of the endpoint, which is what
// people and clients look for there. It names no API, tool or endpoint (Z9): a name in it is the one of the request.
func (s *Server) serveSignpost(w http.ResponseWriter, r *http.Request) {
	s.screen(http.HandlerFunc(s.writeSignpost)).ServeHTTP(w, r)
}

func (s *Server) writeSignpost(w http.ResponseWriter, r *http.Request) {
	url := s.endpointURL(r)
	if name := chi.URLParam(r, "endpoint"); name != "" {
		if !endpointName.MatchString(name) {
			http.NotFound(w, r)
			return
		}
		url += "/" + name
	}
	http.Error(w, fmt.Sprintf("404 page not found: the MCP endpoint is %s (Streamable HTTP)", url), http.StatusNotFound)
}

// endpointName is the form of the names of endpoints.
var endpointName = regexp.MustCompile(`\A[A-Za-z0-9_-]{1,64}\z`)

// signpostRoutes adds the paths at which clients of the former transport look for a stream, if that transport is not served.
func (s *Server) signpostRoutes(r chi.Router) {
	for _, path := range []string{legacyStreamPath, legacyStreamPath + "/", legacyStreamPath + "/{endpoint}", "/mcp/{endpoint}" + legacyStreamPath} {
		r.HandleFunc(path, s.serveSignpost)
	}
}
