package gateway

import (
	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/recovery"
	"drawbridge/gateway/source"
)

// newStore returns the last-known-good store; nil without server.state_dir.
func newStore(o *Options, l *limiters, r *recovery.Recoverer) *diskcache.Store {
	c := o.Config
	if c.Server.StateDir == "" {
		return nil
	}
	store := diskcache.Options{Dir: c.Server.StateDir.String(), MaxDocument: int64(c.Limits.MaxSpec), MaxWaiting: diskcache.MaxWaiting, LargeSize: source.SmallText,
		Logger: o.Logger, Metrics: o.Metrics, Pace: l.pace, Recover: r.Step, Keep: r.Keep}
	if l.largeTexts != nil {
		// The store has slots of its own, because origins that hang occupy those of admission.largeTexts.
		store.MaxLarge = cap(l.largeTexts)
		store.MaxDocument = min(store.MaxDocument, l.maxDocument)
		store.MaxWaiting = min(store.MaxWaiting, int(l.responses.Capacity()/2))
	}
	if o.Test.Store != nil {
		o.Test.Store(&store)
	}
	return diskcache.New(store)
}
