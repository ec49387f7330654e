package jsonscan

import "strings"

// Kind is the type of a JSON value. The constants are single bits, so that a set of kinds is a [Kinds].
type Kind uint8

// The six kinds of RFC 8259 section 3; true and false are one.
const (
	Null Kind = 1 << iota
	Bool
	Number
	String
	Array
	Object
)

// String returns the name that JSON Schema uses for the kind.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "boolean"
	case Number:
		return "number"
	case String:
		return "string"
	case Array:
		return "array"
	case Object:
		return "object"
	}
	return "nothing"
}

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

// Has reports whether k is in the set.
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

// kinds maps the first byte of a value to its kind; 0 for a byte that starts none. It is never written to.
var kinds = [256]Kind{
	'{': Object, '[': Array, '"': String, 't': Bool, 'f': Bool, 'n': Null, '-': Number,
	'0': Number, '1': Number, '2': Number, '3': Number, '4': Number, '5': Number, '6': Number, '7': Number, '8': Number, '9': Number,
}

func kindOf(c byte) Kind { return kinds[c] }
