package gateway

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"drawbridge/config"
)

// transport says how a request speaks with the endpoint: by the transport of today, or by one of the two halves of that of
// 2024-11-05, which server.old_transport adds.
type transport uint8

const (
	streamable  transport = iota
	oldStream             // a GET that opens a stream
	oldMessages           // a POST with a message, answered on that stream
)

// Where the old transport is served, an endpoint with its name behind it.
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

// transport tells how a request to /mcp wants to speak. A GET that belongs to no session is what clients of the old transport
// send to the one URL that they know (2025-03-26 transports, Backwards Compatibility), and nobody else.
func (g *Gateway) transport(r *http.Request) transport {
	if r.Method == http.MethodGet && g.o.Config.Server.OldTransport && r.Header["Mcp-Session-Id"] == nil && r.Header["Mcp-Protocol-Version"] == nil {
		return oldStream
	}
	return streamable
}

// messagesPath is where messages to an endpoint are sent, as clients see it: below the path of public_url.
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

// ServeHTTP serves a request by the transport that it came on.
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
