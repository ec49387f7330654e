package catalog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// shortName is a candidate on its way to a short name: it begins with the first of its names and takes the next one as long as others
// have the same.
type shortName struct {
	*candidate
	route *route
	forms []string // what the operation can be called by itself, without the API's prefix; the best first
	names []string // in the order in which they are tried; the last ends in the hash, and numbers follow it
	at    int      // index of the current name
	own   bool     // the first form is the operationId
	kept  bool     // the first name was published earlier
}

// nameShort gives every candidate a short name. A name that several would have is given to none of them, so that it never comes to mean
// another one when one of them is gone: each takes words of its path that tell it apart, and a hash if there are none. Names that were
// published earlier stay.
func nameShort(candidates []*candidate, o Options) (between []Clash) {
	known := newOwners(candidates, o.Published)
	all := make([]*shortName, len(candidates))
	for i, c := range candidates {
		all[i] = newShortName(c)
	}
	for _, family := range families(all) {
		addNames(family, o)
	}
	for _, s := range all {
		s.keepPublished(o)
	}
	between = settleShort(all, known, o.limit())
	for _, s := range all {
		s.finish(o)
	}
	return between
}

func newShortName(c *candidate) *shortName {
	s := &shortName{candidate: c, route: routeOf(c.op)}
	if name := c.configuredName(); name != "" {
		s.forms = []string{name}
		return s
	}
	if s.forms = idNames(c.op, s.route); len(s.forms) > 0 {
		s.own = s.forms[0] == c.op.ID
	} else if s.forms = s.route.resourceNames(c.op); len(s.forms) == 0 {
		name, _ := transliterated(strings.ToLower(c.op.Method) + "_" + c.op.Path)
		s.forms = []string{name}
	}
	return s
}

// families returns the candidates of each API that have the same first form.
func families(all []*shortName) [][]*shortName {
	type key struct{ api, form string }
	byForm := map[key][]*shortName{}
	for _, s := range all {
		k := key{s.api, s.forms[0]}
		byForm[k] = append(byForm[k], s)
	}
	list := make([][]*shortName, 0, len(byForm))
	for _, family := range byForm {
		list = append(list, family)
	}
	return list
}

// addNames sets the names of a family, in which words of the paths that all have tell nothing apart.
func addNames(family []*shortName, o Options) {
	shared := sharedWords(family)
	for _, s := range family {
		form, method := s.forms[0], s.route.method
		s.add(o, form, "")
		if s.configuredName() == "" {
			others := s.forms[1:]
			if len(s.withPrefix(o, form)) > o.limit() {
				others = append(s.route.resourceNames(s.op), others...)
			}
			for _, other := range others {
				s.add(o, other, "")
			}
			if len(family) == 1 && !o.prefixed() {
				s.addWhole(o, prefix(s.api, form))
			}
			literals := literals(s.candidate)
			own := s.ownWords(shared, s.route.plain())
			if own == "" {
				own = s.lastLiteral()
			}
			s.add(o, form, own)
			if slices.Contains(wordsIn(form), method) {
				method = ""
			}
			s.add(o, form, joinWords(method, own))
			s.add(o, form, s.ownWords(shared, s.route.words))
			s.add(o, form, literals)
			s.add(o, form, joinWords(method, literals))
			s.add(o, form, wholePath(s.candidate))
			if !o.prefixed() {
				s.addWhole(o, prefix(s.api, form))
				s.addWhole(o, joinWords(prefix(s.api, form), own))
			}
		}
		limit := o.limit()
		s.names = append(s.names, cutWords(s.withPrefix(o, form), limit-digits-1)+"_"+s.hash()[:digits])
	}
}

// plain returns the segments of the path without variables, those at its beginning included.
func (r *route) plain() []string { return slices.Concat(r.leading, r.literals) }

// sharedWords returns the segments that the paths of all members of a family have.
func sharedWords(family []*shortName) map[string]bool {
	count := map[string]int{}
	for _, s := range family {
		segments := slices.Concat(s.route.plain(), s.route.words)
		slices.Sort(segments)
		for _, segment := range slices.Compact(segments) {
			count[segment]++
		}
	}
	shared := map[string]bool{}
	for segment, n := range count {
		shared[segment] = n == len(family) && n > 1
	}
	return shared
}

// ownWords returns the segments that tell the path from those of the others in its family, and are not in its name.
func (s *shortName) ownWords(shared map[string]bool, segments []string) string {
	var own []string
	named := squeezed(s.forms[0])
	for _, segment := range segments {
		if !shared[segment] && !strings.HasSuffix(named, squeezed(segment)) {
			own = append(own, segment)
		}
	}
	return pathWords(strings.Join(own, "_"))
}

func (s *shortName) lastLiteral() string {
	if n := len(s.route.literals); n > 0 && !strings.HasSuffix(squeezed(s.forms[0]), squeezed(s.route.literals[n-1])) {
		return pathWords(s.route.literals[n-1])
	}
	return ""
}

func joinWords(words ...string) string {
	words = slices.DeleteFunc(words, func(word string) bool { return word == "" })
	return strings.Join(words, "_")
}

// withPrefix returns a form as a name of any length.
func (s *shortName) withPrefix(o Options, form string) string {
	if s.configuredName() != "" {
		return form
	}
	if o.prefixed() {
		form = prefix(s.api, form)
	}
	return withLetter(form)
}

// add adds a form with words after it, of which the form is cut to whole words if it is too long.
func (s *shortName) add(o Options, form, words string) {
	name, limit := s.withPrefix(o, form), o.limit()
	if words != "" {
		least := len(name) - len(form) + wordEnds(form)[0] // the prefix and a word
		if limit-len(words)-1 < least {
			return
		}
		name = cutWords(name, limit-len(words)-1) + "_" + words
	} else {
		name = cutWords(name, limit)
	}
	s.addWhole(o, name)
}

func (s *shortName) addWhole(o Options, name string) {
	if name = withLetter(name); len(name) <= o.limit() && !slices.Contains(o.Reserved, name) && !slices.Contains(s.names, name) {
		s.names = append(s.names, name)
	}
}

// current returns the name that the candidate has for now.
func (s *shortName) current(limit int) string {
	if n := s.at - len(s.names) + 2; n > 1 {
		number := "_" + strconv.Itoa(n)
		return cut(s.names[len(s.names)-1], limit-len(number)) + number
	}
	return s.names[s.at]
}

// isLast reports whether only numbers come after the current name.
func (s *shortName) isLast() bool { return s.at >= len(s.names)-1 }

// A claim is how strong the claim of a candidate to its current name is, the strongest first.
type claim uint8

const (
	configured claim = iota
	published
	documented // it has the letters of the document
	derived
	yielding // see API.Yields
)

func (s *shortName) claim() claim {
	switch {
	case s.at > 0:
	case s.configuredName() != "":
		return configured
	case s.kept:
		return published
	case s.yields:
		return yielding
	case s.own:
		return documented
	}
	if s.yields {
		return yielding
	}
	return derived
}

// settleShort has candidates take their next names until all names differ. It returns the clashes between APIs.
func settleShort(all []*shortName, known *owners, limit int) (between []Clash) {
	spent := map[string]bool{} // names that several have wanted
	for round := 0; ; round++ {
		byName := make(map[string][]*shortName, len(all))
		for _, s := range all {
			s.name = s.current(limit)
			byName[s.name] = append(byName[s.name], s)
		}
		if round == 0 {
			between = betweenAPIs(clashes(byName))
		}
		settled := true
		for name, same := range byName {
			if s := same[0]; len(same) == 1 && (s.claim() <= published || s.isLast() || !spent[name] && !known.hasOther(name, s.candidate)) {
				continue
			}
			settled = false
			if keeper := giveUp(same); keeper == nil {
				spent[name] = true
			}
		}
		if settled {
			return between
		}
	}
}

func clashes(byName map[string][]*shortName) (all [][]*candidate) {
	for _, same := range byName {
		if len(same) > 1 {
			var clash []*candidate
			for _, s := range same {
				clash = append(clash, s.candidate)
			}
			all = append(all, clash)
		}
	}
	return all
}

// giveUp has all candidates with one name take the next one, except the only one with the strongest claim, which it returns; nil if there
// are several, or the name is not to be had.
func giveUp(same []*shortName) (keeper *shortName) {
	if len(same) > 1 {
		strongest := slices.MinFunc(same, func(a, b *shortName) int { return cmp.Compare(a.claim(), b.claim()) })
		others := slices.ContainsFunc(same, func(s *shortName) bool { return s != strongest && s.claim() == strongest.claim() })
		if !others {
			keeper = strongest
		}
	}
	var last []*shortName
	for _, s := range same {
		switch {
		case s == keeper:
		case s.isLast():
			last = append(last, s)
		default:
			s.at++
		}
	}
	slices.SortFunc(last, func(a, b *shortName) int {
		return cmp.Or(cmp.Compare(a.hash(), b.hash()), cmp.Compare(a.forms[0], b.forms[0]), cmp.Compare(a.op.Pointer, b.op.Pointer))
	})
	for i, s := range last { // the first keeps the name if nobody else does: nothing else tells them apart
		if s.at += i; keeper != nil {
			s.at++
		}
	}
	return keeper
}

// finish sets the facts about the name that reports tell.
func (s *shortName) finish(o Options) {
	s.full = s.withPrefix(o, s.forms[0])
	s.digit = s.configuredName() == "" && strings.HasPrefix(s.full, "_")
	if s.claim() == published {
		s.full = s.name
	}
}
