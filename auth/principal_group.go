package auth

import (
	"slices"

	"drawbridge/openapi/jsonscan"
)

// Group is a set of principals that somebody has rules for. All that it names
// must fit; of each list one value must. It is compared byte for byte.
type Group struct {
	// Name is a word for the group that no other has, and that stays the same
	// when others come and go.
	Name string
	// Issuers, Clients and Subjects are those of the token. Empty: any.
	Issuers, Clients, Subjects []string
	// Claims are by name, or by JSON Pointer if that begins with '/', what the
	// claim must be, or have among its items: a string, or a number or truth value
	// as it stands in JSON. A claim that is absent fits nothing.
	Claims map[string][]string
}

// holds tells whether a principal with those claims belongs to the group.
func (g *Group) holds(p *Principal, claims []byte) bool {
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

// items are those of an array, none of anything else.
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

// join gives a principal its place in the first group that holds it.
func (g *Guard) join(p *Principal, claims []byte) {
	for n := range g.groups {
		if g.groups[n].holds(p, claims) {
			p.group, p.member = n+1, g.groups[n].Name+"|"+p.ID()
			return
		}
	}
}

// Group returns the number of the first of [Options.Groups] that the principal
// belongs to, and its name there: [Principal.ID] with the group's before it,
// since a principal has tokens of several clients, which may be of several
// groups. False: it belongs to none.
func (p *Principal) Group() (n int, member string, ok bool) {
	if p == nil || p.group == 0 {
		return 0, "", false
	}
	return p.group - 1, p.member, true
}
