package source

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/redact"
	"drawbridge/openapi/fetch"
)

// storeID returns the id of an API's document in the last-known-good store.
func storeID(api *config.API) string {
	location := absolute(api.Spec)
	base := ""
	if api.BaseURL != nil {
		base = api.BaseURL.String()
	}
	name := api.Name
	if api.IsDiscovered() { // its name depends on other services, and its location on its name
		name = fmt.Sprintf("%q", api.Service())
	}
	parts := []string{location, name, base}
	if api.Root != "" {
		parts = append(parts, api.Root.String()) // a stored document includes files that another root allowed
	}
	if len(api.Overlays) > 0 {
		parts = append(parts, "overlays") // an operation that they hide must not return with a document that was stored without them
		for _, overlay := range api.Overlays {
			parts = append(parts, absolute(overlay))
		}
	}
	return diskcache.ID(parts...)
}

// absolute returns a location independently of the working directory.
func absolute(location config.Location) string {
	if !location.IsURL() {
		if abs, err := filepath.Abs(location.String()); err == nil {
			return abs
		}
	}
	return location.String()
}

// store writes a document to the last-known-good store. It does nothing if c is nil or the source has no storeID.
func (s *Source) store(d *Document, c *fetch.Copy) {
	if c == nil || s.StoreID == "" {
		return
	}
	doc := &diskcache.Document{Copy: c, Head: diskcache.Head{ID: s.StoreID, Spec: redact.Location(s.Config.Spec.String()), Read: d.Read.UTC().Truncate(time.Second)}}
	doc.Head.Size = d.API.Size
	doc.Head.Exposed = append([]string{}, s.exposed(d.API)...)
	for _, op := range d.API.Operations {
		doc.Head.Operations = append(doc.Head.Operations, op.Method+" "+op.Path)
	}
	s.deps.Store.Put(doc)
}

// assignStore sets the storeID of the sources. Entries with the same id, for example because they spell one path in two
// ways, are not stored: one would get the document of the other.
func assignStore(deps *Deps, sources []*Source) {
	if deps.Store == nil {
		return
	}
	count := map[string]int{}
	for _, s := range sources {
		count[storeID(&s.Config)]++
	}
	for _, s := range sources {
		id := storeID(&s.Config)
		switch {
		case s.cancel != nil: // a running source keeps its id
		case count[id] == 1:
			s.StoreID = id
		default:
			deps.Logger.Warn("a document is not stored, because another entry of the configuration has the same spec and base_url: give both a name", "spec", redact.Location(s.Config.Spec.String()))
		}
	}
}

// reserveStored reserves memory for stored documents in the budget of compiled documents, before the first of them is
// read.
func reserveStored(ctx context.Context, deps *Deps, sources []*Source) {
	if deps.Store == nil || deps.Documents.Total() == 0 {
		return
	}
	var waiting []*Source
	var ids []string
	for _, s := range sources {
		if s.cancel == nil && s.StoreID != "" && !s.adopted {
			waiting, ids = append(waiting, s), append(ids, s.StoreID)
		}
	}
	for i, size := range deps.Store.Sizes(ctx, startupGrace, ids) {
		deps.Documents.Expect(waiting[i].owner, size)
	}
}
