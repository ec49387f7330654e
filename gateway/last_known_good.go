package gateway

import (
	"drawbridge/config"
	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/source"
)

// newStore returns the last-known-good store; nil without server.state_dir.
func (g *Gateway) newStore(c *config.Config) *diskcache.Store {
	if c.Server.StateDir == "" {
		return nil
	}
	o := diskcache.Options{Dir: c.Server.StateDir.String(), MaxDocument: int64(c.Limits.MaxSpec), MaxWaiting: diskcache.MaxWaiting, LargeSize: source.SmallText,
		Logger: g.log, Metrics: g.o.Metrics, Pace: g.admission.pace, Recover: g.survive, Keep: g.Keep}
	if g.admission.largeTexts != nil {
		// The store has slots of its own, because origins that hang occupy those of admission.largeTexts.
		o.MaxLarge = cap(g.admission.largeTexts)
		o.MaxDocument = min(o.MaxDocument, g.admission.maxDocument)
		o.MaxWaiting = min(o.MaxWaiting, int(g.admission.responses.Capacity()/2))
	}
	if g.o.storeOptions != nil {
		g.o.storeOptions(&o)
	}
	return diskcache.New(o)
}
