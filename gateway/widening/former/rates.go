package former

import (
	"slices"

	"drawbridge/config"
)

// Limits are the limits that protect services and the gateway from the number of requests. They are zero in a record of an earlier
// version, which restricts nothing then.
type Limits struct {
	Address   Rate `json:"address,omitzero"`
	Principal Rate `json:"principal,omitzero"`
	// Own are the rates of certain principals, in their order.
	Own      []OwnRate `json:"own,omitempty"`
	MaxCalls int       `json:"max_calls,omitempty"`
}

// OwnRate is the rate of certain principals, instead of that of all.
type OwnRate struct {
	Match string `json:"match"` // digest
	Rate  Rate   `json:"rate,omitzero"`
}

func limitsOf(c *config.Config) Limits {
	of := func(r *config.Rate) Rate {
		if !r.On() {
			return Rate{}
		}
		return Rate{Interval: r.Rate.Interval(), Burst: r.AtOnce(), Each: true}
	}
	l := Limits{Address: of(&c.Limits.AddressRate), Principal: of(&c.Limits.PrincipalRate), MaxCalls: c.Limits.MaxCalls}
	for i := range c.Limits.PrincipalRates {
		r := &c.Limits.PrincipalRates[i]
		own := OwnRate{Match: digest(encode(r.Match))}
		if r.On() {
			own.Rate = Rate{Interval: r.Rate.Interval(), Burst: r.AtOnce(), Each: r.Per != config.PerAll}
		}
		l.Own = append(l.Own, own)
	}
	return l
}

func (w *comparison) limits(old, new *Limits) {
	w.when(new.Address.exceeds(old.Address), "limits.address_rate", "an address may send more requests")
	w.when(new.Principal.exceeds(old.Principal), "limits.principal_rate", "a principal may send more requests")
	w.when(new.ownExceed(old), "limits.principal_rates", "some principals may send more requests")
	w.when(old.MaxCalls > 0 && new.MaxCalls > old.MaxCalls, "limits.max_calls", "more calls run at once")
}

// ownExceed reports whether some principals may send more requests. The first rate that matches a principal applies, and which principals
// two of them match is unknown. So one that is new is compared with all that may have applied instead, those after it; one that is gone is
// compared with all that may apply now; and in another order each may have become any other.
func (l *Limits) ownExceed(old *Limits) bool {
	at := func(own []OwnRate, match string) int {
		return slices.IndexFunc(own, func(o OwnRate) bool { return o.Match == match })
	}
	kept, last := true, -1
	for _, own := range l.Own {
		if was := at(old.Own, own.Match); was >= 0 {
			if own.Rate.exceeds(old.Own[was].Rate) {
				return true
			}
			kept, last = kept && was > last, was
		}
	}
	// after returns the rates behind position i of own, of those that other has only where it is missing in own, and that of all.
	after := func(own []OwnRate, i int, others []OwnRate, rest Rate) []Rate {
		all := []Rate{rest}
		for j, o := range own {
			if at(others, o.Match) < 0 || j > i || !kept {
				all = append(all, o.Rate)
			}
		}
		return all
	}
	position := func(in, of []OwnRate, i int) int { // of the last common one before i
		for ; i > 0; i-- {
			if p := at(in, of[i-1].Match); p >= 0 {
				return p
			}
		}
		return -1
	}
	for i, own := range l.Own {
		if at(old.Own, own.Match) < 0 && slices.ContainsFunc(after(old.Own, position(old.Own, l.Own, i), l.Own, old.Principal), own.Rate.exceeds) {
			return true
		}
	}
	for i, own := range old.Own {
		exceeds := func(is Rate) bool { return is.exceeds(own.Rate) }
		if at(l.Own, own.Match) < 0 && slices.ContainsFunc(after(l.Own, position(l.Own, old.Own, i), old.Own, l.Principal), exceeds) {
			return true
		}
	}
	return !kept && slices.ContainsFunc(l.Own, func(is OwnRate) bool {
		return slices.ContainsFunc(old.Own, func(was OwnRate) bool { return is.Rate.exceeds(was.Rate) })
	})
}
