package config

import (
	"fmt"
	"maps"
	"slices"
)

// concealed returns the key paths of the arguments that a rule conceals from callers.
func (s *Settings) concealed() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Arguments)) {
		if a := s.Arguments[name]; a != nil && a.Concealed() {
			names = append(names, name)
		}
	}
	return names
}

// UsesClaims reports whether calls need claims of their callers' tokens.
func (c *Config) UsesClaims() bool {
	return slices.ContainsFunc(c.Rules, func(r Rule) bool {
		return r.Set.Condition != "" || slices.ContainsFunc(slices.Collect(maps.Values(r.Set.Arguments)), func(a *Argument) bool { return a != nil && a.Claim != "" })
	}) || slices.ContainsFunc(c.APIs, func(a API) bool { return len(a.Request.Claims())+len(a.ServerSelectors()) > 0 })
}

// argumentSelections returns a Selection for each argument that a rule changes, for each of its selectors: an operation
// that the selector matches must have the argument.
func (c *Config) argumentSelections(i int) (all []Selection) {
	set := &c.Rules[i].Set
	for _, name := range slices.Sorted(maps.Keys(set.Arguments)) {
		a := set.Arguments[name]
		if a == nil {
			continue
		}
		var restricts []string
		if a.Concealed() {
			restricts = []string{fmt.Sprintf("arguments.%s", name)}
		}
		for j, sel := range c.Rules[i].Match {
			if !sel.Optional {
				one := Selection{Selector: sel, Key: c.itemKey(fmt.Sprintf("rules[%d].match", i), j), Restricts: restricts, Argument: name, ArgumentKey: a.keys[""]}
				all = append(all, c.alternatives(one)...)
			}
		}
	}
	return all
}
