package auth

// Views answers for a list of scope sets, one for each tool, which of them a
// principal satisfies. It is made once and is safe for concurrent use.
type Views struct {
	guard *Guard
	sets  [][]string // different ones
	of    []int      // for each set that was given, where it is in sets
}

// Views compiles scope sets; each means what it means to [Guard.Allows]. Most
// tools share a few of them, and each of those is checked once.
func (g *Guard) Views(sets [][]string) *Views {
	v := &Views{guard: g, of: make([]int, len(sets))}
	known := make(map[string]int)
	for n, set := range sets {
		name := ""
		for _, s := range set {
			name += s + " " // scopes hold no space
		}
		at, ok := known[name]
		if !ok {
			at = len(v.sets)
			known[name] = at
			v.sets = append(v.sets, append([]string(nil), set...))
		}
		v.of[n] = at
	}
	return v
}

// View is what one principal may see. Views of equal principals are equal, so
// that it may be the key of what was made for one of them.
type View struct {
	views *Views
	bits  string // one for each of views.sets
}

// Of returns the view of a principal; nil sees nothing.
func (v *Views) Of(p *Principal) View {
	bits := make([]byte, (len(v.sets)+7)/8)
	for n, set := range v.sets {
		if v.guard.Allows(p, set) {
			bits[n/8] |= 1 << (n % 8)
		}
	}
	return View{v, string(bits)}
}

// Has reports whether the principal satisfies the scope set of that index. The
// zero View has nothing.
func (w View) Has(n int) bool {
	if w.views == nil || n < 0 || n >= len(w.views.of) {
		return false
	}
	at := w.views.of[n]
	return w.bits[at/8]&(1<<(at%8)) != 0
}
