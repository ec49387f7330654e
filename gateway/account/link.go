package account

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"time"

	"drawbridge/auth"
)

// linkLifetime is how long a link can be opened, and how long the user may take for both logins.
const linkLifetime = 15 * time.Minute

// link is what a link says, sealed: for whom which account is connected. It grants nothing: the user in the browser has to prove to be
// the caller.
type link struct {
	ID      string   `json:"i"`
	Issuer  string   `json:"u"`
	Subject string   `json:"s"`
	Service string   `json:"v"` // Service.id
	Scopes  []string `json:"o,omitempty"`
	Until   int64    `json:"e"` // Unix time
}

// Link returns the URL at which a caller can connect an account with scopes, besides those that are connected already; "" if the caller
// can't, because the gateway logs no users of its issuer in.
func (s *Service) Link(ctx context.Context, p *auth.Principal, scopes []string) string {
	a := s.accounts
	base := a.publicURL()
	if !hasIdentity(p) || a.issuer(p.Issuer) == nil || base == "" {
		return ""
	}
	all := slices.Clone(s.credential.Scopes)
	if found, err := a.load(ctx, nameOf(s.id, p.Issuer, p.Subject)); err == nil && found != nil {
		scopes = slices.Concat(found.Scopes, scopes)
	}
	for _, scope := range scopes {
		if !slices.Contains(all, scope) {
			all = append(all, scope)
		}
	}
	text, err := json.Marshal(link{
		ID: rand.Text(), Issuer: p.Issuer, Subject: p.Subject, Service: s.id, Scopes: all, Until: a.o.Now().Add(linkLifetime).Unix(),
	})
	if err != nil {
		return ""
	}
	return base + LinkPath + a.o.Sealer.Seal(text, []byte("link"))
}

// openLink returns what a link says, and its service; false if it has expired, or is none of this configuration.
func (a *Accounts) openLink(handle string) (*link, *Service, bool) {
	text, err := a.o.Sealer.Open(handle, []byte("link"))
	if err != nil {
		return nil, nil, false
	}
	return a.checkLink(text)
}

// checkLink is openLink for what a browser kept.
func (a *Accounts) checkLink(text []byte) (*link, *Service, bool) {
	l := &link{}
	if json.Unmarshal(text, l) != nil || !a.o.Now().Before(time.Unix(l.Until, 0)) {
		return nil, nil, false
	}
	s := a.service(l.Service)
	return l, s, s != nil
}
