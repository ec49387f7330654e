package reload

import (
	"context"
	"slices"

	"drawbridge/gateway/admin"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/source"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/widening"
)

// holds quarantines a document if necessary, and reports whether it did.
func (w *writer) holds(s *source.Source, u source.Update) bool {
	digest := u.Document.Digest()
	if w.inUse.serves(s, digest) || slices.ContainsFunc(s.Accepting, func(a source.Acceptance) bool { return a.Digest == digest }) {
		return false
	}
	q := s.Hold(u, w.undone(s, u.Document))
	if q == nil {
		return false
	}
	w.o.Metrics.Loaded(s.Name, telemetry.LoadHeld)
	if q.Lost != nil {
		w.o.Log.Warn("a newer document lacks too many operations and is quarantined; the tools stay as they are", "api", s.Name,
			"spec", redact.Location(s.Config.Spec.String()), "lost", len(q.Lost), "of", q.Of, "max_loss", s.Config.MaxLoss, "operations", telemetry.LogNames(q.Lost),
			"accept", "POST /apis/"+s.Name+"/accept", "digest", digest)
	}
	if q.Unrestricted != nil {
		w.o.Log.Error("a document would undo restrictions and is quarantined; correct the document or the configuration, or accept the document", "api", s.Name,
			"spec", redact.Location(s.Config.Spec.String()), "problems", telemetry.LogNames(q.Unrestricted), "tools_served", s.Document != nil,
			"accept", "POST /apis/"+s.Name+"/accept", "digest", digest)
	}
	return true
}

// undone returns the restrictions that a document would undo. During startup a selector that matches nothing is an
// error of the configuration instead; the same applies in a reload to the first document of an API.
func (w *writer) undone(s *source.Source, next *source.Document) []string {
	d := w.inUse
	if !d.APIs.Has(s) {
		d = w.next
	}
	before := s.Before()
	if before == nil && d != w.inUse {
		if old := w.inUse.APIs.Predecessor(s); old != nil {
			before = old.Before()
		}
	}
	if before == nil && (w.starting || d != w.inUse) {
		return nil
	}
	return d.undone(s, before, next)
}

// undone returns the restrictions that a document would undo: those of the configuration that would no longer match, and those of the
// document before it, nil if there is none, that the newer one lacks.
func (d *deployment) undone(s *source.Source, before, next *source.Document) []string {
	problems := d.APIs.Unrestricted(s, before, next)
	if before == nil {
		return problems
	}
	return append(problems, widening.Served{Config: d.Config, APIs: d.APIs}.WiderDocument(s, before, next)...)
}

// holdAsAStart quarantines the documents that a start would hold. They stay in use.
func (r *Runner) holdAsAStart(ctx context.Context) {
	for _, s := range r.first.APIs.Sources {
		next := s.Document
		if next == nil {
			continue
		}
		if stored := s.Stored(ctx, next); stored != nil {
			d := deployment{Deployment: r.first}
			s.Document = stored
			s.Hold(source.Update{Source: s, Document: next}, d.undone(s, stored, next))
			s.Document = next
		}
	}
}

// compareWith has the first document of each source of a deployment that has none compared with the one that was served in its place.
func (d *deployment) compareWith(old *deployment) {
	for _, s := range d.APIs.Sources {
		if s.Document != nil || old.APIs.Has(s) {
			continue
		}
		if p := old.APIs.Predecessor(s); p != nil {
			s.CompareWith(p.Before())
		}
	}
}

// release puts quarantined documents into use that no longer undo a restriction, because the configuration or another
// document has changed. It reports whether there were any.
func (w *writer) release() (released bool) {
	for _, s := range w.inUse.APIs.Sources {
		q := s.Quarantine
		if q == nil || q.Unrestricted == nil || q.Lost != nil {
			continue
		}
		if q.Update != nil && w.inUse.undone(s, s.Before(), q.Update.Document) == nil {
			w.o.Log.Info("a quarantined document no longer undoes any restriction and is in use now", "api", s.Name, "digest", q.Digest)
			w.use(s, *q.Update)
			released = true
		}
	}
	return released
}

// serves reports whether the source that s will replace already uses the document with this digest: an operator may
// have accepted it since the reload began.
func (d *deployment) serves(s *source.Source, digest string) bool {
	if d.APIs.Has(s) {
		return false
	}
	in := d.APIs.Similar(s.Config, s.Limits)
	return in != nil && in.Document != nil && in.Document.Digest() == digest
}

// use puts a document into use.
func (w *writer) use(s *source.Source, u source.Update) {
	s.Use(u)
	if w.next == nil || !w.inUse.APIs.Has(s) {
		return
	}
	for _, n := range w.next.APIs.Sources { // the reload under way must not quarantine a document that the operator has accepted
		switch q := n.Quarantine; {
		case q == nil || !w.inUse.serves(n, q.Digest):
		case q.Update != nil:
			w.use(n, *q.Update)
		default:
			n.Accepting = append(n.Accepting, source.Acceptance{Digest: q.Digest})
			n.LoadAgain()
		}
	}
}

// accept puts a quarantined document into use.
func (w *writer) accept(a source.Acceptance) {
	n := slices.IndexFunc(w.inUse.APIs.Sources, func(s *source.Source) bool { return s.Name == a.API })
	if n < 0 {
		a.Done <- admin.ErrNoAPI
		return
	}
	s := w.inUse.APIs.Sources[n]
	q := s.Quarantine
	if q == nil {
		a.Done <- admin.ErrNotHeld
		return
	}
	if a.Digest != "" && a.Digest != q.Digest {
		a.Done <- admin.ErrChanged
		return
	}
	w.o.Log.Warn("an operator accepted a quarantined document", "api", s.Name, "digest", q.Digest, "lost", len(q.Lost), "of", q.Of)
	if q.Update == nil {
		a.Digest = q.Digest
		s.Accepting = append(s.Accepting, a) // AnswerAccepted replies
		s.LoadAgain()
		return
	}
	w.use(s, *q.Update)
	w.publish()
	a.Done <- nil
}
