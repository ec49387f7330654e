package config

import (
	"reflect"
	"slices"
)

func (m *PrincipalMatch) validate(c cursor) {
	all := c.config().Limits.PrincipalRates
	first := slices.IndexFunc(all, func(other PrincipalRate) bool { return reflect.DeepEqual(other.Match, *m) })
	switch {
	case c.faulty(""):
	case len(m.Issuer)+len(m.ClientID)+len(m.Subject)+len(m.Claims) == 0:
		c.errorf("", "matches nobody: give issuer, client_id, subject or claims, or leave the item out, as limits.principal_rate is for all others")
	case &all[first].Match != m:
		c.errorf("", "is that of limits.principal_rates[%d], which holds", first)
	}
	for i, issuer := range m.Issuer {
		if at := c.item("issuer", i); c.ok(at) && c.config().Auth.HasIssuers() && !slices.Contains(c.config().Auth.Identifiers(), issuer) {
			c.errorf(at, "%s is none of auth.issuers", quote(issuer))
		}
	}
	for name, values := range m.Claims {
		at := "claims." + name
		c.check(at, checkClaim(name))
		if c.given(at) && len(values) == 0 && c.ok(at) {
			c.errorf(at, "is empty; leave it out, or give a value")
		}
	}
}
