package mcp

import (
	"cmp"
	"errors"
	"time"

	"drawbridge/openapi/jsonscan"
)

// Tuning is what of [Options] can become another while the handler serves. Zero values mean the same.
type ReloadableOptions struct {
	MaxBody   int64         // see [Options]
	MaxDepth  int           // see [Options]
	KeepAlive time.Duration // see [Options]; streams that are open keep theirs
	// MaxStreamAge: see [Options]; streams that are open keep theirs.
	MaxStreamAge time.Duration
	// Sessionless: see [Options].
	Sessionless bool
	// SealKeys are the keys from now on. What was sealed with a key that is still among them goes on to open. None: the
	// keys stay as they are.
	SealKeys [][]byte
}

// bounded puts numbers in the place of zero, where it stands for no limit.
func (t ReloadableOptions) bounded() ReloadableOptions {
	t.MaxBody, t.MaxDepth = cmp.Or(t.MaxBody, 1<<62), cmp.Or(t.MaxDepth, jsonscan.DefaultMaxDepth)
	return t
}

// Tune puts another tuning into use. It is safe
// for concurrent use, and changes nothing if there is an error, which is that of [NewSealer].
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
