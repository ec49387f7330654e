package gateway

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"drawbridge/config"
)

// transport is the transport of a request to the endpoint: Streamable HTTP, or one of the two halves of HTTP+SSE of 2024-11-05,
// which server.old_transport enables.
type transport uint8

const (
	streamable  transport = iota
	oldStream             // a GET that opens a stream
	oldMessages           // a POST with a message, answered on that stream
)

// Paths of the HTTP+SSE transport if it is enabled; the name of an endpoint follows.
const (
	oldStreamPath   = "/sse"
	oldMessagesPath = "/messages"
)

func (g *Gateway) oldRoutes(r chi.Router) {
	for path, t := range map[string]transport{oldStreamPath: oldStream, oldMessagesPath: oldMessages} {
		r.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { g.enter(w, r, &requestInfo{transport: t}) })
		r.HandleFunc(path+"/{endpoint}", func(w http.ResponseWriter, r *http.Request) {
			g.enter(w, r, &requestInfo{name: chi.URLParam(r, "endpoint"), transport: t})
		})
	}
}

// transport returns the transport of a request to /mcp. A GET without a session is sent only by clients of HTTP+SSE, to the one
// URL that they know (2025-03-26 transports, Backwards Compatibility).
func (g *Gateway) transport(r *http.Request) transport {
	if r.Method == http.MethodGet && g.o.Config.Server.OldTransport && r.Header["Mcp-Session-Id"] == nil && r.Header["Mcp-Protocol-Version"] == nil {
		return oldStream
	}
	return streamable
}

// messagesPath returns the path for messages to an endpoint, as clients see it: below the path of public_url.
func messagesPath(c *config.Config, name string) string {
	path := oldMessagesPath
	if u, err := url.Parse(c.Resource()); err == nil {
		path = strings.TrimSuffix(u.EscapedPath(), "/mcp") + path
	}
	if name != "" {
		path += "/" + name
	}
	return path
}

// ServeHTTP serves a request by its transport.
func (s *mcpHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := requestInfoFrom(r.Context())
	if v.slot != nil {
		v.slot.Authenticated = v.endpoint.guard != nil
	}
	switch v.transport {
	case oldStream:
		s.old.Stream(w, r)
	case oldMessages:
		s.old.Messages(w, r)
	case streamable:
		s.Handler.ServeHTTP(w, r)
	}
}
