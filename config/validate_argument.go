package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// arguments checks what a rule changes of arguments, and notes where each change stands.
func (l *loader) arguments(cfg *Config, key string, arguments map[string]*Argument) {
	if l.given(key) && len(arguments) == 0 && l.ok(key) && !l.faulty(key) {
		l.errorf(key, "is empty; name an argument")
	}
	names := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		a, at := arguments[name], join(key, name)
		if a == nil || !l.ok(at) {
			continue
		}
		l.argument(cfg, at, name, a)
		if other := names[a.Name]; a.Name != "" && other != "" {
			l.errorf(at+".name", "%s is the name of %s already", quote(a.Name), quote(other))
		} else {
			names[a.Name] = name
		}
	}
}

func (l *loader) argument(cfg *Config, key, name string, a *Argument) {
	a.keys = map[string]string{"": key}
	given := map[string]bool{}
	for _, f := range fieldsOf(reflect.TypeFor[Argument]()) {
		if at := key + "." + f.name; l.given(at) {
			a.keys[f.name], given[f.name] = at, true
		}
	}
	if len(given) == 0 {
		if !l.faulty(key) {
			l.errorf(key, "is empty; it changes nothing")
		}
		return
	}
	if at := key + ".name"; a.Name != "" && l.ok(at) {
		switch {
		case a.Name == name:
			l.errorf(at, "is the name that the argument has already")
		case len(a.Name) > 64 || !legalArgument(a.Name):
			l.errorf(at, "%s can't be the name of an argument: at most 64 letters, digits, _, . and -", quote(a.Name))
		}
	}
	l.most(key+".description", a.Description, 1024)
	l.claim(cfg, key+".claim", a.Claim)
	var fixed []string
	for _, field := range []string{"value", "secret", "claim"} {
		if given[field] {
			fixed = append(fixed, field)
		}
	}
	hidden := a.Hidden != nil && *a.Hidden
	switch {
	case len(fixed) > 1:
		l.errorf(key+"."+fixed[1], "can't stand beside %s: there is one value", fixed[0])
	case len(fixed) == 1 && a.Hidden != nil && !hidden:
		l.errorf(key+".hidden", "can't be false with %s, which callers don't give", fixed[0])
	case given["default"] && len(fixed) == 1:
		l.errorf(key+".default", "has no effect beside %s, which every call is sent with", fixed[0])
	case given["default"] && hidden:
		l.errorf(key+".default", "is sent with every call if callers can't give the argument: write it as value, without hidden")
	case len(fixed) == 1 || hidden:
		for _, field := range []string{"name", "description", "example"} {
			if given[field] {
				l.errorf(key+"."+field, "has no effect: callers don't see the argument")
			}
		}
	}
}

// legalArgument reports whether an argument may have the name (the names that openapi makes).
func legalArgument(name string) bool {
	for _, c := range []byte(name) {
		if !alphanumeric(c) && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

// claim checks the name of a claim whose value is sent to a service.
func (l *loader) claim(cfg *Config, key, name string) {
	switch {
	case name == "" || !l.ok(key):
	case strings.Trim(name, "/") == "":
		l.errorf(key, "must be the name of a claim or a JSON Pointer, such as /org/id")
	case l.ok("auth") && (cfg.Auth == nil || cfg.Auth.Anonymous):
		l.errorf(key, "needs auth.issuers: without tokens no caller has claims")
	}
}

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
	}) || slices.ContainsFunc(c.APIs, func(a API) bool { return len(a.Request.Claims()) > 0 })
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
