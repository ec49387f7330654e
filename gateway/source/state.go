package source

import (
	"fmt"
	"time"

	"drawbridge/gateway/admin"
	"drawbridge/openapi"
)

// The methods below apply an update to the state of its source. Only the goroutine that publishes calls them.

// Restore puts the last-known-good document of an update into use if there is no other. It reports whether it did.
func (s *Source) Restore(u Update) (restored bool) {
	if restored = s.Document == nil && u.Stored != nil; restored {
		s.Document, s.confirmed, s.baseline = u.Stored, u.Stored.Read, nil
	}
	if u.Early {
		s.unconfirmed = s.Document == u.Stored
	}
	return restored
}

// Attempted records that an attempt has ended. [Source.Use] or [Source.Hold] follows if it returned a document.
func (s *Source) Attempted(u Update) {
	s.Tried, s.unconfirmed, s.answered, s.Err, s.nextTry = true, false, u.turn, u.Err, u.NextTry
	if u.Err == nil {
		s.confirmed = time.Now()
	}
	if u.Document == nil {
		s.countDocuments() // Use and Hold do so for a newer document
	}
}

// Use puts the document of an update into use and stores it.
func (s *Source) Use(u Update) {
	s.rememberOperations(s.Before(), u.Document)
	reread := s.Quarantine != nil && s.Quarantine.textDropped && u.Copy == nil
	s.Document, s.Quarantine, s.baseline = u.Document, nil, nil
	s.countDocuments()
	s.store(u.Document, u.Copy)
	if reread {
		s.LoadAgain()
	}
}

// Hold quarantines the document of an update if it lacks too many operations of the one in use or would undo restrictions.
// It returns the quarantined document, or nil if there is no reason. unrestricted lists the restrictions.
func (s *Source) Hold(u Update, unrestricted []string) *Quarantined {
	q := &Quarantined{Digest: u.Document.Digest(), version: u.Document.Version, Update: &u, Unrestricted: unrestricted, since: time.Now()}
	if s.Document != nil {
		before := s.exposed(s.Document.API)
		q.Lost, q.Of = lostOperations(before, s.exposed(u.Document.API), s.Config.MaxLoss), len(before)
	}
	if q.Lost == nil && unrestricted == nil {
		return nil
	}
	if s.Quarantine != nil {
		q.since = s.Quarantine.since
	}
	if s.Document != nil && !s.deps.Documents.Fits(s.owner, s.Document.API, u.Document.API) {
		q.Update = nil
	} else if u.Copy != nil && u.Copy.Bytes() > SmallText && s.deps.LargeTexts != nil {
		u.Copy, q.textDropped = nil, true // the text would take memory until an operator decides
	}
	s.Quarantine = q
	s.countDocuments()
	return q
}

// exposed returns the operations of a document that the API exposes, as method and path. Documents are compared under
// the same configuration, so an operation that a rule excludes is not a loss.
func (s *Source) exposed(api *openapi.API) []string {
	var all []string
	for _, op := range api.Operations {
		if s.Config.Exposes(s.as(s.owner.label).subject(op)) {
			all = append(all, op.Method+" "+op.Path)
		}
	}
	return all
}

// AnswerAccepted replies to the operators who accepted a document that had to be reread, once it is served.
func (s *Source) AnswerAccepted(u Update) {
	if u.Early || u.Err == nil && u.Document == nil {
		return // this attempt began before the request
	}
	s.answer(func(a Acceptance) error {
		switch {
		case u.Err != nil:
			return fmt.Errorf("the held document could not be reread: %w", u.Err)
		case s.Document == nil || s.Document.Digest() != a.Digest:
			return admin.ErrChanged
		}
		return nil
	})
}

// answer replies to the operators who accepted a document that had to be reread.
func (s *Source) answer(outcome func(Acceptance) error) {
	for _, a := range s.Accepting {
		select {
		case a.Done <- outcome(a):
		default: // the operator has stopped waiting
		}
	}
	s.Accepting = nil
}

// countDocuments updates the memory budget of compiled documents.
func (s *Source) countDocuments() {
	var all []*openapi.API
	for _, d := range s.Documents() {
		all = append(all, d.API)
	}
	if s.baseline != nil {
		all = append(all, s.baseline.API)
	}
	s.deps.Documents.Set(s.owner, all...)
}

// Before returns the document that a newer one is compared with: the one in use, or the one that an earlier source
// served; nil if there is none.
func (s *Source) Before() *Document {
	if s.Document != nil {
		return s.Document
	}
	return s.baseline
}

// CompareWith sets the document of an earlier source that the first document of the source is compared with; nil for
// none.
func (s *Source) CompareWith(before *Document) { s.baseline = before }

// Documents returns the document in use and the one in quarantine.
func (s *Source) Documents() (all []*Document) {
	if s.Document != nil {
		all = append(all, s.Document)
	}
	if s.Quarantine != nil && s.Quarantine.Update != nil {
		all = append(all, s.Quarantine.Update.Document)
	}
	return all
}
