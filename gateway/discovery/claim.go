package discovery

import (
	"cmp"
	"slices"
	"strings"

	"drawbridge/config"
)

// claim lists the names that a service claims for its API; it gets the first one that it need not share. A service that gives up a name
// keeps its claim to it. So names depend only on the set of services, not on the order in which they were registered or on a restart.
type claim struct {
	id         config.ServiceID
	d          *config.Discovery
	s          *config.Service
	precedence config.Precedence
	// reserved reports whether the service is only named by the configuration: its name is kept until it is registered.
	reserved bool
	names    []string // those that were tried; the last is the one that the service has
	isUnique bool     // the last is made for this service alone
}

func newClaim(d *config.Discovery, s *config.Service, precedence config.Precedence) *claim {
	return &claim{
		id: config.ServiceID{Provider: d.Name, Namespace: s.Namespace, Name: s.Name}, d: d, s: s, precedence: precedence, names: []string{apiName(d, s)},
	}
}

// name returns the name that the service has.
func (c *claim) name() string { return c.names[len(c.names)-1] }

// first returns the name that api_name gives.
func (c *claim) first() string { return c.names[0] }

// giveUp tries the next name.
func (c *claim) giveUp() {
	if next := qualifiedName(c.d, c.s); len(c.names) == 1 && !strings.EqualFold(next, c.first()) {
		c.names = append(c.names, next)
		return
	}
	c.names, c.isUnique = append(c.names, uniqueName(c.d, c.s)), true
}

// claims are the claims of services by name, in lower case.
type claims map[string][]*claim

// settle decides which service has which name. A name that several claim belongs to the one that the configuration names, otherwise to none:
// nobody takes the name of a service by registering another one. configured are the names of configured APIs, which no service has.
func settle(all []*claim, configured map[string]bool) claims {
	by, changed := claims{}, map[string]bool{}
	for _, c := range all {
		by.add(c, changed)
	}
	// Claims only ever become more, so the outcome does not depend on the order in which names are looked at.
	for len(changed) > 0 {
		round := changed
		changed = map[string]bool{}
		for name := range round {
			owner := by.owner(name)
			for _, c := range slices.Clone(by[name]) {
				if c == owner && !configured[name] || c.reserved || c.isUnique || strings.ToLower(c.name()) != name || configured[name] && len(c.names) == 1 {
					continue
				}
				c.giveUp()
				by.add(c, changed)
			}
		}
	}
	for _, rivals := range by {
		slices.SortFunc(rivals, func(a, b *claim) int {
			return cmp.Or(cmp.Compare(b.precedence, a.precedence), strings.Compare(a.id.Provider, b.id.Provider), keyOf(a.id).compare(keyOf(b.id)))
		})
	}
	return by
}

// add adds the claim to the name that a service has now.
func (by claims) add(c *claim, changed map[string]bool) {
	name := strings.ToLower(c.name())
	by[name] = append(by[name], c)
	changed[name] = true
}

// owner returns the service that a name belongs to: the only one that claims it, the only one that the configuration names, or the one
// that it is made for; nil if there is none.
func (by claims) owner(name string) *claim {
	all := by[name]
	if len(all) == 1 {
		return all[0]
	}
	best := slices.MaxFunc(all, func(a, b *claim) int { return cmp.Compare(a.precedence, b.precedence) })
	var made *claim
	for _, c := range all {
		if c != best && c.precedence == best.precedence && best.precedence > config.Unnamed {
			return nil
		}
		if c.isUnique && strings.ToLower(c.name()) == name {
			made = c
		}
	}
	if best.precedence > config.Unnamed {
		return best
	}
	return made
}

// rivals returns the other services that claim the first name of a service, a few of them, those first that the configuration names.
func (by claims) rivals(c *claim) (rivals []*claim) {
	for _, other := range by[strings.ToLower(c.first())] {
		if len(rivals) == maxProblems {
			break
		}
		if other != c {
			rivals = append(rivals, other)
		}
	}
	return rivals
}

// String returns a description of the service for messages.
func (c *claim) String() string {
	return "service " + printable(keyOf(c.id).String()) + " of provider " + c.id.Provider
}

func keyOf(id config.ServiceID) key { return key{id.Namespace, id.Name} }
