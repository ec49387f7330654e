package projection

import (
	"bytes"
	"context"

	"drawbridge/openapi/jsonscan"
)

// Rule is what becomes of the answers of one operation. It is immutable.
type Rule struct {
	Select *Program // nil if the whole answer is passed on
	// DropNulls leaves out the members of objects that are null.
	DropNulls bool
	Limits    Limits
	// Shape is that of what Select gives if its schema is published; nil if it is not.
	Shape *jsonscan.Shape
}

// Answer is an answer on its way to the client.
type Answer struct {
	// Data is compact JSON.
	Data []byte
	// Wrapped reports that the published schema has the answer under the member result.
	Wrapped bool
	// Selected reports that Select was applied, and Failed why it was not: nil if it was, or if there is none. An answer that Select
	// was not applied to must not be shown: it may be much larger than what Select leaves, and have what the operator left out.
	Selected bool
	Failed   error
	// Mismatch is the place where the result of Select differs from Shape; nil if it fits.
	Mismatch *jsonscan.Mismatch
	// Missed are the paths of the field list that lead to nothing.
	Missed []Missed
	// Sliced are the arrays of which the list of fields selects elements by their positions.
	Sliced []Sliced
	// Nulls is the number of members that are left out because they are null.
	Nulls int
	// Cuts are what the limits left out.
	Cuts []Cut
}

// IsEmpty reports whether the rule leaves every answer as it is.
func (r *Rule) IsEmpty() bool { return r.Select == nil && !r.DropNulls && r.Limits == (Limits{}) }

// Apply projects an answer: Select first, then the list of fields of the model, which may be nil, then DropNulls and the limits. The
// answer must be compact JSON that was scanned before. If Select fails, nothing else is applied.
func (r *Rule) Apply(ctx context.Context, data []byte, wrapped bool, fields *FieldList) Answer {
	a := Answer{Data: data, Wrapped: wrapped}
	if r.Select != nil {
		projected, err := r.Select.Run(ctx, data)
		if err != nil {
			a.Data, a.Failed = nil, err
			return a
		}
		a.Data, a.Selected = projected, true
		a.Wrapped = r.Shape != nil && IsWrapped(r.Shape)
		if info, err := jsonscan.Scan(projected, jsonscan.Options{Shape: r.Shape}); err == nil {
			a.Mismatch = info.Mismatch
		}
	}
	if fields != nil {
		if a.Wrapped {
			fields = fields.unwrapped()
		}
		a.Data, a.Missed, a.Sliced = fields.Apply(a.Data)
	}
	if r.DropNulls {
		a.Data, a.Nulls = dropNulls(a.Data)
	}
	a.Data, a.Cuts = r.Limits.Apply(a.Data)
	return a
}

// IsWrapped reports whether the published schema of an answer has it under the member result: the root of a schema must be an
// object.
func IsWrapped(s *jsonscan.Shape) bool { return s.Kinds != jsonscan.Of(jsonscan.Object) }

// Structure returns a text as compact JSON; ok is false if it is no object or array. Services whose answers have no schema are not
// held to JSON before.
func Structure(text []byte) (data []byte, ok bool) {
	if kind := jsonscan.KindOf(text); kind != jsonscan.Object && kind != jsonscan.Array {
		return nil, false
	}
	return Compact(text)
}

// Compact returns a text as compact JSON; ok is false if it is none.
func Compact(text []byte) (data []byte, ok bool) {
	info, err := jsonscan.Scan(text, jsonscan.Options{})
	if err != nil {
		return nil, false
	}
	if info.Spaced || info.Escapes {
		return jsonscan.AppendNormal(nil, text, info), true
	}
	return bytes.TrimSpace(text), true
}

// unwrapped returns the list without the member result at the beginning of each path: the published schema has it, and the
// answer does not. The list is returned as it is unless all paths begin so.
func (l *FieldList) unwrapped() *FieldList {
	out := &FieldList{paths: make([]fieldPath, len(l.paths))}
	for i, p := range l.paths {
		if len(p.path) == 0 || p.wild[0] || p.path[0] != "result" {
			return l
		}
		out.paths[i] = fieldPath{text: p.text, path: p.path[1:], wild: p.wild[1:], slices: p.slices[1:]}
	}
	if out.build() != nil {
		return l
	}
	return out
}

// MayHaveArray reports whether an answer of a shape can have an array, nil being any shape.
func MayHaveArray(s *jsonscan.Shape) bool {
	if s == nil || s.Kinds.Has(jsonscan.Array) {
		return true
	}
	if s.Kinds.Has(jsonscan.Object) && len(s.Properties) == 0 {
		return true
	}
	for i := range s.Properties {
		if MayHaveArray(s.Properties[i].Shape) {
			return true
		}
	}
	return false
}
