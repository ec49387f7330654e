package gateway

import (
	"context"
	"slices"
	"time"

	"drawbridge/gateway/diskcache"
	"drawbridge/openapi/fetch"
)

// beginGrace is how long the origin of a document may take at startup before the last-known-good document is served.
// With it a gateway without a network is ready within a second, and one that reaches its origins serves nothing old.
const beginGrace = 300 * time.Millisecond

// begin makes the first attempt of a source that may have a last-known-good document. base is that document if it is
// needed: the origin has no valid document, or lacks some of the operations, which the runner judges. If the origin
// takes longer than beginGrace, begin sends base to the runner before it returns.
func (s *source) begin(ctx context.Context) (l *loaded, kept *fetch.Copy, base *loaded, err error) {
	ended := make(chan struct{})
	go func() { // it ends with ctx, and begin waits for it
		defer close(ended)
		l, kept, err = s.load(ctx, nil)
	}()
	grace := time.NewTimer(beginGrace)
	defer grace.Stop()
	select {
	case <-ended:
	case <-grace.C:
		if base = s.fallBack(ctx, nil); base != nil {
			select {
			case s.g.updates <- update{source: s, base: base, early: true}:
			case <-ctx.Done():
			}
		}
		<-ended
		return l, kept, base, err
	}
	if ctx.Err() != nil {
		return nil, nil, nil, err
	}
	return l, kept, s.fallBack(ctx, l), err
}

// fallBack returns the last-known-good document. It returns nil if there is none, or if the runner need not compare it
// with now: now has all of its operations, exposes all that it exposed, and no restriction of the configuration could
// lose a match.
func (s *source) fallBack(ctx context.Context, now *loaded) *loaded {
	if s.g.store == nil {
		return nil
	}
	doc, release := s.g.store.Load(ctx, s.storeID, s.label)
	defer release()
	if doc == nil {
		return nil
	}
	if now != nil && !s.lacks(now, doc) && (!s.restricted || doc.Copy.Is(now.stamp)) {
		return nil
	}
	base, err := s.restore(ctx, doc)
	if err != nil {
		s.g.log.Warn("the document that was kept can't be used", "api", s.label, "file", s.g.store.Path(s.storeID), "error", err)
		return nil
	}
	return base
}

// lacks reports whether a document lacks an operation of the stored one. An operation that no selector exposes any more
// counts as lacking, because a document may have lost its tags.
func (s *source) lacks(now *loaded, kept *diskcache.Document) bool {
	have := map[string]bool{} // the value reports whether the operation is exposed
	for _, op := range now.api.Operations {
		have[withoutNames(op.Method+" "+op.Path)] = false
	}
	for _, op := range s.operations(now.api) {
		have[withoutNames(op)] = true
	}
	exposed := kept.Head.Exposed
	if exposed == nil {
		exposed = kept.Head.Operations
	}
	gone := func(op string) bool { _, there := have[withoutNames(op)]; return !there }
	hidden := func(op string) bool { return !have[withoutNames(op)] }
	return slices.ContainsFunc(kept.Head.Operations, gone) || slices.ContainsFunc(exposed, hidden)
}
