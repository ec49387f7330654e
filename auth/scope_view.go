package auth

// Views evaluates a list of scope sets, one for each tool, for principals. It is immutable and safe
// for concurrent use.
type Views struct {
	guard *Guard
	sets  [][]string // without duplicates
	index []int      // maps each given set to its index in sets
}

// Views compiles scope sets, each with the meaning of [Guard.Allows]. Duplicates, which are common
// among tools, are evaluated once.
func (g *Guard) Views(sets [][]string) *Views {
	v := &Views{guard: g, index: make([]int, len(sets))}
	known := make(map[string]int)
	for n, set := range sets {
		name := ""
		for _, s := range set {
			name += s + " " // scopes contain no space
		}
		at, ok := known[name]
		if !ok {
			at = len(v.sets)
			known[name] = at
			v.sets = append(v.sets, append([]string(nil), set...))
		}
		v.index[n] = at
	}
	return v
}

// View is the set of scope sets that a principal satisfies. Views of principals with equal rights
// are equal, so a View can be the key of a cache.
type View struct {
	views *Views
	bits  string // a bit for each of views.sets
}

// Of returns the view of a principal; nil satisfies nothing.
func (v *Views) Of(p *Principal) View {
	bits := make([]byte, (len(v.sets)+7)/8)
	for n, set := range v.sets {
		if v.guard.Allows(p, set) {
			bits[n/8] |= 1 << (n % 8)
		}
	}
	return View{v, string(bits)}
}

// Has reports whether the principal satisfies the scope set with that index. The zero View
// satisfies none.
func (w View) Has(n int) bool {
	if w.views == nil || n < 0 || n >= len(w.views.index) {
		return false
	}
	at := w.views.index[n]
	return w.bits[at/8]&(1<<(at%8)) != 0
}
