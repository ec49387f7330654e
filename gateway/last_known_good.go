package gateway

import (
	"context"
	"path/filepath"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/redact"
	"drawbridge/openapi/fetch"
)

// newStore returns the last-known-good store; nil without server.state_dir.
func (g *Gateway) newStore(c *config.Config) *diskcache.Store {
	if c.Server.StateDir == "" {
		return nil
	}
	o := diskcache.Options{Dir: c.Server.StateDir.String(), MaxDocument: int64(c.Limits.MaxSpec), MaxWaiting: diskcache.MaxWaiting, LargeSize: smallText,
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

// storeID returns the id of an API's document in the last-known-good store.
func storeID(api *config.API) string {
	location := api.Spec.String()
	if !api.Spec.IsURL() {
		if abs, err := filepath.Abs(location); err == nil {
			location = abs
		}
	}
	base := ""
	if api.BaseURL != nil {
		base = api.BaseURL.String()
	}
	parts := []string{location, api.Name, base}
	if api.Root != "" {
		parts = append(parts, api.Root.String()) // a stored document includes files that another root allowed
	}
	return diskcache.ID(parts...)
}

// store writes a document to the last-known-good store. It does nothing if c is nil or the source has no storeID.
func (s *source) store(l *loaded, c *fetch.Copy) {
	if c == nil || s.storeID == "" {
		return
	}
	doc := &diskcache.Document{Copy: c, Head: diskcache.Head{ID: s.storeID, Spec: redact.Location(s.config.Spec.String()), Read: l.at.UTC().Truncate(time.Second)}}
	doc.Head.Size = l.api.Size
	doc.Head.Exposed = append([]string{}, s.operations(l.api)...)
	for _, op := range l.api.Operations {
		doc.Head.Operations = append(doc.Head.Operations, op.Method+" "+op.Path)
	}
	s.g.store.Put(doc)
}

// assignStore sets the storeID of the sources of a deployment. Entries with the same id, for example because they spell
// one path in two ways, are not stored: one would get the document of the other.
func (g *Gateway) assignStore(d *deployment) {
	if g.store == nil {
		return
	}
	count := map[string]int{}
	for _, src := range d.sources {
		count[storeID(&src.config)]++
	}
	for _, src := range d.sources {
		id := storeID(&src.config)
		switch {
		case src.cancel != nil: // a running source keeps its id
		case count[id] == 1:
			src.storeID = id
		default:
			g.log.Warn("a document is not kept, because another entry of the configuration has the same spec and base_url: give both a name", "spec", redact.Location(src.config.Spec.String()))
		}
	}
}

// nameStored tells the store which documents belong to the configuration in use.
func (g *Gateway) nameStored(d *deployment) {
	if g.store == nil {
		return
	}
	var ids []string
	for _, src := range d.sources {
		ids = append(ids, src.storeID)
	}
	g.store.SetNamed(ids)
}

// expect reserves memory for the stored documents in the budget of compiled documents, before the first of them is
// read.
func (g *Gateway) expect(ctx context.Context, sources []*source) {
	if g.store == nil || g.admission.documents.Total() == 0 {
		return
	}
	var ids []string
	for _, s := range sources {
		ids = append(ids, s.storeID)
	}
	for i, size := range g.store.Sizes(ctx, beginGrace, ids) {
		g.admission.documents.Expect(sources[i], size)
	}
}
