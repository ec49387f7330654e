package config

import (
	"slices"
	"strings"
)

// foreign replaces a wildcard in examples. It is a character for private use (Unicode), so no pattern that somebody writes has it: a
// pattern that matches an example matches whatever the example is one of.
const foreign = "\ue000"

// manySegments is what ** stands for, so that it is not taken for some segments of *.
var manySegments = strings.Repeat(foreign+"/", 15) + foreign

// Examples returns operations that all of the selectors match, whether documents have them or not: some that have as little as possible in common with
// all other selectors, and some that are as short as possible. It is empty if no operation can be matched by all. api is the name of the API that
// they are of; "": any.
func Examples(api string, selectors ...Selector) []Subject {
	var all []Subject
	for _, one := range combinations(selectors) {
		all = append(all, examplesOf(api, one)...)
	}
	return all
}

// Alternatives returns a selector as several that have one pattern for each key at most.
func (sel Selector) Alternatives() []Selector {
	all := []Selector{sel}
	for i, key := range sel.patterns() {
		if len(*key.patterns) < 2 {
			continue
		}
		var split []Selector
		for _, one := range all {
			for _, p := range *key.patterns {
				*one.patterns()[i].patterns = Patterns{p}
				split = append(split, one)
			}
		}
		all = split
	}
	return all
}

// combinations returns all choices of one alternative of each selector.
func combinations(selectors []Selector) [][]Selector {
	all := [][]Selector{nil}
	for _, sel := range selectors {
		var longer [][]Selector
		for _, before := range all {
			for _, one := range sel.Alternatives() {
				longer = append(longer, append(slices.Clone(before), one))
			}
		}
		all = longer
	}
	return all
}

// examplesOf takes selectors with one pattern for each key at most.
func examplesOf(api string, selectors []Selector) (all []Subject) {
	of := func(patterns func(*Selector) Patterns) (list []Pattern) {
		for i := range selectors {
			list = append(list, patterns(&selectors[i])...)
		}
		return list
	}
	paths := meet(of(func(s *Selector) Patterns { return s.Path }), "/"+manySegments)
	operations := meet(of(func(s *Selector) Patterns { return s.Operation }), "")
	if paths == nil || operations == nil {
		return nil
	}
	names, methods := []string{api}, []string{"GET", "POST", foreign}
	if api == "" {
		names = meet(of(func(s *Selector) Patterns { return s.API }), foreign)
	}
	if given := of(func(s *Selector) Patterns { return s.Method }); len(given) > 0 {
		methods = meet(given, "")
	}
	var tags []string // an operation may have several
	for _, p := range of(func(s *Selector) Patterns { return s.Tag }) {
		tags = append(tags, meet([]Pattern{p}, "")...)
	}
	var extensions []string
	for _, p := range of(func(s *Selector) Patterns { return s.Extension }) {
		extensions = append(extensions, meet([]Pattern{p}, "")...)
	}
	deprecated := false
	for i := range selectors {
		deprecated = deprecated || selectors[i].Deprecated != nil && *selectors[i].Deprecated
	}
	for _, name := range names {
		for _, method := range methods {
			for _, path := range paths {
				for _, operation := range operations {
					all = append(all, Subject{API: name, Method: method, Path: path, Operation: operation, Tags: tags, Deprecated: deprecated, Extensions: extensions})
				}
			}
		}
	}
	return slices.DeleteFunc(all, func(s Subject) bool { // a key may match nothing but the empty text, which no operation has
		return slices.ContainsFunc(selectors, func(sel Selector) bool { return !sel.empty() && !sel.Match(s) })
	})
}

// meet returns texts that all patterns match: one with as much of foreign as possible, and one that is as short as possible. Without patterns it is any.
func meet(patterns []Pattern, anything string) []string {
	if len(patterns) == 0 {
		return []string{anything}
	}
	for i, p := range patterns {
		for _, o := range patterns[:i] {
			if a, b := p.beginning(), o.beginning(); !strings.HasPrefix(a, b) && !strings.HasPrefix(b, a) {
				return nil // as most have it, and what follows is much more work
			}
		}
	}
	m := meeting{known: map[string]*string{}}
	for _, p := range patterns {
		m.globs = append(m.globs, globOf(p.text))
	}
	var texts []string
	for _, m.long = range []bool{true, false} {
		clear(m.known)
		if text := m.from(make([]int, len(patterns))); text != nil && !slices.Contains(texts, *text) {
			texts = append(texts, *text)
		}
	}
	return texts
}

// beginning returns what all texts begin with that the pattern matches.
func (p Pattern) beginning() string {
	text, _, _ := strings.Cut(p.text, "*")
	return strings.TrimSuffix(text, "/") // before ** it may be missing
}

// meeting looks for a text that several patterns match.
type meeting struct {
	globs [][]globItem
	long  bool
	known map[string]*string // by the places in the patterns; nil: there is no text
}

// from returns the text that the rests of all patterns match, from these places on; nil if no text does.
func (m *meeting) from(at []int) *string {
	var key strings.Builder
	for _, i := range at {
		key.WriteRune(rune(i))
	}
	text, ok := m.known[key.String()]
	if !ok {
		text = m.best(at)
		m.known[key.String()] = text
	}
	return text
}

func (m *meeting) best(at []int) (best *string) {
	consider := func(head string, tail *string) {
		if tail == nil {
			return
		}
		if text := head + *tail; best == nil || m.better(text, *best) {
			best = &text
		}
	}
	ended, wild, head := true, true, manySegments
	var literal []byte
	for i, g := range m.globs {
		if at[i] == len(g) {
			wild = false
			continue
		}
		ended = false
		switch item := g[at[i]]; {
		case item.optional > 0:
			best = nil
			consider("", m.from(moved(at, i, 1)))
			consider("", m.from(moved(at, i, 1+item.optional)))
			return best
		case item.wildcard == "":
			wild, literal = false, []byte{item.literal}
		default:
			consider("", m.from(moved(at, i, 1)))
			if item.wildcard == "*" {
				head = foreign
			}
		}
	}
	switch {
	case ended:
		consider("", new(string))
	case wild && m.long && best != nil: // whatever follows
		text := head + *best
		best = &text
	case literal != nil:
		if next := m.step(at, literal[0]); next != nil {
			consider(string(literal), m.from(next))
		}
	}
	return best
}

// step takes a character from all patterns; nil: one of them can't have it here.
func (m *meeting) step(at []int, c byte) []int {
	next := slices.Clone(at)
	for i, g := range m.globs {
		if at[i] == len(g) {
			return nil
		}
		switch item := g[at[i]]; {
		case item.wildcard == "" && item.literal == c:
			next[i]++
		case item.wildcard == "", item.wildcard == "*" && c == '/':
			return nil
		}
	}
	return next
}

func (m *meeting) better(text, than string) bool {
	if m.long {
		if a, b := strings.Count(text, foreign), strings.Count(than, foreign); a != b {
			return a > b
		}
		return len(text) > len(than)
	}
	return len(text) < len(than)
}

func moved(at []int, i, by int) []int {
	next := slices.Clone(at)
	next[i] += by
	return next
}
