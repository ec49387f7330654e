package config

import (
	"fmt"
	"slices"
)

// Selection is one selector of the configuration, as it is checked against the operations of documents: a selector that
// matches none is a mistake unless it is optional. A selector that lists several paths, operations or tags gives one
// Selection for each of them, so that a mistyped one does not hide behind the others.
type Selection struct {
	Selector
	// Key is the key path of the selector or, where it lists several alternatives, of the one that Selector holds.
	Key string
	// Entry is the key path of the entry of apis whose operations alone are selected, such as apis[0]; "" if the operations of
	// all APIs are.
	Entry string
	// Restricts lists the settings by which a match restricts access, such as exclude or scopes, in a fixed order. It is empty
	// if a match takes nothing away from callers.
	Restricts []string
	// Argument is the argument that a matched operation must have as well; "" if it needs none. ArgumentKey is its key path.
	Argument, ArgumentKey string
}

// Match reports whether the selection matches an operation.
func (s *Selection) Match(op Subject) bool {
	return s.Selector.Match(op) && (s.Argument == "" || op.takes(s.Argument))
}

// Severity is that of the problem if nothing matches: an error for a selector that restricts and names a path, an operation,
// a tag, an extension or an argument, since what it was meant for would be open; else a warning.
func (s *Selection) Severity() Severity {
	if len(s.Restricts) > 0 && len(s.Path)+len(s.Operation)+len(s.Tag)+len(s.Extension)+len(s.Argument) > 0 {
		return Error
	}
	return Warning
}

// Reaches reports whether the selector can match operations of an API, which has the name, claims another one (see [API.Claimed]), and
// comes from the entry of apis.
func (s *Selection) Reaches(api, claimed, entry string) bool {
	if s.Entry != "" {
		return s.Entry == entry
	}
	return s.API.allow(api) || !s.configured && claimed != "" && s.API.allow(claimed)
}

// Selections returns the selectors of apis, rules, tools and endpoints, in this order, without those that are optional.
func (c *Config) Selections() []Selection {
	var all []Selection
	add := func(list string, selectors Selectors, entry string, restricts []string) {
		for i, sel := range selectors {
			if !sel.Optional {
				all = append(all, c.alternatives(Selection{Selector: sel, Key: c.itemKey(list, i), Entry: entry, Restricts: restricts})...)
			}
		}
	}
	seen := map[string]bool{}
	for i := range c.APIs {
		entry := c.KeyOf(i)
		if seen[entry] {
			continue // another file of the same directory, or another service of the same provider
		}
		seen[entry] = true
		list := entry + ".tools"
		if c.APIs[i].IsDiscovered() {
			list = entry + ".api.tools"
		}
		add(list+".include", c.APIs[i].Tools.Include, entry, nil)
		add(list+".exclude", c.APIs[i].Tools.Exclude, entry, []string{"exclude"})
	}
	for i := range c.Rules {
		add(fmt.Sprintf("rules[%d].match", i), c.Rules[i].Match, "", c.Rules[i].Set.Restricts())
		all = append(all, c.argumentSelections(i)...)
	}
	add("tools.pinned", c.Tools.Pinned, "", nil)
	for i := range c.Endpoints {
		add(fmt.Sprintf("endpoints[%d].match", i), c.Endpoints[i].Match, "", nil)
		add(fmt.Sprintf("endpoints[%d].pinned", i), c.Endpoints[i].Pinned, "", nil)
	}
	return all
}

// Restricts lists the settings that take something away from callers, in a fixed order: scopes that a call needs, a
// condition, consent, a rate, arguments that callers can't give, and fields that leave no answer.
func (s *Settings) Restricts() []string {
	var names []string
	for _, setting := range []struct {
		name string
		is   bool
	}{
		{"scopes", len(s.Scopes) > 0},
		{"condition", s.Condition != ""},
		{"confirm", s.Confirm != nil && *s.Confirm},
		{"annotations", s.Annotations.Tightens()},
		{"rate", s.Rate.On()},
		{"arguments", len(s.concealed()) > 0},
		{"sensitive_fields", s.SensitiveFields != nil},
	} {
		if setting.is {
			names = append(names, setting.name)
		}
	}
	return names
}

// itemKey returns the key path of an item of a list, which a single item may replace.
func (c *Config) itemKey(list string, i int) string {
	if key := fmt.Sprintf("%s[%d]", list, i); c.has(key) {
		return key
	}
	return list
}

// has reports whether the file gives the key.
func (c *Config) has(key string) bool {
	_, ok := c.positions[key]
	return ok
}

// alternatives returns one Selection for each path, operation and tag of those that list several; else the Selection itself.
func (c *Config) alternatives(s Selection) []Selection {
	var all []Selection
	for _, k := range selectorKeys {
		patterns := *k.of(&s.Selector)
		if !k.named || len(patterns) < 2 {
			continue
		}
		for i, p := range patterns {
			one := s
			*k.of(&one.Selector) = Patterns{p}
			one.Key = fmt.Sprintf("%s.%s[%d]", s.Key, k.name, i)
			all = append(all, one)
		}
	}
	if all == nil {
		all = []Selection{s}
	}
	return all
}

// selectorKeyword is a key of a selector.
type selectorKeyword struct {
	name   string
	noun   string // before a value, in messages
	named  bool   // the value names a thing that the document has, which may be mistyped
	of     func(*Selector) *Patterns
	values func(Subject) []string
}

// selectorKeys are the keys of a selector but api, those first that are mistyped most.
var selectorKeys = []selectorKeyword{
	{"path", "path", true, func(s *Selector) *Patterns { return &s.Path }, func(s Subject) []string { return []string{s.Path} }},
	{"operation", "operationId", true, func(s *Selector) *Patterns { return &s.Operation }, func(s Subject) []string {
		if s.Operation == "" {
			return nil
		}
		return []string{s.Operation}
	}},
	{"tag", "tag", true, func(s *Selector) *Patterns { return &s.Tag }, func(s Subject) []string { return s.Tags }},
	{"extension", "extension", true, func(s *Selector) *Patterns { return &s.Extension }, func(s Subject) []string { return s.Extensions }},
	{"method", "method", false, func(s *Selector) *Patterns { return &s.Method }, func(s Subject) []string { return []string{s.Method} }},
}

// matches reports whether one of the subject's values for the key matches one of the patterns.
func (k *selectorKeyword) matches(patterns Patterns, s Subject) bool {
	return slices.ContainsFunc(k.values(s), patterns.allow)
}
