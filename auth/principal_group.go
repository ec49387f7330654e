package auth

import (
	"slices"

	"drawbridge/openapi/jsonscan"
)

// Group selects principals for which configured rules apply. All selectors must match; each list
// matches if one of its values equals, byte for byte.
type Group struct {
	// Name identifies the group, uniquely and independently of other groups.
	Name string
	// Issuers, Clients and Subjects select by the values of the token. Empty matches any.
	Issuers, Clients, Subjects []string
	// Claims maps a claim name, or a JSON Pointer if it begins with '/', to the accepted values of
	// the claim or of one of its items: a string, or a number or boolean as written in JSON. An
	// absent claim does not match.
	Claims map[string][]string
}

// matches reports whether a principal with the given claims belongs to the group.
func (g *Group) matches(p *Principal, claims []byte) bool {
	one := func(of []string, value string) bool { return len(of) == 0 || slices.Contains(of, value) }
	if !one(g.Issuers, p.Issuer) || !one(g.Clients, p.ClientID) || !one(g.Subjects, p.Subject) {
		return false
	}
	for name, values := range g.Claims {
		claim := claimAt(claims, name)
		if !isOneOf(claim, values) && !slices.ContainsFunc(items(claim), func(item []byte) bool { return isOneOf(item, values) }) {
			return false
		}
	}
	return true
}

// items returns the elements of an array, and none for other values.
func items(value []byte) (list [][]byte) {
	if jsonscan.KindOf(value) == jsonscan.Array {
		for item := range jsonscan.Elements(value) {
			list = append(list, item)
		}
	}
	return list
}

func isOneOf(value []byte, values []string) bool {
	switch jsonscan.KindOf(value) {
	case jsonscan.String:
		return slices.Contains(values, string(jsonscan.Unquote(value)))
	case jsonscan.Number, jsonscan.Bool:
		return slices.Contains(values, string(value))
	default:
		return false
	}
}

// assignGroup assigns a principal to the first group that matches.
func (g *Guard) assignGroup(p *Principal, claims []byte) {
	for n := range g.groups {
		if g.groups[n].matches(p, claims) {
			p.group, p.groupMember = n+1, g.groups[n].Name+"|"+p.ID()
			return
		}
	}
}

// Group returns the index of the first of [Options.Groups] that the principal belongs to, and its
// name in that group: [Principal.ID] prefixed with the group's name, because the tokens of one
// principal may come from several clients and so belong to several groups. It returns false if the
// principal belongs to none.
func (p *Principal) Group() (n int, member string, ok bool) {
	if p == nil || p.group == 0 {
		return 0, "", false
	}
	return p.group - 1, p.groupMember, true
}
