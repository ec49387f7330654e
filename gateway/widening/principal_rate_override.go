package widening

import (
	"reflect"
	"slices"

	"drawbridge/config"
)

// OwnRate is the rate of certain principals, instead of that of all.
type OwnRate struct {
	Match string `json:"match"` // digest
	Rate  Rate   `json:"rate,omitzero"`
}

func ownRatesOf(c *config.Config) (all []OwnRate) {
	for i := range c.Limits.PrincipalRates {
		r := &c.Limits.PrincipalRates[i]
		own := OwnRate{Match: digestOf(reflect.ValueOf(&r.Match))}
		if r.On() {
			own.Rate = Rate{Interval: r.Rate.Interval(), Burst: r.AtOnce(), Each: r.Per != config.PerAll}
		}
		all = append(all, own)
	}
	return all
}

// principalRate returns the rate of the principals that have none of their own.
func (s *Summary) principalRate() Rate {
	return rateFrom(s.Config["limits.principal_rate"])
}

// ownExceed reports whether some principals may send more requests. The first rate that matches a principal applies, and which principals
// two of them match is unknown. So one that is new is compared with all that may have applied instead, those after it; one that is gone is
// compared with all that may apply now; and in another order each may have become any other.
func ownExceed(old, new *Summary) bool {
	at := func(own []OwnRate, match string) int {
		return slices.IndexFunc(own, func(o OwnRate) bool { return o.Match == match })
	}
	kept, last := true, -1
	for _, own := range new.OwnRates {
		if was := at(old.OwnRates, own.Match); was >= 0 {
			if own.Rate.exceeds(old.OwnRates[was].Rate) {
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
	for i, own := range new.OwnRates {
		rates := after(old.OwnRates, position(old.OwnRates, new.OwnRates, i), new.OwnRates, old.principalRate())
		if at(old.OwnRates, own.Match) < 0 && slices.ContainsFunc(rates, own.Rate.exceeds) {
			return true
		}
	}
	for i, own := range old.OwnRates {
		exceeds := func(is Rate) bool { return is.exceeds(own.Rate) }
		if at(new.OwnRates, own.Match) < 0 && slices.ContainsFunc(after(new.OwnRates, position(new.OwnRates, old.OwnRates, i), old.OwnRates, new.principalRate()), exceeds) {
			return true
		}
	}
	return !kept && slices.ContainsFunc(new.OwnRates, func(is OwnRate) bool {
		return slices.ContainsFunc(old.OwnRates, func(was OwnRate) bool { return is.Rate.exceeds(was.Rate) })
	})
}
