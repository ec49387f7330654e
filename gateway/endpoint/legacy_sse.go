package endpoint

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"drawbridge/config"
)

// Paths of the HTTP+SSE transport if it is enabled; the name of an endpoint follows.
const (
	legacyStreamPath   = "/sse"
	legacyMessagesPath = "/messages"
)

// httpSSERoutes adds the routes of the HTTP+SSE transport.
func (s *Server) httpSSERoutes(r chi.Router) {
	for path, t := range map[string]transport{legacyStreamPath: legacyStream, legacyMessagesPath: legacyMessages} {
		r.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { s.dispatch(w, r, "", t) })
		r.HandleFunc(path+"/{endpoint}", func(w http.ResponseWriter, r *http.Request) {
			s.dispatch(w, r, chi.URLParam(r, "endpoint"), t)
		})
	}
}

// transport returns the transport of a request to /mcp. A GET without a session is sent only by clients of HTTP+SSE, to the one
// URL that they know (2025-03-26 transports, Backwards Compatibility).
func (s *Server) transport(r *http.Request) transport {
	if r.Method == http.MethodGet && s.HTTPSSE && r.Header["Mcp-Session-Id"] == nil && r.Header["Mcp-Protocol-Version"] == nil {
		return legacyStream
	}
	return streamable
}

// messagesPath returns the path for messages to an endpoint, as the client sees it that has opened a stream: below the path
// of the public URL that it asked for.
func messagesPath(c *config.Config, name string) func(stream *http.Request) string {
	urls, path := newPublicURLs(c), legacyMessagesPath
	if name != "" {
		path += "/" + name
	}
	return func(stream *http.Request) string { return urls.path(stream) + path }
}

// ServeHTTP serves a request by its transport.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := requestFrom(r.Context())
	if v.slot != nil {
		v.slot.Authenticated = v.Endpoint.Guard != nil
	}
	switch v.transport {
	case legacyStream:
		h.httpSSE.Stream(w, r)
	case legacyMessages:
		h.httpSSE.Messages(w, r)
	case streamable:
		h.Handler.ServeHTTP(w, r)
	}
}
