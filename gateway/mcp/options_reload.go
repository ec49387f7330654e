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
func (t ReloadableOptions) bounded() ReloadableOptions {
	t.MaxBody, t.MaxDepth = cmp.Or(t.MaxBody, 1<<62), cmp.Or(t.MaxDepth, jsonscan.DefaultMaxDepth)
	return t
}

// Reload replaces the options. If there is an error, which is that of [NewSealer], nothing changes. It is safe for
// concurrent use.
func (h *Handler) Reload(t ReloadableOptions) error {
	t = t.bounded()
	if len(t.SealKeys) > 0 {
		if err := errors.Join(h.sessionSealer.Rekey(t.SealKeys), h.requestStates.Rekey(t.SealKeys), h.relaySealer.Rekey(t.SealKeys)); err != nil {
			return err
		}
	}
	h.reloadable.Store(&t)
	return nil
}
