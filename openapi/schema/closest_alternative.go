package schema

import (
	"fmt"
	"slices"

	validation "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// alternative is what one branch of anyOf or oneOf found wrong.
type alternative struct {
	err    *validation.ValidationError
	number int // from 1, as in the schema
	leaves int
	picked int // members with a fixed value, such as a discriminator, that say it is another branch that is meant
	kind   bool
	deep   int
}

// closest explains a value that matches none of several alternatives. The faults of all of them would bury the one that matters, so
// only those of the alternative are reported that was probably meant: not one of another type, not one whose fixed members have other
// values, then the one with the fewest faults.
func (e *explainer) closest(err *validation.ValidationError) {
	at := len(err.InstanceLocation)
	var same []alternative
	for i, cause := range err.Causes {
		a := alternative{err: cause, number: i + 1}
		a.measure(cause, at)
		if !a.kind {
			same = append(same, a)
		}
	}
	if len(same) == 0 {
		e.kinds(err)
		return
	}
	if e.picks(err, same) {
		return
	}
	best := same[0]
	for _, a := range same[1:] {
		if a.picked < best.picked || a.picked == best.picked && (a.leaves < best.leaves || a.leaves == best.leaves && a.deep > best.deep) {
			best = a
		}
	}
	before := e.branch
	if len(same) > 1 {
		e.branch = fmt.Sprintf(" (alternative %d of %d, the closest)", best.number, len(err.Causes))
	}
	e.walk(best.err)
	e.branch = before
}

// picks explains a value whose discriminator, a member that has a fixed value in every alternative, has none of them.
func (e *explainer) picks(err *validation.ValidationError, same []alternative) bool {
	at := len(err.InstanceLocation)
	values := map[string][]any{}
	counts := map[string]int{}
	for i, a := range same {
		a.fixed(a.err, at, func(cause *validation.ValidationError, want []any) {
			name := cause.InstanceLocation[at]
			if counts[name] == i { // once for each alternative, and in all before it
				counts[name]++
			}
			values[name] = append(values[name], want...)
		})
	}
	for name, n := range counts {
		if n != len(same) || n < 2 {
			delete(counts, name)
		}
	}
	if len(counts) != 1 {
		return false
	}
	for name := range counts {
		location := append(slices.Clone(err.InstanceLocation), name)
		value := e.given(location)
		e.add(location, "expected %s, got %s%s", oneOf(eachOnce(values[name])), show(value), e.similar(values[name], value))
	}
	return true
}

// fixed finds the faults of members that must have one of some values.
func (a *alternative) fixed(err *validation.ValidationError, at int, found func(*validation.ValidationError, []any)) {
	if len(err.InstanceLocation) == at+1 {
		switch k := err.ErrorKind.(type) {
		case *kind.Const:
			found(err, []any{k.Want})
		case *kind.Enum:
			found(err, k.Want)
		}
	}
	switch err.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf: // alternatives within: none of their values is that of this one
		return
	}
	for _, cause := range err.Causes {
		a.fixed(cause, at, found)
	}
}

// measure counts what is wrong with one alternative for the value at depth at.
func (a *alternative) measure(err *validation.ValidationError, at int) {
	if len(err.Causes) > 0 {
		switch err.ErrorKind.(type) {
		case *kind.AnyOf, *kind.OneOf:
			// Each of its own alternatives failed; the best of them counts.
			var best *alternative
			for _, cause := range err.Causes {
				b := alternative{}
				b.measure(cause, at)
				if best == nil || !b.kind && best.kind || b.kind == best.kind && b.leaves < best.leaves {
					best = &b
				}
			}
			a.leaves += best.leaves
			a.picked += best.picked
			a.kind = a.kind || best.kind
			a.deep = max(a.deep, best.deep)
		default:
			for _, cause := range err.Causes {
				a.measure(cause, at)
			}
		}
		return
	}
	a.leaves++
	deep := len(err.InstanceLocation)
	a.deep = max(a.deep, deep)
	switch err.ErrorKind.(type) {
	case *kind.Type:
		a.kind = a.kind || deep == at
	case *kind.Const, *kind.Enum:
		a.kind = a.kind || deep == at
		if deep == at+1 {
			a.picked++
		}
	}
}

// kinds explains a value that is of another type, or not among the values, of every alternative.
func (e *explainer) kinds(err *validation.ValidationError) {
	var names []string
	var values []any
	var collect func(err *validation.ValidationError)
	collect = func(cause *validation.ValidationError) {
		for _, c := range cause.Causes {
			collect(c)
		}
		if len(cause.InstanceLocation) != len(err.InstanceLocation) {
			return
		}
		switch k := cause.ErrorKind.(type) {
		case *kind.Type:
			for _, name := range k.Want {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		case *kind.Const:
			values = append(values, k.Want)
		case *kind.Enum:
			values = append(values, k.Want...)
		}
	}
	for _, cause := range err.Causes {
		collect(cause)
	}
	value := e.given(err.InstanceLocation)
	expected := typeList(names)
	if len(values) > 0 {
		if expected != "" {
			expected = " or " + expected
		}
		expected = oneOf(eachOnce(values)) + expected
	}
	f := e.add(err.InstanceLocation, "expected %s, got %s%s%s", expected, show(value), e.similar(values, value), quotedHint(names, value))
	f.Wants = wantedKinds(names)
	if f.Keyword = "type"; len(values) > 0 {
		f.Keyword = "enum"
	}
}
