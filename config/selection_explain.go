package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"drawbridge/openapi/text"
)

// Explain tells why the selection matches none of the operations that it reaches, with the name that was probably meant, as
// a problem with its place in the file. Subjects are all operations that it reaches.
func (c *Config) Explain(s *Selection, subjects []Subject) Problem {
	if s.Argument != "" {
		return c.explainArgument(s, subjects)
	}
	key, message := s.Key, ""
	var none []string // values that some operation has, but none together with the others
	for _, k := range selectorKeys {
		patterns := *k.of(&s.Selector)
		if len(patterns) == 0 {
			continue
		}
		if slices.ContainsFunc(subjects, func(sub Subject) bool { return k.matches(patterns, sub) }) {
			none = append(none, k.noun+" "+listOf(patterns))
			continue
		}
		message = fmt.Sprintf("no operation has the %s %s%s", k.noun, listOf(patterns), k.nearest(patterns, subjects))
		if at := s.Key + "." + k.name; c.has(at) {
			key = at
		}
		break
	}
	switch {
	case len(subjects) == 0 && len(s.API) > 0 && !c.reachesAny(s):
		message = "no API is named " + listOf(s.API)
		if at := s.Key + ".api"; c.has(at) {
			key = at
		}
	case len(subjects) == 0:
		message = "there is no operation that it could match"
	case message == "" && s.Deprecated != nil && len(none) < 2:
		message = "no operation that the other keys match is deprecated"
		if !*s.Deprecated {
			message = "all operations that the other keys match are deprecated"
		}
		if at := s.Key + ".deprecated"; c.has(at) {
			key = at
		}
	case message == "":
		message = "no operation has all of these together: " + strings.Join(none, ", ")
	}
	p := c.At(key)
	p.Severity = s.Severity()
	switch {
	case p.Severity == Error:
		message += fmt.Sprintf("; %s would restrict nothing: correct the selector, or give it optional: true", strings.Join(s.Restricts, " and "))
	case len(s.Restricts) > 0:
		message += fmt.Sprintf("; %s would have no effect", strings.Join(s.Restricts, " and "))
	}
	p.Message = message
	return p
}

// explainArgument is Explain for an argument that no matched operation has.
func (c *Config) explainArgument(s *Selection, subjects []Subject) Problem {
	var names []string
	matched := 0
	for _, sub := range subjects {
		if s.Selector.Match(sub) && sub.Arguments != nil {
			matched++
			names = append(names, sub.Arguments()...)
		}
	}
	slices.Sort(names)
	p := c.At(s.ArgumentKey)
	p.Severity = s.Severity()
	p.Message = fmt.Sprintf("none of the %d operations that %s matches has the argument %s%s", matched, s.Key, quote(s.Argument),
		text.DidYouMean(text.Nearest(s.Argument, slices.Compact(names))))
	if matched == 1 {
		p.Message = fmt.Sprintf("the operation that %s matches has no argument %s%s", s.Key, quote(s.Argument), text.DidYouMean(text.Nearest(s.Argument, slices.Compact(names))))
	}
	if p.Severity == Error {
		p.Message += "; callers would give what it was meant to keep from them: correct the name, or give the selector optional: true"
	}
	return p
}

// reachesAny reports whether the selection can reach an API that the configuration names.
func (c *Config) reachesAny(s *Selection) bool {
	return slices.ContainsFunc(c.APIs, func(a API) bool { return a.Name == "" || s.Reaches(a.Name, a.claimed, s.Entry) })
}

// listOf writes patterns for a message.
func listOf(patterns Patterns) string {
	texts := make([]string, len(patterns))
	for i, p := range patterns {
		texts[i] = quote(p.text)
	}
	return strings.Join(texts, " or ")
}

// nearest names what was probably meant by the first pattern, with the number of operations that it matches; "" if nothing is near.
func (k *selectorKeyword) nearest(patterns Patterns, subjects []Subject) string {
	given := patterns[0].text
	counts := map[string]int{}
	for _, s := range subjects {
		for _, v := range k.values(s) {
			counts[v]++
		}
	}
	near := ""
	if k.name == "path" {
		near = nearestPath(given, slices.Sorted(maps.Keys(counts)))
	} else if near = text.Nearest(given, slices.Sorted(maps.Keys(counts))); near == "" && strings.Contains(given, "*") {
		near = nearestGlob(given, slices.Sorted(maps.Keys(counts)))
	}
	if near == "" {
		return ""
	}
	var p Pattern
	if p.parse(near) != nil {
		return ""
	}
	n := 0
	for _, s := range subjects {
		if k.matches(Patterns{p}, s) {
			n++
		}
	}
	return fmt.Sprintf("; %s has %d", quote(near), n)
}

// nearestGlob changes the letters of a pattern such as get* so that it matches the names that begin alike.
func nearestGlob(given string, names []string) string {
	literal, rest, _ := strings.Cut(given, "*")
	var starts []string
	for _, length := range []int{len(literal) - 1, len(literal), len(literal) + 1} {
		for _, name := range names {
			if length > 0 && len(name) >= length && utf8.ValidString(name[:length]) {
				starts = append(starts, name[:length])
			}
		}
	}
	if near := text.Nearest(literal, starts); near != "" {
		return near + "*" + rest
	}
	return ""
}

// nearestPath returns the path, or the pattern for paths, that was probably meant: another spelling of its segments, or the
// same ones without or behind a prefix that often belongs to the server's URL.
func nearestPath(given string, paths []string) string {
	literal, wild := given, ""
	if i := strings.IndexByte(given, '*'); i >= 0 {
		slash := strings.LastIndexByte(given[:i], '/')
		literal, wild = given[:max(slash, 0)], given[max(slash, 0):]
	}
	candidates := prefixesOf(paths, wild != "")
	segments := strings.Split(strings.TrimPrefix(literal, "/"), "/")
	for cut := 1; cut < len(segments); cut++ { // /v1/orders where the document has /orders
		if tail := "/" + strings.Join(segments[cut:], "/"); candidates[tail] {
			return tail + wild
		}
	}
	all := slices.SortedFunc(maps.Keys(candidates), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	for _, candidate := range all { // /orders where the document has /v1/orders
		if len(literal) > 1 && strings.HasSuffix(candidate, literal) {
			return candidate + wild
		}
	}
	var tails []string // with as many segments, so that /order is near /orders and /v1/orders, and not /orders/{id}
	whole := map[string]string{}
	for _, candidate := range all {
		parts := strings.Split(strings.TrimPrefix(candidate, "/"), "/")
		if n := len(parts) - len(segments); n >= 0 {
			tail := "/" + strings.Join(parts[n:], "/")
			if whole[tail] == "" {
				tails, whole[tail] = append(tails, tail), candidate
			}
		}
	}
	if near := text.Nearest(literal, tails); near != "" {
		return whole[near] + wild
	}
	return ""
}

// prefixesOf returns the paths and, if wanted, all of their beginnings that end with a segment.
func prefixesOf(paths []string, beginnings bool) map[string]bool {
	all := map[string]bool{}
	for _, path := range paths {
		all[path] = true
		for i := len(path) - 1; beginnings && i > 0; i-- {
			if path[i] == '/' {
				all[path[:i]] = true
			}
		}
	}
	return all
}
