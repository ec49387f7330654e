package gateway

import (
	"context"
	"fmt"
	"slices"

	"drawbridge/gateway/admin"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/source"
	"drawbridge/gateway/telemetry"
)

// holds quarantines a document if necessary, and reports whether it did.
func (r *runner) holds(s *source.Source, u source.Update) bool {
	digest := u.Document.Digest()
	if r.serves(s, digest) || slices.ContainsFunc(s.Accepting, func(a source.Acceptance) bool { return a.Digest == digest }) {
		return false
	}
	q := s.Hold(u, r.undone(s, u.Document))
	if q == nil {
		return false
	}
	r.metrics.Loaded(s.Name, telemetry.LoadHeld)
	if q.Lost != nil {
		r.log.Warn("a newer document lacks too many operations and is quarantined; the tools stay as they are", "api", s.Name,
			"spec", redact.Location(s.Config.Spec.String()), "lost", len(q.Lost), "of", q.Of, "max_loss", s.Config.MaxLoss, "operations", first(q.Lost),
			"accept", "POST /apis/"+s.Name+"/accept", "digest", digest)
	}
	if q.Unrestricted != nil {
		r.log.Error("a document would undo restrictions of the configuration and is quarantined; correct the configuration, or accept the document", "api", s.Name,
			"spec", redact.Location(s.Config.Spec.String()), "problems", first(q.Unrestricted), "tools_served", s.Document != nil,
			"accept", "POST /apis/"+s.Name+"/accept", "digest", digest)
	}
	return true
}

// undone returns the restrictions that a document would undo. During startup a selector that matches nothing is an
// error of the configuration instead; the same applies in a reload to the first document of an API.
func (r *runner) undone(s *source.Source, next *source.Document) []string {
	d := r.inUse
	if !d.apis.Has(s) {
		d = r.next
	}
	before := s.Document
	if before == nil && d != r.inUse {
		if old := r.inUse.apis.Predecessor(s); old != nil {
			before = old.Document
		}
	}
	if before == nil && (r.starting || d != r.inUse) {
		return nil
	}
	return d.apis.Unrestricted(s, before, next)
}

// release puts quarantined documents into use that no longer undo a restriction, because the configuration or another
// document has changed. It reports whether there were any.
func (r *runner) release() (released bool) {
	for _, s := range r.inUse.apis.Sources {
		q := s.Quarantine
		if q == nil || q.Unrestricted == nil || q.Lost != nil {
			continue
		}
		if q.Update != nil && r.inUse.apis.Unrestricted(s, s.Document, q.Update.Document) == nil {
			r.log.Info("a quarantined document no longer undoes any restriction and is in use now", "api", s.Name, "digest", q.Digest)
			r.use(s, *q.Update)
			released = true
		}
	}
	return released
}

// serves reports whether the source that s will replace already uses the document with this digest: an operator may
// have accepted it since the reload began.
func (r *runner) serves(s *source.Source, digest string) bool {
	if r.inUse.apis.Has(s) {
		return false
	}
	in := r.inUse.apis.Similar(s.Config, s.Limits)
	return in != nil && in.Document != nil && in.Document.Digest() == digest
}

// use puts a document into use.
func (r *runner) use(s *source.Source, u source.Update) {
	s.Use(u)
	if r.next == nil || !r.inUse.apis.Has(s) {
		return
	}
	for _, n := range r.next.apis.Sources { // the reload under way must not quarantine a document that the operator has accepted
		switch q := n.Quarantine; {
		case q == nil || !r.serves(n, q.Digest):
		case q.Update != nil:
			r.use(n, *q.Update)
		default:
			n.Accepting = append(n.Accepting, source.Acceptance{Digest: q.Digest})
			n.Reread()
		}
	}
}

// accept puts a quarantined document into use.
func (r *runner) accept(a source.Acceptance) {
	n := slices.IndexFunc(r.inUse.apis.Sources, func(s *source.Source) bool { return s.Name == a.API })
	if n < 0 {
		a.Done <- admin.ErrNoAPI
		return
	}
	s := r.inUse.apis.Sources[n]
	q := s.Quarantine
	if q == nil {
		a.Done <- admin.ErrNotHeld
		return
	}
	if a.Digest != "" && a.Digest != q.Digest {
		a.Done <- admin.ErrChanged
		return
	}
	r.log.Warn("an operator accepted a quarantined document", "api", s.Name, "digest", q.Digest, "lost", len(q.Lost), "of", q.Of)
	if q.Update == nil {
		a.Digest = q.Digest
		s.Accepting = append(s.Accepting, a) // AnswerAccepted replies
		s.Reread()
		return
	}
	r.use(s, *q.Update)
	r.publish()
	a.Done <- nil
}

// Accept puts a quarantined document into use and returns when it is served. name and digest are those of
// [Gateway.Status]; an empty digest accepts whichever document is quarantined. The error is [admin.ErrNoAPI] or
// [admin.ErrNotHeld] if there is nothing to accept, and [admin.ErrChanged] if another document is quarantined. Accept
// needs [Gateway.Run].
func (g *Gateway) Accept(ctx context.Context, name, digest string) error {
	a := source.Acceptance{API: name, Digest: digest, Done: make(chan error, 2)}
	select {
	case g.accepts <- a:
		select {
		case err := <-a.Done: // immediately, or after the document was reread
			return err
		case <-g.ended:
			return errEnded
		case <-ctx.Done():
			return fmt.Errorf("accept: %w", ctx.Err())
		}
	case <-g.ended:
		return errEnded
	case <-ctx.Done():
		return fmt.Errorf("accept: %w", ctx.Err())
	}
}
