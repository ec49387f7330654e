package source

import (
	"drawbridge/gateway/admin"
	"drawbridge/gateway/redact"
	"drawbridge/openapi/text"
)

// Status returns the state of the API for operators. Only the goroutine that publishes calls it.
func (s *Source) Status() admin.API {
	a := admin.API{Name: s.Name, Spec: redact.Location(s.Config.Spec.String()), State: admin.Loading}
	if of := s.Config.Service(); s.Config.IsDiscovered() {
		a.Service = &admin.Service{Provider: of.Provider, Namespace: of.Namespace, Name: of.Name}
	}
	switch {
	case s.Quarantine != nil:
		a.State = admin.Held
	case s.Document != nil && s.Err == nil && !s.unconfirmed:
		a.State = admin.Ready
	case s.Document != nil:
		a.State = admin.Stale
	case s.Tried:
		a.State = admin.Failed
	}
	if d := s.Document; d != nil {
		a.Title, a.Version, a.Standard, a.LoadedAt, a.MemoryBytes = d.Title, d.Version, d.Standard, &d.Read, d.API.Size
	}
	if s.Err != nil {
		a.Error = s.Err.Error()
	}
	a.Held = s.Quarantine.status(s.Secrets)
	if a.State == admin.Stale {
		since := s.confirmed
		a.StaleSince = &since
	}
	if !s.nextTry.IsZero() {
		next := s.nextTry
		a.NextTryAt = &next
	}
	return a
}

// maxListed is the maximum number of lost operations and of restrictions in the status.
const maxListed = 20

// status returns the quarantined document as operators see it, or nil.
func (q *Quarantined) status(secrets *redact.Configured) *admin.HeldDocument {
	if q == nil {
		return nil
	}
	shown := func(raw string) string { return text.Truncate(secrets.Operator(raw), admin.MaxText) }
	var restrictions []string
	for _, problem := range q.Unrestricted[:min(len(q.Unrestricted), maxListed)] {
		restrictions = append(restrictions, shown(problem))
	}
	status := &admin.HeldDocument{Undone: len(q.Unrestricted), Restrictions: restrictions, Operations: []string{}, Since: q.since, Digest: q.Digest, Version: shown(q.version), Lost: len(q.Lost), Of: q.Of}
	for _, op := range q.Lost[:min(len(q.Lost), maxListed)] {
		status.Operations = append(status.Operations, shown(op))
	}
	return status
}
