package admission

import (
	"context"
	"encoding/json"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/telemetry"
)

// groupPrefix begins the names of counters of principals with rates of their own. No principal's name begins like it: those begin
// with the URL of an issuer.
const groupPrefix = "group|"

// PrincipalGroups returns the groups of principals that limits.principal_rates are for. A group is named after what it matches, so that its counters, which replicas
// share, stay the same when other items come and go.
func PrincipalGroups(c *config.Config) (groups []auth.Group) {
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

// newGroupRateLimits compiles limits.principal_rates in their order, which is that of [PrincipalGroups]. A nil rate is off.
func newGroupRateLimits(c *config.Config) (all []*RateLimit) {
	type kind struct {
		rate  config.Frequency
		burst int
	}
	tables := map[kind]*RateLimit{}
	for i := range c.Limits.PrincipalRates {
		r := &c.Limits.PrincipalRates[i]
		if !r.On() {
			all = append(all, nil)
			continue
		}
		of := kind{r.Rate.Frequency, r.AtOnce()}
		made := tables[of]
		if made == nil { // two limits of a kind have the same headers and errors
			made = newRateLimit(r.Rate.Interval(), r.AtOnce(), telemetry.RefusedPrincipalRate, "requests of this caller", "").tabulate()
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

// Of returns the rate of a principal's requests and the name of its counter, or nil if it has none. The token is that of ctx.
func (r *RequestRateLimits) Of(ctx context.Context, principal string) (*RateLimit, string) {
	if len(r.groups) > 0 {
		if n, member, ok := auth.FromContext(ctx).Group(); ok {
			switch own := r.groups[n]; {
			case own == nil:
				return nil, ""
			case own.key != "":
				return own, own.key
			default:
				return own, PrincipalKey(member)
			}
		}
	}
	return r.Principal, PrincipalKey(principal)
}
