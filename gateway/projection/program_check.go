package projection

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"

	"drawbridge/openapi/jsonscan"
)

// checker goes through a program as the interpreter would, with shapes instead of values. It finds what the subset does
// not have, and, if it knows the shape of the answer, the names that are not in it and the shape of the result.
type checker struct {
	faults  []error
	missing []Missing
	depth   int
	bound   []boundVariable // innermost last
}

// boundVariable is a variable that the program has bound.
type boundVariable struct {
	name  string
	value value
}

// maxNesting is how deep a program may be nested.
const maxNesting = 100

func (c *checker) fault(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if !slices.ContainsFunc(c.faults, func(other error) bool { return other.Error() == err.Error() }) {
		c.faults = append(c.faults, err)
	}
}

// query returns the values that a query gives for a value.
func (c *checker) query(q *gojq.Query, in value) value {
	if c.depth++; c.depth > maxNesting {
		c.depth--
		c.fault("is nested more than %d levels deep", maxNesting)
		return value{gives: many}
	}
	defer func() { c.depth-- }()
	if q.Meta != nil || len(q.Imports) > 0 {
		c.fault("imports a module, and there are none")
	}
	for _, f := range q.FuncDefs {
		c.fault("defines the function %s: write it out where it is used", f.Name)
	}
	if q.Term != nil {
		return c.term(q.Term, in)
	}
	if q.Left == nil || q.Right == nil { // definitions alone
		return in.with(one)
	}
	switch q.Op {
	case gojq.OpPipe:
		left := c.query(q.Left, in)
		if q.Patterns != nil {
			defer func(n int) { c.bound = c.bound[:n] }(len(c.bound))
			for _, p := range q.Patterns {
				c.pattern(p, in, left)
			}
			return c.query(q.Right, in).times(left.gives)
		}
		return c.query(q.Right, left.with(one)).times(left.gives)
	case gojq.OpComma:
		return either(c.query(q.Left, in), c.query(q.Right, in)).with(many)
	case gojq.OpModify:
		return c.modify(q, in)
	case gojq.OpAssign, gojq.OpUpdateAdd, gojq.OpUpdateSub, gojq.OpUpdateMul, gojq.OpUpdateDiv, gojq.OpUpdateMod, gojq.OpUpdateAlt:
		c.fault("has the operator %s: of assignments only |= is supported", q.Op)
		return of(0)
	default:
	}
	left, right := c.query(q.Left, in), c.query(q.Right, in)
	return c.operator(q.Op, left, right).times(left.gives).times(right.gives)
}

// operator returns the result of an operator for one value on each side.
func (c *checker) operator(op gojq.Operator, left, right value) value {
	switch op {
	case gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe, gojq.OpAnd, gojq.OpOr:
		return of(ofBool)
	case gojq.OpAlt:
		// The left side gives those of its values that are neither null nor false, else the right side.
		both := either(left, right)
		both.gives = max(left.gives, right.gives)
		return both
	case gojq.OpAdd, gojq.OpSub, gojq.OpDiv, gojq.OpMul:
		if calculates(op, left.sure, right.sure) {
			c.fault("calculates with %s, in binary floating point, so that numbers would lose digits; with something else than numbers, write a string, array or object on one side, such as \"\\(.a) \\(.b)\"", op)
		}
		for _, side := range []value{left, right} {
			switch side.sure {
			case ofString, ofArray, ofObject:
				if op == gojq.OpDiv {
					return of(ofArray)
				}
				return of(side.sure)
			}
		}
		return value{}
	default:
		c.fault("calculates with %s, in binary floating point, so that numbers would lose digits", op)
		return value{}
	}
}

// calculates reports whether an operator may calculate, or repeat a string, with sides of kinds that are sure; 0: any.
func calculates(op gojq.Operator, left, right jsonscan.Kinds) bool {
	is := func(kinds jsonscan.Kinds) bool { return left == kinds || right == kinds }
	switch op {
	case gojq.OpAdd:
		return !is(ofString) && !is(ofArray) && !is(ofObject)
	case gojq.OpSub:
		return !is(ofArray)
	case gojq.OpDiv:
		return !is(ofString)
	case gojq.OpMul:
		return !is(ofObject)
	default:
		return true
	}
}

// term returns the values that a term gives.
func (c *checker) term(t *gojq.Term, in value) value {
	v := c.base(t, in)
	for _, s := range t.SuffixList {
		switch {
		case s.Index != nil:
			v = c.index(s.Index, v.with(one), in).times(v.gives)
		case s.Iter:
			v = value{shape: c.elements(v, ""), gives: many}
		case s.Optional:
			v = v.times(maybe)
		}
	}
	return v
}

// base returns the values that a term gives without its suffixes.
func (c *checker) base(t *gojq.Term, in value) value {
	switch t.Type {
	case gojq.TermTypeIdentity:
		return in.with(one)
	case gojq.TermTypeRecurse:
		return value{gives: many}
	case gojq.TermTypeNull:
		return of(ofNull)
	case gojq.TermTypeTrue, gojq.TermTypeFalse:
		return of(ofBool)
	case gojq.TermTypeNumber:
		c.number(t.Number)
		return of(ofNumber)
	case gojq.TermTypeUnary:
		return c.unary(t.Unary, in)
	case gojq.TermTypeString, gojq.TermTypeFormat:
		if t.Type == gojq.TermTypeFormat && !formats[t.Format] {
			c.fault("has the format %s, which jq does not know", t.Format)
		}
		return of(ofString).times(c.text(t.Str, in))
	case gojq.TermTypeIndex:
		return c.index(t.Index, in, in)
	case gojq.TermTypeFunc:
		return c.call(t.Func, in)
	case gojq.TermTypeObject:
		return c.object(t.Object, in)
	case gojq.TermTypeArray:
		if t.Array.Query == nil {
			return of(ofArray)
		}
		return arrayOf(c.query(t.Array.Query, in))
	case gojq.TermTypeQuery:
		return c.query(t.Query, in)
	case gojq.TermTypeIf:
		return c.conditional(t.If, in)
	case gojq.TermTypeTry:
		v := c.query(t.Try.Body, in)
		if t.Try.Catch != nil {
			return either(v, c.query(t.Try.Catch, value{})).with(max(v.gives, maybe))
		}
		return v.times(maybe)
	case gojq.TermTypeReduce:
		c.fault("has reduce, which is not part of what is supported")
	case gojq.TermTypeForeach:
		c.fault("has foreach, which is not part of what is supported")
	case gojq.TermTypeLabel, gojq.TermTypeBreak:
		c.fault("has a label, which is not part of what is supported; first(…) and limit(…) end early, too")
	}
	return value{}
}

// number refuses a number that jq would write with other digits.
func (c *checker) number(text string) {
	shown := text
	if _, err := strconv.ParseInt(text, 10, 64); err != nil {
		f, err := strconv.ParseFloat(text, 64)
		if strings.Trim(text, "0123456789") == "" && err == nil {
			return // jq keeps large integers
		}
		if err != nil {
			c.fault("has the number %s, which jq can't keep; write it as a string", text)
			return
		}
		shown = floatText(f)
	} else if n, _ := strconv.ParseInt(text, 10, 64); true {
		shown = strconv.FormatInt(n, 10)
	}
	if shown != text {
		c.fault("has the number %s, which jq would write as %s; write it so, or as a string", text, shown)
	}
}

// unary checks a sign: only that of a number in the program is one that jq does not calculate with.
func (c *checker) unary(u *gojq.Unary, in value) value {
	if u.Term.Type == gojq.TermTypeNumber && len(u.Term.SuffixList) == 0 {
		c.number(u.Term.Number)
		return of(ofNumber)
	}
	c.term(u.Term, in)
	c.fault("calculates with %s, in binary floating point, so that numbers would lose digits", u.Op)
	return value{}
}

// text checks the queries in a string, and returns how many strings come of them.
func (c *checker) text(s *gojq.String, in value) (gives cardinality) {
	if s == nil {
		return one
	}
	for _, q := range s.Queries {
		gives = gives.times(c.query(q, in).gives)
	}
	return gives
}

// conditional returns the values of if.
func (c *checker) conditional(t *gojq.If, in value) value {
	gives := c.query(t.Cond, in).gives
	v := c.query(t.Then, in)
	merge := func(branch value) {
		most := max(v.gives, branch.gives)
		v = either(v, branch).with(most)
	}
	for _, e := range t.Elif {
		gives = gives.times(c.query(e.Cond, in).gives)
		merge(c.query(e.Then, in))
	}
	if t.Else != nil {
		merge(c.query(t.Else, in))
	} else {
		merge(in.with(one))
	}
	return v.times(gives)
}

// call returns the values of a function or a variable.
func (c *checker) call(f *gojq.Func, in value) value {
	known, ok := functions[signatureOf(f)]
	switch {
	case outside[f.Name] || strings.HasPrefix(f.Name, "$__"):
		c.fault("calls %s: an expression can read nothing but the answer, and does nothing but select from it", f.Name)
		return value{}
	case strings.HasPrefix(f.Name, "$"):
		for _, v := range slices.Backward(c.bound) {
			if v.name == f.Name {
				return v.value.with(one)
			}
		}
		c.fault("has the variable %s, which it does not bind", f.Name)
		return value{}
	case calculating[f.Name]:
		c.fault("calls %s, which calculates in binary floating point, so that numbers would lose digits", f.Name)
		return value{}
	case !ok:
		c.fault("calls %s, which is not part of what is supported", signatureOf(f))
		return value{}
	case known.literal && (f.Args[0].Term == nil || f.Args[0].Term.Type != gojq.TermTypeString || f.Args[0].Term.Str.Queries != nil || f.Args[0].Term.SuffixList != nil):
		c.fault("calls %s with a regular expression that is not a plain string", f.Name)
	}
	if known.result != byKinds {
		v := c.result(known.result, in, f.Args)
		if known.kinds != 0 {
			v.sure = known.kinds
		}
		if v.shape == nil {
			v.shape = of(known.kinds).shape
		}
		return v
	}
	v := of(known.kinds).times(known.gives)
	for _, arg := range f.Args {
		given := c.query(arg, in)
		if !takesStreams[signatureOf(f)] {
			v = v.times(given.gives)
		}
	}
	return v
}

// takesStreams are functions whose result does not multiply with the values of their arguments.
var takesStreams = map[string]bool{"isempty/1": true, "any/2": true, "all/2": true, "IN/1": true}

// each checks the arguments of a function that are evaluated for each element of its input.
func (c *checker) each(in value, args []*gojq.Query) {
	if len(args) == 0 {
		return
	}
	element := value{shape: c.elements(in, "")}
	for _, arg := range args {
		c.query(arg, element)
	}
}

// errKey is the fault of a path that a program may not write to.
var errKey = errors.New("changes or picks elements by number, which can make arrays of any length; use [] or a slice of the result")
