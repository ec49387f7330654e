package gateway

import (
	"slices"
	"strings"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/generation"
	"drawbridge/gateway/source"
	"drawbridge/openapi/text"
)

// ready reports whether as many APIs are served as server.ready demands. Once they were, that stays so (O6).
func (p *publisher) ready(gen *generation.Generation, d *generation.Deployment) bool {
	if gen == nil || p.becameReady {
		return gen != nil
	}
	p.becameReady = !slices.ContainsFunc(d.APIs.Sources, func(s *source.Source) bool {
		switch d.Config.Server.Ready.APIs {
		case config.ReadyAll:
			return s.Document == nil
		case config.ReadyTried:
			return s.Document == nil && !s.Tried
		case config.ReadyAny:
		}
		return false
	})
	return p.becameReady
}

// useGuard makes a token guard the one whose issuers count for readiness.
func (s *served) useGuard(guard *auth.Guard) {
	if status := s.status.Load(); status != nil && status.Ready {
		s.able() // a reload that brings issuers without keys must not make a gateway unready that has worked
	}
	s.guard.Store(guard)
}

// able reports whether tokens can be verified, or could when the gateway was ready before (T12).
func (s *served) able() bool {
	if s.wasAble.Load() {
		return true
	}
	if guard := s.guard.Load(); guard != nil && !guard.Able() {
		return false
	}
	s.wasAble.Store(true)
	return true
}

// judge completes the state of the gateway by what can change at each moment, and decides whether it is ready: it serves the
// APIs, it can verify tokens, and calls are not refused for their audit records.
func (s *served) judge(status *admin.Status) {
	for _, i := range s.issuers() {
		status.Issuers = append(status.Issuers, issuerOf(&i))
	}
	if s.audit != nil {
		status.Audit = auditStatus(s)
	}
	switch {
	case !status.Ready: // the APIs say why
	case !s.able():
		status.Ready, status.NotReady = false, admin.NoIssuer
	case status.Audit != nil && status.Audit.Refuses && !s.Config().Server.Ready.WithoutAudit:
		status.Ready, status.NotReady = false, admin.NoAudit
	}
	status.Draining = s.draining.Load()
	status.Ready = status.Ready && !status.Draining
}

// maxIssuerError is the most bytes of an issuer's error that are shown.
const maxIssuerError = 300

func issuerOf(s *auth.Status) admin.Issuer {
	i := admin.Issuer{Issuer: s.Issuer, Keys: s.Keys, Introspection: s.Opaque, Able: s.Able, Stored: s.Stored}
	if !s.Fetched.IsZero() {
		i.Fetched = &s.Fetched
	}
	switch {
	case s.Err != nil:
		i.Error = text.Truncate(strings.Join(strings.Fields(s.Err.Error()), " "), maxIssuerError) // it may have a whole response
	case !s.Tried:
		i.Error = "not tried yet"
	}
	return i
}

func auditStatus(s *served) *admin.Audit {
	log := s.audit.Status()
	a := &admin.Audit{Writable: log.Error == nil, Since: log.Since, Pending: log.Pending, Refuses: log.Refuses}
	if log.Error != nil {
		a.Error = log.Error.Error()
	}
	return a
}
