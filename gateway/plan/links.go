package plan

import (
	"time"

	"drawbridge/config"
)

// Links determines the responses of a plan that are returned as links. It is immutable.
type Links struct {
	// Over is the minimum size in bytes; 0 if size does not matter.
	Over int
	// Binary selects all responses with parts that are neither JSON nor text.
	Binary bool
	// TTL is the lifetime of a link.
	TTL time.Duration
}

// newLinks returns nil if responses are returned inline: repeating an unsafe call to read a link would repeat its effect.
func newLinks(c *config.Links, safe bool) *Links {
	if c == nil || !safe {
		return nil
	}
	return &Links{Over: int(c.Over), Binary: c.Binary, TTL: time.Duration(c.TTL)}
}
