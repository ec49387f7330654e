package gateway

import (
	"context"
	"encoding/json"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/telemetry"
)

// groupPrefix is before the names of what is counted of principals with rates of their own. No principal's name begins like it:
// those begin with the URL of an issuer.
const groupPrefix = "group|"

// groupsOf returns whom limits.principal_rates are for. A group is named after what it matches, so that its counters, which replicas
// share, stay the same when other items come and go.
func groupsOf(c *config.Config) (groups []auth.Group) {
	for i := range c.Limits.PrincipalRates {
		m := &c.Limits.PrincipalRates[i].Match
		g := auth.Group{Name: groupName(m), Issuers: m.Issuer, Clients: m.ClientID, Subjects: m.Subject}
		for name, values := range m.Claims {
			if g.Claims == nil {
				g.Claims = make(map[string][]string, len(m.Claims))
			}
			g.Claims[name] = values
		}
		groups = append(groups, g)
	}
	return groups
}

func groupName(m *config.PrincipalMatch) string {
	text, err := json.Marshal(m) // with the claims in their order
	if err != nil {
		panic(err) // strings can be written
	}
	return groupPrefix + digest(string(text))
}

// newGroupRates makes the rates of limits.principal_rates, in their order, which is that of the guard's groups; nil stands for one that is off.
func newGroupRates(c *config.Config) (all []*rate) {
	type kind struct {
		rate  config.Frequency
		burst int
	}
	tables := map[kind]*rate{}
	for i := range c.Limits.PrincipalRates {
		r := &c.Limits.PrincipalRates[i]
		if !r.On() {
			all = append(all, nil)
			continue
		}
		of := kind{r.Rate.Frequency, r.AtOnce()}
		made := tables[of]
		if made == nil { // what is said of two of a kind is the same
			made = newRate(r.Rate.Interval(), r.AtOnce(), telemetry.RefusedPrincipalRate, "requests of this caller", "").tabulate()
			tables[of] = made
		}
		if r.Per == config.PerAll {
			own := *made
			own.key, own.whose = groupName(&r.Match), "requests of this caller and those who share its rate"
			made = &own
		}
		all = append(all, made)
	}
	return all
}

// of returns the rate that a principal's requests have, nil if it has none, and what they are counted under.
func (r *rates) of(ctx context.Context, principal string) (*rate, string) {
	if len(r.groups) > 0 {
		if n, member, ok := auth.FromContext(ctx).Group(); ok {
			switch own := r.groups[n]; {
			case own == nil:
				return nil, ""
			case own.key != "":
				return own, own.key
			default:
				return own, rateKey(member)
			}
		}
	}
	return r.principal, rateKey(principal)
}
