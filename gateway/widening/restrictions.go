package widening

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"drawbridge/config"
)

const (
	// maxComparisons limits the comparisons of rules with operations, in all APIs. It is exceeded
	// only if hundreds of rules change at once.
	maxComparisons = 10_000_000
	costOfPair     = 50 // to compute the intersection of two selectors, in comparisons
)

// restrictions compares the restrictions by selectors and rules, whether or not an operation of the
// document is affected now: a missing operation may be back with the next document. It examines
// possible operations: examples of what each selector that is new, removed or moved matches, alone
// and together with each other one. Operations that match no changed selector are restricted as
// before.
func (w *comparison) restrictions(key string, o, n *API, d *Document) {
	if o.Name == n.Name && (d == nil || d.Was == d.Is) && o.Include == n.Include && slices.Equal(o.Exclude, n.Exclude) && string(encoded(o.Rules)) == string(encoded(n.Rules)) {
		return
	}
	was, is := sideOf(o, w.old), sideOf(n, w.new)
	if d != nil {
		was.name, is.name = cmp.Or(o.Name, d.Was), cmp.Or(n.Name, d.Is)
	} else if o.Name != n.Name && slices.ContainsFunc(o.Rules, func(r Rule) bool { return len(r.API) > 0 }) {
		w.when(true, key, "the name is another, and rules for the old one restricted it")
		return
	}
	if was.faulty || is.faulty {
		w.when(true, key, "selectors can't be read, so what they restrict can't be compared")
		return
	}
	changed := d.unpinned(changedSelectors(was, is))
	if len(changed) == 0 {
		return
	}
	all := append([]config.Selector{{}}, d.unpinned(union(was.selectors(), is.selectors()))...) // the first matches everything
	included := []config.Selector{{}}
	if len(is.include) > 0 {
		included = d.unpinned(alternatives(is.include))
	}
	var found findings
	rules := len(was.rules) + len(is.rules)
	for _, c := range changed {
		for _, other := range all {
			for _, in := range included {
				examples := config.Examples(is.name, unnamed(is.name, c, other, in)...)
				if w.compared += costOfPair + len(examples)*rules; w.compared > maxComparisons {
					w.when(true, key, "too many rules and selectors are others at once to compare what they restrict")
					return
				}
				for _, example := range examples {
					for _, what := range is.opened(was, example) {
						if !d.isReported(what, c) {
							found.add(what, describe(c))
						}
					}
				}
			}
		}
	}
	for _, what := range found.order {
		w.when(true, key, "%s of operations that match %s", what, someOf(found.of[what]))
	}
}

// findings collects the ways in which operations are wider, with the selectors that match them.
type findings struct {
	order []string
	of    map[string][]string
}

func (f *findings) add(what, selector string) {
	if f.of == nil {
		f.of = map[string][]string{}
	}
	if f.of[what] == nil {
		f.order = append(f.order, what)
	}
	if !slices.Contains(f.of[what], selector) {
		f.of[what] = append(f.of[what], selector)
	}
}

func someOf(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// unpinned returns the selectors without those that can match only operations that were compared:
// they contain the operationId, or method and path, without wildcards.
func (d *Document) unpinned(selectors []config.Selector) []config.Selector {
	if d == nil {
		return selectors
	}
	literal := func(ps config.Patterns) bool { return len(ps) == 1 && !strings.Contains(ps[0].String(), "*") }
	return slices.DeleteFunc(selectors, func(sel config.Selector) bool {
		return (literal(sel.Operation) || literal(sel.Method) && literal(sel.Path)) &&
			slices.ContainsFunc(d.Operations, func(s config.Subject) bool { return d.matched(sel, s) })
	})
}

// matched reports whether a selector matches an operation under one of the names of the API.
func (d *Document) matched(sel config.Selector, s config.Subject) bool {
	for _, s.API = range []string{d.Was, d.Is} {
		if sel.Match(s) {
			return true
		}
	}
	return false
}

// isReported reports whether it is known already that an operation of the document that the
// selector matches is wider in this way.
func (d *Document) isReported(what string, sel config.Selector) bool {
	return d != nil && slices.ContainsFunc(d.Opened[what], func(s config.Subject) bool { return d.matched(sel, s) })
}

// side is the restrictions on the operations of an API under one configuration.
type side struct {
	name             string // "" for the name in the document, which is unknown
	api              *API
	all              *Summary
	include, exclude config.Selectors
	rules            []ruleOfSide
	faulty           bool
}

type ruleOfSide struct {
	*Rule
	match config.Selectors
}

func sideOf(a *API, all *Summary) *side {
	s := &side{name: a.Name, api: a, all: all}
	read := func(text string, to any) {
		if text != "" && json.Unmarshal([]byte(text), to) != nil {
			s.faulty = true
		}
	}
	read(a.Include, &s.include)
	for _, text := range a.Exclude {
		var sel config.Selector
		read(text, &sel)
		s.exclude = append(s.exclude, sel)
	}
	for i := range a.Rules {
		r := ruleOfSide{Rule: &a.Rules[i]}
		read(r.Match, &r.match)
		s.rules = append(s.rules, r)
	}
	return s
}

// selectors returns the selectors of the side that may match an operation of the API.
func (s *side) selectors() (all []config.Selector) {
	all = append(alternatives(s.include), alternatives(s.exclude)...)
	for _, r := range s.rules {
		all = append(all, alternatives(r.match)...)
	}
	return slices.DeleteFunc(all, func(sel config.Selector) bool { return !s.reaches(sel) })
}

func (s *side) reaches(sel config.Selector) bool {
	return s.name == "" || len(sel.API) == 0 || config.Selector{API: sel.API}.Match(config.Subject{API: s.name})
}

func alternatives(selectors config.Selectors) (all []config.Selector) {
	for _, sel := range selectors {
		all = append(all, sel.Alternatives()...)
	}
	return all
}

// changedSelectors returns the selectors that only one side has, or that have moved, in the order
// of the file.
func changedSelectors(was, is *side) (changed []config.Selector) {
	differ := func(before, after []config.Selector) []config.Selector { return difference(was, is, before, after) }
	changed = slices.Concat(differ(alternatives(was.include), alternatives(is.include)), differ(alternatives(was.exclude), alternatives(is.exclude)))
	if (len(was.include) > 0) != (len(is.include) > 0) {
		changed = append(changed, config.Selector{}) // all operations
	}
	before, after := was.ruleParts(), is.ruleParts()
	for len(before) > 0 && len(after) > 0 && before[0].equal(after[0]) {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1].equal(after[len(after)-1]) {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	var rest []config.Selector
	for _, p := range slices.Concat(before, after) {
		rest = append(rest, p.selector)
	}
	return union(changed, rest)
}

// difference returns the selectors that only one side has.
func difference(was, is *side, before, after []config.Selector) (changed []config.Selector) {
	before = slices.DeleteFunc(before, func(s config.Selector) bool { return !was.reaches(s) })
	after = slices.DeleteFunc(after, func(s config.Selector) bool { return !is.reaches(s) })
	has := func(all []config.Selector, s config.Selector) bool {
		return slices.ContainsFunc(all, func(o config.Selector) bool { return encode(o) == encode(s) })
	}
	for _, s := range before {
		if !has(after, s) {
			changed = append(changed, s)
		}
	}
	for _, s := range after {
		if !has(before, s) {
			changed = append(changed, s)
		}
	}
	return changed
}

// rulePart is a rule for one selector.
type rulePart struct {
	selector config.Selector
	set      Rule
}

func (p rulePart) equal(o rulePart) bool {
	return encode(p.selector) == encode(o.selector) && reflect.DeepEqual(p.set, o.set)
}

// ruleParts returns the rules for operations of the API, one for each alternative of their
// selectors.
func (s *side) ruleParts() (parts []rulePart) {
	for _, r := range s.rules {
		set := *r.Rule
		set.Match, set.API = "", nil
		for _, sel := range alternatives(r.match) {
			if s.reaches(sel) {
				parts = append(parts, rulePart{sel, set})
			}
		}
	}
	return parts
}

// union returns the selectors of both lists without duplicates.
func union(a, b []config.Selector) (all []config.Selector) {
	known := map[string]bool{}
	for _, s := range slices.Concat(a, b) {
		if text := encode(s); !known[text] {
			known[text], all = true, append(all, s)
		}
	}
	return all
}

// unnamed returns the selectors without the names of APIs if that of the API is known, and matched.
func unnamed(name string, selectors ...config.Selector) []config.Selector {
	if name != "" {
		for i := range selectors {
			selectors[i].API = nil
		}
	}
	return selectors
}

// describe formats a selector in its configuration syntax.
func describe(s config.Selector) string {
	if text := s.String(); text != "{}" {
		return text
	}
	return "no other selector"
}

func (s *side) exposes(op config.Subject) bool {
	return (len(s.include) == 0 || s.include.Match(op)) && !s.exclude.Match(op)
}

// accessTo returns the access that the rules give to an operation, and the scopes that the last of them requires; no scopes stand for the
// defaults and those of the document.
func (s *side) accessTo(op config.Subject) (a Access, scopes []string) {
	if a.Exposed = s.exposes(op); !a.Exposed {
		return a, nil
	}
	a.Rest = State{}
	var confirm *bool
	var set config.Settings
	for _, r := range s.rules {
		if !r.match.Match(op) {
			continue
		}
		if r.scoped() {
			scopes = r.Scopes
		}
		if r.Condition != "" {
			a.Condition = r.Condition
		}
		if r.Confirm != nil {
			confirm = r.Confirm
		}
		if r.Asks {
			a.Asked = r.Asked
		}
		if r.Caches || r.Shared {
			a.SharedAnswers = r.Shared
		}
		if r.HasJob {
			a.Jobs = r.Job
		}
		if r.Rate != nil {
			a.Rate = *r.Rate
		}
		if r.Annotations != nil {
			set.Apply(config.Settings{Annotations: r.Annotations.settings()})
		}
		a.Hidden = append(a.Hidden, r.Hidden...)
		a.Fixed = fixedAfter(a.Fixed, r.Rule)
		for name, value := range r.Rest {
			a.Rest[name] = value
		}
	}
	a.setPromises(op.Method, &set)
	a.Confirmed = s.all.confirms() && a.Promises&NotDestructive == 0
	if confirm != nil {
		a.Confirmed = *confirm
	}
	return a, scopes
}

func (r *Rule) scoped() bool { return len(r.Scopes) > 0 || r.Unscoped }

// opened returns the requirements of an operation that are lower than before.
func (s *side) opened(was *side, op config.Subject) []string {
	before := op
	if s.name != "" {
		op.API = s.name
	}
	if before.API = op.API; was.name != "" {
		before.API = was.name
	}
	is, scopes := s.accessTo(op)
	old, earlier := was.accessTo(before)
	tokens := s.all.Auth != nil && was.all.Auth != nil
	if !tokens {
		old.Condition = ""
	}
	what := is.Opened(&old, nil)
	if is.Exposed && old.Exposed && tokens && s.needsFewerScopes(was, scopes, earlier) {
		what = append([]string{FewerScopes}, what...)
	}
	return what
}

// needsFewerScopes reports whether the scopes of rules require less than those before; no scopes
// stand for the defaults and those of the document.
func (s *side) needsFewerScopes(was *side, is, old []string) bool {
	switch {
	case len(is) > 0 && len(old) == 0 && was.api.Config.has("scopes_from_document"):
		return true // the document's scopes are unknown
	case len(is) == 0 && len(old) == 0:
		return false // the defaults are compared separately
	}
	return !AsStrict(orDefault(is, s.all), orDefault(old, was.all), was.all.Implied)
}
