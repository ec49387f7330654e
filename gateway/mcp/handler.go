package mcp

import "net/http"

// Handler is the MCP endpoint. It must stand behind [Origins], and behind
// whatever authenticates the caller.
type Handler struct {
	methods Methods
	o       Options
}

// NewHandler makes the endpoint. It starts no goroutine.
func NewHandler(methods Methods, o Options) *Handler {
	return &Handler{methods: methods, o: o}
}

// ServeHTTP answers one HTTP request to the endpoint.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	http.NotFound(w, r)
}
