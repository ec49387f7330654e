package source

import (
	"context"
	"slices"
	"time"

	"drawbridge/gateway/diskcache"
	"drawbridge/openapi"
	"drawbridge/openapi/fetch"
)

// startupGrace is the maximum time for the origin of a document at startup before the last-known-good document is
// served. With it, a gateway without a network is ready within a second, and one that reaches its origins serves
// nothing outdated.
const startupGrace = 300 * time.Millisecond

// firstLoad makes the first attempt of a source that may have a last-known-good document. stored is that document if it
// is needed: the origin has no valid document, or its document lacks operations, which the receiver of updates judges. If
// the origin takes longer than startupGrace, firstLoad sends stored as an early update before it returns.
func (s *Source) firstLoad(ctx context.Context) (d *Document, text *fetch.Copy, stored *Document, err error) {
	ended := make(chan struct{})
	go func() { // it ends with ctx, and firstLoad waits for it
		defer close(ended)
		d, text, err = s.loader.load(ctx, nil, true)
	}()
	grace := time.NewTimer(startupGrace)
	defer grace.Stop()
	select {
	case <-ended:
	case <-grace.C:
		if stored = s.fallBack(ctx, nil); stored != nil {
			select {
			case s.deps.Updates <- Update{Source: s, Stored: stored, Early: true}:
			case <-ctx.Done():
			}
		}
		<-ended
		return d, text, stored, err
	}
	if ctx.Err() != nil {
		return nil, nil, nil, err
	}
	return d, text, s.fallBack(ctx, d), err
}

// Stored returns the last-known-good document with which a start would compare a new one; nil if there is none, or if a
// start would use the new one without a comparison.
func (s *Source) Stored(ctx context.Context, now *Document) *Document {
	if s.StoreID == "" {
		return nil
	}
	return s.fallBack(ctx, now)
}

// fallBack returns the last-known-good document. It returns nil if there is none, or if no comparison with now is
// needed because both are the same document and every operation that was exposed still is.
func (s *Source) fallBack(ctx context.Context, now *Document) *Document {
	if s.deps.Store == nil {
		return nil
	}
	doc, release := s.deps.Store.Load(ctx, s.StoreID, s.owner.label)
	defer release()
	if doc == nil {
		return nil
	}
	if now != nil && !lacks(s.exposed(now.API), now.API, doc) && doc.Copy.Is(now.Stamp) {
		return nil
	}
	stored, err := s.loader.restore(ctx, doc)
	if err != nil {
		s.deps.Logger.Warn("the stored document can't be used", "api", s.owner.label, "file", s.deps.Store.Path(s.StoreID), "error", err)
		return nil
	}
	return stored
}

// lacks reports whether a document, of which some operations are exposed, lacks an operation of the stored one. An
// operation that no selector exposes any more counts as lacking, because a document may have lost its tags.
func lacks(exposedNow []string, now *openapi.API, stored *diskcache.Document) bool {
	have := map[string]bool{} // the value reports whether the operation is exposed
	for _, op := range now.Operations {
		have[WithoutNames(op.Method+" "+op.Path)] = false
	}
	for _, op := range exposedNow {
		have[WithoutNames(op)] = true
	}
	exposed := stored.Head.Exposed
	if exposed == nil {
		exposed = stored.Head.Operations
	}
	gone := func(op string) bool { _, there := have[WithoutNames(op)]; return !there }
	hidden := func(op string) bool { return !have[WithoutNames(op)] }
	return slices.ContainsFunc(stored.Head.Operations, gone) || slices.ContainsFunc(exposed, hidden)
}
