package former

import (
	"maps"
	"slices"
	"strings"

	"drawbridge/config"
)

// Fixed returns the arguments that callers don't give, each with what says of its value: the digest of one that stands in
// the configuration, the name of a claim, or that it is a secret, which is rotated.
func Fixed(arguments map[string]*config.Argument) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		switch a := arguments[name]; {
		case a.Value != "":
			all = append(all, name+"="+digest(string(a.Value)))
		case !a.Secret.IsZero():
			all = append(all, name+"=secret")
		case a.Claim != "":
			all = append(all, name+"=claim "+a.Claim)
		case a.Concealed():
			all = append(all, name+"=")
		}
	}
	return all
}

// free returns the arguments that a rule gives back to callers.
func free(arguments map[string]*config.Argument) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if a := arguments[name]; a.Hidden != nil && !*a.Hidden {
			names = append(names, name)
		}
	}
	return names
}

// fixedAfter returns the arguments that are fixed after another rule.
func fixedAfter(fixed []string, r *Rule) []string {
	if len(r.Fixed)+len(r.Free) == 0 {
		return fixed
	}
	replaced := slices.Clone(r.Free)
	for _, f := range r.Fixed {
		name, _, _ := strings.Cut(f, "=")
		replaced = append(replaced, name)
	}
	kept := slices.DeleteFunc(slices.Clone(fixed), func(f string) bool {
		name, _, _ := strings.Cut(f, "=")
		return slices.Contains(replaced, name)
	})
	return append(kept, r.Fixed...)
}
