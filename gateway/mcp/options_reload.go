package mcp

import (
	"cmp"
	"errors"
	"time"

	"drawbridge/openapi/jsonscan"
)

// ReloadableOptions are the [Options] that can change while the handler serves.
type ReloadableOptions struct {
	// MaxBody limits a request body in bytes; 0 means no limit.
	MaxBody int64
	// MaxDepth limits the nesting of a request body. The default is [jsonscan.DefaultMaxDepth].
	MaxDepth int
	// KeepAlive is the time of silence after which an event stream gets a comment, so that intermediaries don't close
	// it. Zero disables it. Open streams keep theirs.
	KeepAlive time.Duration
	// MaxStreamAge limits the age of a subscription stream, varied by up to a tenth at random; the stream ends then as
	// in [Broker.Drain]. Streams over stdio have no limit, since clients don't reopen them there. Zero means no limit.
	// Open streams keep theirs.
	MaxStreamAge time.Duration
	// Sessionless also serves tools/list, tools/call and ping of the legacy revisions in requests without a session.
	// Such a client can't be elicited.
	Sessionless bool
	// SessionLife is the validity of the session ids that are handed out. Those handed out before keep theirs. The default is 24
	// hours.
	SessionLife time.Duration
	// SealKeys seal the ids of legacy sessions and the request states of elicitations: the first seals, all open.
	// Without a key a random one is made, so that handles are valid in this process only. Keys may have any length; 32
	// random bytes are recommended. (Where the process is restricted to FIPS 140, NewHandler panics on keys under 14
	// bytes.) In a reload, handles that were sealed with one of the new keys stay valid, and no keys leave the former
	// ones in use.
	SealKeys [][]byte
}

// bounded puts numbers in the place of zero, where it stands for no limit.
func (o ReloadableOptions) bounded() ReloadableOptions {
	o.MaxBody, o.MaxDepth = cmp.Or(o.MaxBody, 1<<62), cmp.Or(o.MaxDepth, jsonscan.DefaultMaxDepth)
	o.SessionLife = cmp.Or(o.SessionLife, sessionLife)
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
