package mcp

import "time"

// SetStall shortens what a client may stand still, for tests on real sockets.
func (h *Handler) SetStall(d time.Duration) { h.stall = d }
