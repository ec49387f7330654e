package widening

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"drawbridge/config"
)

// accesses makes random accesses, and narrower ones.
type accesses struct {
	*rand.Rand
	names int // each new name is another one
}

func (r *accesses) name() string { r.names++; return fmt.Sprint("n", r.names) }

func (r *accesses) list() (all []string) {
	for range r.IntN(3) {
		all = append(all, r.name())
	}
	return all
}

func (r *accesses) coin() bool { return r.IntN(2) == 0 }

func (r *accesses) access() Access {
	a := Access{
		Exposed: true, Scopes: map[string][][]string{}, Confirmed: r.coin(), Asked: r.list(), Fixed: r.list(), Hidden: r.list(), SharedAnswers: r.coin(), Jobs: r.list(),
		ByDocument: ByDocument{Endpoints: r.list(), Credentials: r.list(), Judged: r.list(), Slashes: r.list(), Safe: r.coin()},
	}
	if r.coin() {
		a.Condition = r.name()
	}
	if r.coin() {
		a.Rate = Rate{Interval: time.Duration(1 + r.IntN(1000)), Burst: 1 + r.IntN(10), Each: r.coin()}
	}
	for _, endpoint := range append([]string{""}, a.ByDocument.Endpoints...) {
		for range 1 + r.IntN(3) {
			a.Scopes[endpoint] = append(a.Scopes[endpoint], append(r.list(), r.name()))
		}
	}
	return a
}

// narrowed returns an access that is narrower in one way.
func (r *accesses) narrowed(a Access) Access {
	less := func(list []string) []string { i := r.IntN(len(list)); return slices.Delete(slices.Clone(list), i, i+1) }
	more := func(list []string) []string { return slices.Insert(slices.Clone(list), r.IntN(len(list)+1), r.name()) }
	scopes := func(change func(sets [][]string) [][]string) {
		a.Scopes = maps.Clone(a.Scopes)
		a.Scopes[""] = change(a.Scopes[""])
	}
	for {
		before := a
		switch r.IntN(18) {
		case 0:
			a.Exposed = false
		case 1:
			scopes(func(sets [][]string) (all [][]string) {
				for _, set := range sets {
					all = append(all, more(set))
				}
				return all
			})
		case 2:
			scopes(func(sets [][]string) [][]string {
				i := r.IntN(len(sets))
				return slices.Delete(slices.Clone(sets), i, i+1)
			})
		case 3:
			if a.Condition != "" {
				continue
			}
			a.Condition = r.name()
		case 4:
			if a.Confirmed = true; before.Confirmed {
				continue
			}
		case 5:
			a.Asked = more(a.Asked)
		case 6:
			a.Fixed = more(a.Fixed)
		case 7:
			a.Hidden = more(a.Hidden)
		case 8:
			if a.SharedAnswers = false; !before.SharedAnswers {
				continue
			}
		case 9:
			if len(a.Jobs) == 0 {
				continue
			}
			a.Jobs = less(a.Jobs)
		case 10:
			if a.Rate = (Rate{time.Second, 10, true}); before.Rate.Interval > 0 {
				a.Rate = Rate{2 * before.Rate.Interval, before.Rate.Burst, before.Rate.Each}
			}
		case 11:
			if a.Rate.Burst < 2 {
				continue
			}
			a.Rate.Burst--
		case 12:
			if a.Rate.Each = false; !before.Rate.Each {
				continue
			}
		case 13:
			if len(a.ByDocument.Endpoints) == 0 {
				continue
			}
			a.ByDocument.Endpoints = less(a.ByDocument.Endpoints)
		case 14:
			if len(a.ByDocument.Credentials) == 0 {
				continue
			}
			a.ByDocument.Credentials = less(a.ByDocument.Credentials)
		case 16:
			a.ByDocument.Judged = more(a.ByDocument.Judged)
		case 17:
			if len(a.ByDocument.Slashes) == 0 {
				continue
			}
			a.ByDocument.Slashes = less(a.ByDocument.Slashes)
		case 15:
			if a.ByDocument.Safe = true; before.ByDocument.Safe {
				continue
			}
		}
		return a
	}
}

// TestAccessIsMonotone holds that an access which is equal to another one, or narrower in any ways, opens nothing, and that a wider one
// always does.
func TestAccessIsMonotone(t *testing.T) {
	for seed := range uint64(3000) {
		r := &accesses{Rand: rand.New(rand.NewPCG(seed, 0))}
		wide := r.access()
		if opens := wide.Opened(&wide, nil); opens != nil {
			t.Fatalf("seed %d: %+v opens %q beside itself", seed, wide, opens)
		}
		narrow := wide
		for range 1 + r.IntN(4) {
			if narrow.Exposed && len(narrow.Scopes[""]) > 0 {
				narrow = r.narrowed(narrow)
			}
		}
		if opens := narrow.Opened(&wide, nil); opens != nil {
			t.Fatalf("seed %d: %+v opens %q after %+v", seed, narrow, opens, wide)
		}
		if opens := wide.Opened(&narrow, nil); opens == nil {
			t.Fatalf("seed %d: %+v opens nothing after %+v", seed, wide, narrow)
		}
	}
}

// TestAccessOfOtherKinds holds what can't be compared, and what implied scopes make of it.
func TestAccessOfOtherKinds(t *testing.T) {
	with := func(sets ...[]string) Access { return Access{Exposed: true, Scopes: map[string][][]string{"": sets}} }
	one, other, nobody, all := with([]string{"a"}), with([]string{"b"}), with(), with([]string{"all"})
	at := Access{Exposed: true, Scopes: map[string][][]string{"": {{"a"}}, "e": {{"b"}}}}
	conditions := []Access{{Exposed: true, Condition: "x"}, {Exposed: true, Condition: "y"}}
	for _, tt := range []struct {
		name     string
		was, is  *Access
		implies  map[string][]string
		opens    bool
		opensToo bool // the other way round
	}{
		{"another scope", &one, &other, nil, true, true},
		{"nobody", &one, &nobody, nil, false, true},
		{"a scope that implies it", &one, &all, map[string][]string{"all": {"a"}}, false, true},
		{"another condition", &conditions[0], &conditions[1], nil, true, true},
		{"other scopes at a new endpoint", &one, &at, nil, true, false},
		{"no tool", &Access{}, &one, nil, true, false},
	} {
		if got := tt.is.Opened(tt.was, tt.implies) != nil; got != tt.opens {
			t.Errorf("%s: %t", tt.name, got)
		}
		if got := tt.was.Opened(tt.is, tt.implies) != nil; got != tt.opensToo {
			t.Errorf("%s, the other way round: %t", tt.name, got)
		}
	}
}

// TestCutRestriction holds that each restriction at the end of a file is missed when the file is cut before it.
func TestCutRestriction(t *testing.T) {
	const head = "auth: {issuers: [{issuer: \"https://idp.example.com\"}], default_scopes: [use]}\napis:\n  - spec: a.yaml\n    name: a\n    base_url: \"https://a.example.com\"\n"
	rule := func(set string) string { return head + "rules:\n  - match: {path: /x}\n    set: {timeout: 9s}\n" + set }
	for name, text := range map[string]string{
		"rate of a rule":      rule("  - match: {path: /pay}\n    set:\n      rate: {rate: 1/s}\n"),
		"burst of a rate":     rule("  - match: {path: /pay}\n    set:\n      rate:\n        rate: 10/s\n        burst: 3\n"),
		"scopes of a rule":    rule("  - match: {path: /pay}\n    set:\n      scopes:\n        - pay\n        - more\n"),
		"consent of a rule":   rule("  - match: {path: /pay}\n    set:\n      confirm: true\n"),
		"condition of a rule": rule("  - match: {path: /pay}\n    set:\n      condition: args.n < 1\n"),
		"fields of a rule":    rule("  - match: {path: /pay}\n    set:\n      sensitive_fields:\n        - ssn\n        - iban\n"),
		"argument of a rule":  rule("  - match: {path: /pay}\n    set:\n      arguments:\n        tenant: {value: acme}\n"),
		"rate of the API":     head + "    rate: {rate: 1/s}\n",
		"calls of the API":    head + "    max_in_flight: 2\n",
		"exclusion":           head + "    tools:\n      exclude:\n        - path: /x\n        - path: /y\n",
		"inclusion":           head + "    tools:\n      include:\n        - path: /x\n",
		"drop_arguments":      head + "    drop_arguments:\n      - session\n",
		"rate of principals":  head + "limits:\n  principal_rate: {rate: 1/s}\n",
		"rate of one":         head + "limits:\n  principal_rate: {rate: 10/s, burst: 20}\n  principal_rates:\n    - {match: {client_id: b}, rate: 1/s}\n",
		"rate of addresses":   head + "limits:\n  address_rate: {rate: 1/s}\n",
		"calls of all":        head + "limits:\n  max_calls: 10\n",
		"consent":             head + "tools:\n  confirm: destructive\n",
		"allowed addresses":   head + "    allow_addresses:\n      - 10.0.0.0/8\n",
	} {
		t.Run(name, func(t *testing.T) {
			whole := Of(load(t, text), nil)
			for at := range text[:len(text)-1] {
				if text[at] != '\n' || at+1 < len(head) {
					continue
				}
				file := text[:at+1]
				c := tryLoad(t, file)
				if c == nil {
					continue // rejected
				}
				if Wider(whole, Of(c, whole), nil) == nil {
					t.Errorf("cut to this it is applied:\n%s", file)
				}
			}
		})
	}
}

func tryLoad(t *testing.T, text string) *config.Config {
	t.Helper()
	return loadOr(t, text, func(any) {})
}
