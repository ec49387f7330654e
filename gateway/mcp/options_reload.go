package mcp

import (
	"cmp"
	"errors"
	"time"

	"drawbridge/openapi/jsonscan"
)

// ReloadableOptions are the [Options] that can change while the handler serves. Zero values have the same meaning.
type ReloadableOptions struct {
	MaxBody   int64         // see Options
	MaxDepth  int           // see Options
	KeepAlive time.Duration // see Options; open streams keep theirs
	// MaxStreamAge is that of Options; open streams keep theirs.
	MaxStreamAge time.Duration
	// Sessionless is that of Options.
	Sessionless bool
	// SealKeys are the new keys. Handles that were sealed with one of them stay valid. If empty, the keys don't change.
	SealKeys [][]byte
}

// bounded puts numbers in the place of zero, where it stands for no limit.
func (o ReloadableOptions) bounded() ReloadableOptions {
	o.MaxBody, o.MaxDepth = cmp.Or(o.MaxBody, 1<<62), cmp.Or(o.MaxDepth, jsonscan.DefaultMaxDepth)
	return o
}

// Reload replaces the options. If there is an error, which is that of [NewSealer], nothing changes. It is safe for
// concurrent use.
func (h *Handler) Reload(o ReloadableOptions) error {
	o = o.bounded()
	if len(o.SealKeys) > 0 {
		if err := errors.Join(h.sessionSealer.Rekey(o.SealKeys), h.requestStates.Rekey(o.SealKeys), h.relaySealer.Rekey(o.SealKeys)); err != nil {
			return err
		}
	}
	h.reloadable.Store(&o)
	return nil
}
