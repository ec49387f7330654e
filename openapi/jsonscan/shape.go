package jsonscan

import "strings"

// Kinds is a set of kinds; the zero value means any.
type Kinds uint8

// Of returns the set of the given kinds.
func Of(kinds ...Kind) Kinds {
	var ks Kinds
	for _, k := range kinds {
		ks |= Kinds(k)
	}
	return ks
}

// Has tells whether k is in the set.
func (ks Kinds) Has(k Kind) bool { return ks == 0 || ks&Kinds(k) != 0 }

// String lists the kinds as "string or null"; "anything" for the empty set.
func (ks Kinds) String() string {
	if ks == 0 {
		return "anything"
	}
	var names []string
	for _, k := range []Kind{Object, Array, String, Number, Bool, Null} {
		if ks&Kinds(k) != 0 {
			names = append(names, k.String())
		}
	}
	return strings.Join(names, " or ")
}

// Shape is the little of a JSON Schema that [Scan] compares on the way: types, properties and items. Members
// that Properties does not name are accepted, and none is required. A nil shape accepts everything.
// Compile it once; after that it is safe for concurrent use.
type Shape struct {
	Kinds      Kinds      // accepted kinds; 0: any
	Integer    bool       // a number must be an integer (1.0 and 1e3 are, as in JSON Schema)
	Properties []Property // in the order in which answers are expected to have them
	Items      *Shape

	index map[string]int
}

// Property is one member of an object that a [Shape] knows.
type Property struct {
	Name  string
	Shape *Shape

	quoted string // the name as a member begins: "name":
}

// Mismatch is a place where a value leaves its [Shape]. Offset counts bytes; PointerAt makes it readable.
type Mismatch struct {
	Offset  int
	Want    Kinds
	Integer bool
	Got     Kind
}

// Compile prepares the shape and all below it for [Scan]. Shapes may share parts but not contain themselves.
func (s *Shape) Compile() {
	if s == nil || s.index != nil {
		return
	}
	s.index = make(map[string]int, len(s.Properties))
	for i := range s.Properties {
		p := &s.Properties[i]
		s.index[p.Name] = i
		p.quoted = string(append(AppendString(nil, p.Name), ':'))
		p.Shape.Compile()
	}
	s.Items.Compile()
}

func (s *Shape) accepts(k Kind) bool { return s.Kinds.Has(k) }

// property finds the shape of a member. next is the index that is tried first; the index to try after this
// member comes back with it.
func (s *Shape) property(name []byte, next int) (*Shape, int) {
	if next < len(s.Properties) && s.Properties[next].Name == string(name) {
		return s.Properties[next].Shape, next + 1
	}
	if i, ok := s.index[string(name)]; ok {
		return s.Properties[i].Shape, i + 1
	}
	return nil, next
}

// isInteger tells whether a number literal has no fraction, whatever its notation: 1.0 and 1.5e1 are integers.
func isInteger(literal []byte) bool {
	fraction, zeros, exponent := 0, 0, 0
	negative, any, inFraction := false, false, false
	for i := 0; i < len(literal); i++ {
		switch c := literal[i]; c {
		case '.':
			inFraction = true
		case 'e', 'E':
			for _, c := range literal[i+1:] {
				switch {
				case c == '-':
					negative = true
				case c != '+' && exponent < 1<<20:
					exponent = exponent*10 + int(c-'0')
				}
			}
			i = len(literal)
		case '-':
		default:
			if inFraction {
				fraction++
			}
			if c == '0' {
				zeros++
			} else {
				zeros, any = 0, true
			}
		}
	}
	if negative {
		exponent = -exponent
	}
	// The value is its digits times ten to (exponent - fraction); trailing zeros may be moved.
	return !any || exponent-fraction+zeros >= 0
}
