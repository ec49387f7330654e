package signin

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"drawbridge/config"
)

// Role is what an operator may do in the console.
type Role int

// Values of [Role]; each includes those before it.
const (
	None    Role = iota // not signed in
	View                // look at everything but callers, arguments and answers
	Operate             // accept held changes, reload, try tools; see callers
)

// Includes reports whether r may do what needs another role.
func (r Role) Includes(needed Role) bool { return r >= needed }

// String returns the role as the configuration has it.
func (r Role) String() string { return [...]string{"none", "view", "operate"}[r] }

// identity decides the role of a person by the claims of an ID token; false if no value of the roles claim has one.
func (p *provider) identity(claims map[string]any) (who Identity, ok bool) {
	values := claimValues(claims, p.config.RolesClaim)
	eachRole(p.config, func(value string, role Role) {
		if !ok && slices.Contains(values, value) {
			who, ok = Identity{Name: nameOf(claims), Role: role, Grant: grantOf(p.config, value, role)}, true
		}
	})
	return who, ok
}

// Valid reports whether the value of the claim by which a person signed in still has the same role.
func (o *OIDC) Valid(c *config.ConsoleOIDC, who Identity) bool {
	if c == nil {
		return false
	}
	valid := false
	eachRole(c, func(value string, role Role) {
		valid = valid || role == who.Role && grantOf(c, value, role) == who.Grant
	})
	return valid
}

// eachRole visits the values of the claim that have a role, the greater role first.
func eachRole(c *config.ConsoleOIDC, visit func(value string, role Role)) {
	for _, value := range c.Roles.Operate {
		visit(value, Operate)
	}
	for _, value := range c.Roles.View {
		visit(value, View)
	}
}

// grantOf identifies the line of the configuration that gives a value of the claim a role.
func grantOf(c *config.ConsoleOIDC, value string, role Role) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "oidc %q %q %q %q %s", c.Issuer.String(), c.ClientID, c.RolesClaim, value, role))
}
