package gateway

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
	"drawbridge/openapi/truncate"
)

// leastLoss is the minimum number of operations that a document must lose to be quarantined, unless it loses all.
const leastLoss = 4

// held is a document in quarantine: it lacks too many operations of the one in use (O2), or it would undo restrictions
// of the configuration. It is immutable.
type held struct {
	digest  string // identifies the document
	version string // version of the API, from the document
	// update is the compiled document. It is nil if both documents would exceed the memory budget; the document is
	// then reread when it is accepted.
	update *update
	// unkept reports whether the text of the document was dropped. The document is then reread when it is accepted.
	unkept bool
	lost   []string // lost operations, as method and path, sorted
	of     int      // number of operations of the document in use
	since  time.Time
	// unrestricted lists the restrictions that it would undo, with their positions in the configuration.
	unrestricted []string
}

// acceptance is an operator's decision to use a quarantined document.
type acceptance struct {
	name   string
	digest string     // of the accepted document; "" accepts whichever is quarantined
	done   chan error // receives the outcome; nil if nobody waits
}

// operations returns the operations of a document that the API exposes, as method and path. Documents are compared
// under the same configuration, so that excluding operations by a rule is no loss.
func (s *source) operations(api *openapi.API) []string {
	var all []string
	for _, op := range api.Operations {
		if s.config.Exposes(subjectOf(s.label, op)) {
			all = append(all, op.Method+" "+op.Path)
		}
	}
	return all
}

// lost returns the operations of before that are missing in now, sorted; nil if they are within max_loss.
func (s *source) lost(before, now []string) []string {
	have := make(map[string]bool, len(now))
	for _, op := range now {
		have[withoutNames(op)] = true
	}
	var lost []string
	for _, op := range before {
		if !have[withoutNames(op)] {
			lost = append(lost, op)
		}
	}
	if len(lost)*100 <= s.config.MaxLoss*len(before) || len(lost) < leastLoss && len(now) > 0 {
		return nil
	}
	slices.Sort(lost)
	return lost
}

// holds quarantines a document if necessary, and reports whether it did.
func (r *runner) holds(s *source, u update) bool {
	digest := u.loaded.digest()
	if r.serves(s, digest) || slices.ContainsFunc(s.accepting, func(a acceptance) bool { return a.digest == digest }) {
		return false
	}
	var before, lost []string
	if s.loaded != nil {
		before = s.operations(s.loaded.api)
		lost = s.lost(before, s.operations(u.loaded.api))
	}
	unrestricted := r.undone(s, u.loaded)
	if lost == nil && unrestricted == nil {
		return false
	}
	since := time.Now()
	if s.held != nil {
		since = s.held.since
	}
	s.held = &held{digest: digest, version: u.loaded.version, update: &u, lost: lost, of: len(before), since: since, unrestricted: unrestricted}
	if s.loaded != nil && !r.g.admission.documents.Fits(s, s.loaded.api, u.loaded.api) {
		s.held.update = nil
	} else if u.copy != nil && u.copy.Bytes() > smallText && r.g.admission.largeTexts != nil {
		s.held.update.copy, s.held.unkept = nil, true // the text would take memory until an operator decides
	}
	r.g.metrics.Loaded(s.name, telemetry.LoadHeld)
	if lost != nil {
		r.g.log.Warn("a newer document lacks too many operations and is held; the tools stay as they are", "api", s.name,
			"spec", redact.Location(s.config.Spec.String()), "lost", len(lost), "of", len(before), "max_loss", s.config.MaxLoss, "operations", first(lost),
			"accept", "POST /apis/"+s.name+"/accept", "digest", digest)
	}
	if unrestricted != nil {
		r.g.log.Error("a document would undo restrictions of the configuration and is held; correct the configuration, or accept the document", "api", s.name,
			"spec", redact.Location(s.config.Spec.String()), "problems", first(unrestricted), "tools_served", s.loaded != nil,
			"accept", "POST /apis/"+s.name+"/accept", "digest", digest)
	}
	return true
}

// undone returns the restrictions that a document would undo. During startup a selector that matches nothing is an
// error of the configuration instead; the same applies in a reload to the first document of an API.
func (r *runner) undone(s *source, next *loaded) []string {
	d := r.current
	if !d.has(s) {
		d = r.next
	}
	before := s.loaded
	if before == nil && d != r.current {
		if old := r.current.predecessor(s); old != nil {
			before = old.loaded
		}
	}
	if before == nil && (r.starting || d != r.current) {
		return nil
	}
	return d.unrestricted(s, before, next)
}

// predecessor returns the source that reads the document of a source of a newer configuration; nil if there is none. It
// may have another base URL or other repairs, so that its document can't be taken over, but restrictions are compared
// with the document in use.
func (d *deployment) predecessor(of *source) *source {
	var found *source
	for _, s := range d.sources {
		if s.config.Spec == of.config.Spec && (found == nil || s.config.Name == of.config.Name) {
			found = s
		}
	}
	return found
}

// release puts quarantined documents into use that no longer undo a restriction, because the configuration or another
// document has changed. It reports whether there were any.
func (r *runner) release() (released bool) {
	for _, s := range r.current.sources {
		if s.held == nil || s.held.unrestricted == nil || s.held.lost != nil {
			continue
		}
		if s.held.update != nil && r.current.unrestricted(s, s.loaded, s.held.update.loaded) == nil {
			r.g.log.Info("a document that was held undoes no restriction any more and comes into use", "api", s.name, "digest", s.held.digest)
			r.accepted(s, *s.held.update)
			released = true
		}
	}
	return released
}

// serves reports whether the source that s will replace already uses the document with this digest: an operator may
// have accepted it since the reload began.
func (r *runner) serves(s *source, digest string) bool {
	if r.current.has(s) {
		return false
	}
	in := r.current.similar(s.config, s.limits)
	return in != nil && in.loaded != nil && in.loaded.digest() == digest
}

// accepted puts a document into use.
func (r *runner) accepted(s *source, u update) {
	unkept := s.held != nil && s.held.unkept && u.copy == nil
	s.loaded, s.held = u.loaded, nil
	s.countDocuments()
	s.store(u.loaded, u.copy)
	if unkept {
		s.readAnew()
	}
	if r.next == nil || !r.current.has(s) {
		return
	}
	for _, n := range r.next.sources { // the reload under way must not quarantine a document that the operator has accepted
		switch {
		case n.held == nil || !r.serves(n, n.held.digest):
		case n.held.update != nil:
			r.accepted(n, *n.held.update)
		default:
			n.accepting = append(n.accepting, acceptance{digest: n.held.digest})
			n.readAnew()
		}
	}
}

// readAnew makes the source reread the document now, even if it is unchanged.
func (s *source) readAnew() {
	s.anew.Store(true)
	signal(s.poke)
}

// accept puts a quarantined document into use.
func (r *runner) accept(a acceptance) {
	n := slices.IndexFunc(r.current.sources, func(s *source) bool { return s.name == a.name })
	if n < 0 {
		a.done <- admin.ErrNoAPI
		return
	}
	s := r.current.sources[n]
	if s.held == nil {
		a.done <- admin.ErrNotHeld
		return
	}
	if a.digest != "" && a.digest != s.held.digest {
		a.done <- admin.ErrChanged
		return
	}
	r.g.log.Warn("an operator has accepted a document that was held", "api", s.name, "digest", s.held.digest, "lost", len(s.held.lost), "of", s.held.of)
	if s.held.update == nil {
		a.digest = s.held.digest
		s.accepting = append(s.accepting, a) // answerAccepted replies
		s.readAnew()
		return
	}
	r.accepted(s, *s.held.update)
	r.publish()
	a.done <- nil
}

// answerAccepted replies to the operators who accepted a document that had to be reread, once it is served.
func (r *runner) answerAccepted(u update) {
	s := u.source
	if u.early || u.err == nil && u.loaded == nil {
		return // this attempt began before the request
	}
	for _, a := range s.accepting {
		var err error
		switch {
		case u.err != nil:
			err = fmt.Errorf("the document that is held could not be read anew: %w", u.err)
		case s.loaded == nil || s.loaded.digest() != a.digest:
			err = admin.ErrChanged
		}
		reportReload([]chan<- error{a.done}, err)
	}
	s.accepting = nil
}

// Accept puts a quarantined document into use and returns when it is served. name and digest are those of
// [Gateway.Status]; an empty digest accepts whichever document is quarantined. The error is [admin.ErrNoAPI] or
// [admin.ErrNotHeld] if there is nothing to accept, and [admin.ErrChanged] if another document is quarantined. Accept
// needs [Gateway.Run].
func (g *Gateway) Accept(ctx context.Context, name, digest string) error {
	a := acceptance{name: name, digest: digest, done: make(chan error, 2)}
	select {
	case g.accepts <- a:
		select {
		case err := <-a.done: // immediately, or after the document was reread
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

// digest identifies the document by its bytes.
func (l *loaded) digest() string { return hex.EncodeToString(l.stamp.Digest[:]) }

// maxHeldNames is the maximum number of lost operations and of restrictions in the status.
const maxHeldNames = 20

// describe returns the quarantined document as operators see it; nil if there is none.
func (h *held) describe(s *source) *admin.HeldDocument {
	if h == nil {
		return nil
	}
	var restrictions []string
	for _, problem := range h.unrestricted[:min(len(h.unrestricted), maxHeldNames)] {
		restrictions = append(restrictions, truncate.Bytes(s.secrets.Operator(problem), admin.MaxText))
	}
	status := &admin.HeldDocument{Undone: len(h.unrestricted), Restrictions: restrictions, Operations: []string{}, Since: h.since, Digest: h.digest, Version: truncate.Bytes(s.secrets.Operator(h.version), admin.MaxText), Lost: len(h.lost), Of: h.of}
	for _, op := range h.lost[:min(len(h.lost), maxHeldNames)] {
		status.Operations = append(status.Operations, truncate.Bytes(s.secrets.Operator(op), admin.MaxText))
	}
	return status
}

// ready reports whether the gateway is ready. It becomes ready as server.ready demands, and stays so (O6).
func (g *Gateway) ready(gen *generation, d *deployment) bool {
	if gen == nil || g.becameReady {
		return gen != nil
	}
	g.becameReady = !slices.ContainsFunc(d.sources, func(s *source) bool {
		switch d.config.Server.Ready {
		case config.ReadyAll:
			return s.loaded == nil
		case config.ReadyTried:
			return s.loaded == nil && !s.tried
		case config.ReadyAny:
		}
		return false
	})
	return g.becameReady
}
