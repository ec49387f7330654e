package widening

import (
	"fmt"
	"maps"
	"slices"
)

func (w *comparison) impliedScopes() {
	was, is := w.old.Implied, w.new.Implied
	for _, scope := range slices.Sorted(maps.Keys(is)) {
		for _, granted := range closure(is, []string{scope}) {
			w.when(!slices.Contains(closure(was, []string{scope}), granted), "auth.implies."+scope, "the scope %q grants %q", scope, granted)
		}
	}
}

// orDefault returns a list of scopes, or the default ones if it is empty.
func orDefault(list []string, s *Summary) []string {
	if len(list) == 0 {
		return s.defaultScopes()
	}
	return list
}

// AsStrict reports whether every caller with all the scopes of new also has those of old, given the
// implied scopes.
func AsStrict(new, old []string, implies map[string][]string) bool {
	return contains(closure(implies, new), old)
}

// mapsAsStrictly reports whether a mapping of a document's scopes is as strict as an old one.
func mapsAsStrictly(new, old, implies map[string][]string) bool {
	of := func(m map[string][]string, scope string) []string {
		if mapped, ok := m[scope]; ok {
			return mapped
		}
		return []string{scope}
	}
	for _, scope := range slices.Concat(slices.Collect(maps.Keys(new)), slices.Collect(maps.Keys(old))) {
		if !AsStrict(of(new, scope), of(old, scope), implies) {
			return false
		}
	}
	return true
}

// closure returns scopes with all that they imply.
func closure(implies map[string][]string, from []string) []string {
	all := slices.Clone(from)
	for i := 0; i < len(all); i++ {
		for _, granted := range implies[all[i]] {
			if !slices.Contains(all, granted) {
				all = append(all, granted)
			}
		}
	}
	return all
}

func scopes(list []string) string {
	switch len(list) {
	case 0:
		return "no scope"
	case 1:
		return fmt.Sprintf("the scope %q", list[0])
	}
	return fmt.Sprintf("the scopes %q", list)
}
