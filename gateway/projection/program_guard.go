package projection

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"

	"github.com/itchyny/gojq"
)

// Instructions of a program are counted by the interpreter, but some take as long as their input is large, and a value that holds
// another many times is larger than its memory: [.,.] | [.,.] | … doubles it with each step. So each such step is given its input
// through a guard, which counts the work that it will take.

// Names that guards have in the program. The checker refuses names that begin so.
const (
	guardFunction = "_guard"
	meterVariable = "$__meter"
	otherVariable = "$__other" // the argument of a step with two sides
	firstVariable = "$__first" // the left side of an operator with two sides
)

// guard returns its input, or the error of the meter if there is too little left of the work to go on with it. The arguments are the
// meter, the charge, the other side and a number, see [meter.take].
func guard(v any, args []any) any {
	m, ok := args[0].(*meter)
	if !ok {
		return errTooMuch
	}
	c, _ := args[1].(int)
	n, _ := args[3].(int)
	if c < 0 || c > int(lastCharge) || !m.take(charge(c), v, args[2], n) {
		return m.Err()
	}
	return v
}

// guards inserts the guards of one program.
type guards struct{ matchers []matcher }

// call returns the call of a guard.
func (g *guards) call(c charge) *gojq.Query { return guardCall(c, nullQuery(), 0) }

func guardCall(c charge, other *gojq.Query, n int) *gojq.Query {
	return callOf(guardFunction, callOf(meterVariable), numberQuery(int(c)), other, numberQuery(n))
}

func numberQuery(n int) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeNumber, Number: strconv.Itoa(n)}}
}

func nullQuery() *gojq.Query { return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeNull}} }

// callOf returns the call of a function, or a variable.
func callOf(name string, args ...*gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name, Args: args}}}
}

// inBrackets returns a query as a term.
func inBrackets(q *gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: q}}
}

func pipe(left, right *gojq.Query) *gojq.Query {
	return &gojq.Query{Op: gojq.OpPipe, Left: left, Right: right}
}

// bind returns a query that is evaluated for each value of another, which it has under a name.
func bind(value *gojq.Query, name string, in *gojq.Query) *gojq.Query {
	return inBrackets(&gojq.Query{Op: gojq.OpPipe, Left: inBrackets(value), Patterns: []*gojq.Pattern{{Name: name}}, Right: in})
}

// then returns a query whose values pass a guard.
func (g *guards) then(q *gojq.Query, c charge) *gojq.Query {
	if c == free {
		return q
	}
	return inBrackets(pipe(inBrackets(q), g.call(c)))
}

// before returns a query whose input passes a guard.
func (g *guards) before(c charge, q *gojq.Query) *gojq.Query { return inBrackets(pipe(g.call(c), q)) }

// query inserts the guards of a query and all below it.
func (g *guards) query(q *gojq.Query) {
	switch {
	case q == nil:
		return
	case q.Term != nil:
		g.term(q.Term)
		return
	}
	g.query(q.Right)
	if q.Op == gojq.OpModify {
		n := g.path(q.Left)
		modify := *q
		*q = *inBrackets(pipe(guardCall(byPaths, nullQuery(), n), &modify))
		return
	}
	g.query(q.Left)
	for _, p := range q.Patterns {
		g.pattern(p)
	}
	switch q.Op {
	case gojq.OpAdd, gojq.OpMul, gojq.OpDiv:
		q.Left, q.Right = g.then(q.Left, bySize), g.then(q.Right, bySize)
	case gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe:
		q.Left, q.Right = g.then(q.Left, byDigits), g.then(q.Right, byDigits)
	case gojq.OpSub: // each element of the left array is compared with each of the right one; jq evaluates the right side first
		both := pipe(pipe(callOf(firstVariable), guardCall(byPairs, callOf(otherVariable), 0)),
			&gojq.Query{Op: gojq.OpSub, Left: callOf(firstVariable), Right: callOf(otherVariable)})
		*q = *bind(q.Right, otherVariable, bind(q.Left, firstVariable, both))
	default:
	}
}

// path inserts the guards of a query that is a path, in which a guard has no place but in conditions. It returns how many values are
// gone through for one input: 1, and 1 more for each [].
func (g *guards) path(q *gojq.Query) (n int) {
	switch {
	case q == nil:
		return 1
	case q.Term != nil:
		return g.pathTerm(q.Term)
	case q.Patterns != nil:
		g.query(q.Left)
		return g.path(q.Right)
	case q.Op == gojq.OpPipe, q.Op == gojq.OpComma, q.Op == gojq.OpAlt:
		return g.path(q.Left) + g.path(q.Right)
	default:
		g.query(q)
		return 1
	}
}

// isPlainPath reports whether a path leads to as many places as it has names, whatever the input is.
func isPlainPath(q *gojq.Query) bool {
	paths, ok := (&checker{}).pathsOf(q)
	return ok && !slices.ContainsFunc(paths, func(p []step) bool { return slices.ContainsFunc(p, func(s step) bool { return s.elements }) })
}

func (g *guards) pathTerm(t *gojq.Term) (n int) {
	n = 1
	switch t.Type {
	case gojq.TermTypeFunc:
		for i, arg := range t.Func.Args {
			switch signatureOf(t.Func) {
			case "select/1":
				g.query(arg)
			case "limit/2":
				if i == 0 {
					g.query(arg)
					t.Func.Args[0] = g.then(arg, byDigits)
					continue
				}
				n += g.path(arg)
			default:
				n += g.path(arg)
			}
		}
	case gojq.TermTypeQuery:
		n += g.path(t.Query)
	case gojq.TermTypeIf:
		g.query(t.If.Cond)
		n += g.path(t.If.Then) + g.path(t.If.Else)
		for _, e := range t.If.Elif {
			g.query(e.Cond)
			n += g.path(e.Then)
		}
	case gojq.TermTypeTry:
		n += g.path(t.Try.Body) + g.path(t.Try.Catch)
	case gojq.TermTypeIndex:
		g.index(t.Index)
	default:
	}
	for _, s := range t.SuffixList {
		if s.Iter {
			n++
		}
		g.index(s.Index)
	}
	return n
}

// term inserts the guards of a term and all below it.
func (g *guards) term(t *gojq.Term) {
	suffixes := t.SuffixList
	inner := copyOf(t)
	inner.SuffixList = nil
	base := *g.base(inner)
	for _, s := range suffixes {
		g.index(s.Index)
		if s.Iter || s.Index != nil && s.Index.IsSlice {
			base = *g.then(&gojq.Query{Term: copyOf(&base)}, byWidth).Term
		}
		base.SuffixList = append(base.SuffixList, s)
	}
	*t = base
}

func copyOf(t *gojq.Term) *gojq.Term { c := *t; return &c }

// base returns a term without suffixes with its guards.
func (g *guards) base(t *gojq.Term) *gojq.Term {
	switch t.Type {
	case gojq.TermTypeFunc:
		return g.function(t)
	case gojq.TermTypeRecurse:
		return g.before(bySize, &gojq.Query{Term: t}).Term
	case gojq.TermTypeObject:
		for _, m := range t.Object.KeyVals {
			g.text(m.KeyString)
			if g.query(m.KeyQuery); m.KeyQuery != nil {
				m.KeyQuery = g.then(m.KeyQuery, bySize)
			}
			g.query(m.Val)
		}
	case gojq.TermTypeArray:
		g.query(t.Array.Query)
	case gojq.TermTypeQuery:
		g.query(t.Query)
	case gojq.TermTypeString, gojq.TermTypeFormat:
		g.text(t.Str)
		if t.Type == gojq.TermTypeFormat || t.Str.Queries != nil {
			return g.before(bySize, &gojq.Query{Term: t}).Term
		}
	case gojq.TermTypeUnary:
		g.term(t.Unary.Term)
	case gojq.TermTypeIf:
		g.query(t.If.Cond)
		g.query(t.If.Then)
		for _, e := range t.If.Elif {
			g.query(e.Cond)
			g.query(e.Then)
		}
		g.query(t.If.Else)
	case gojq.TermTypeTry:
		g.query(t.Try.Body)
		g.query(t.Try.Catch)
	case gojq.TermTypeIndex:
		if g.index(t.Index); t.Index.IsSlice {
			of := g.call(byWidth).Term
			of.SuffixList = []*gojq.Suffix{{Index: t.Index}}
			return of
		}
	default:
	}
	return t
}

// function returns the call of a function with the guards of its input and its arguments.
func (g *guards) function(t *gojq.Term) *gojq.Term {
	f := functions[signatureOf(t.Func)]
	paths := 1
	for i, arg := range t.Func.Args {
		if f.literal && i == 0 {
			continue
		}
		if f.input == byPaths {
			paths += g.path(arg)
			continue
		}
		g.query(arg)
		t.Func.Args[i] = g.then(arg, f.args)
	}
	own := &gojq.Query{Term: t}
	switch f.input {
	case free:
		return t
	case byPairs:
		other := t.Func.Args[0]
		t.Func.Args[0] = callOf(otherVariable)
		return bind(other, otherVariable, pipe(guardCall(byPairs, callOf(otherVariable), 0), own)).Term
	case byPaths:
		c := byPaths
		if t.Func.Name == "pick" && !isPlainPath(t.Func.Args[0]) {
			c = byPicks
		}
		return inBrackets(pipe(guardCall(c, nullQuery(), paths), own)).Term
	case byMatch, byMatches:
		g.matchers = append(g.matchers, newMatcher(t.Func.Args[0].Term.Str.Str))
		return inBrackets(pipe(guardCall(f.input, nullQuery(), len(g.matchers)-1), own)).Term
	default:
		return g.before(f.input, own).Term
	}
}

// newMatcher returns a regular expression with what it costs: an instruction of the matcher is a quarter of one of jq, and each may
// be looked at for each byte. One that does not compile costs nothing, as the function says so.
func newMatcher(pattern string) matcher {
	r, err := regexp.Compile(pattern)
	if err != nil {
		return matcher{work: 1}
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return matcher{work: 1}
	}
	p, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return matcher{work: 1}
	}
	return matcher{pattern: r, work: 1 + len(p.Inst)/4}
}

// index inserts the guards of an index, which may be computed.
func (g *guards) index(i *gojq.Index) {
	if i == nil {
		return
	}
	g.text(i.Str)
	for _, at := range []**gojq.Query{&i.Start, &i.End} {
		if *at != nil {
			g.query(*at)
			*at = g.then(*at, byDigits)
		}
	}
}

// text inserts the guards of the queries in a string, each of which is written into it.
func (g *guards) text(s *gojq.String) {
	if s == nil {
		return
	}
	for i, q := range s.Queries {
		if q.Term != nil && q.Term.Type == gojq.TermTypeString && q.Term.Str.Queries == nil && q.Term.SuffixList == nil {
			continue // the text between them
		}
		g.query(q)
		s.Queries[i] = g.then(q, bySize)
	}
}

func (g *guards) pattern(p *gojq.Pattern) {
	for _, element := range p.Array {
		g.pattern(element)
	}
	for _, m := range p.Object {
		g.text(m.KeyString)
		if g.query(m.KeyQuery); m.KeyQuery != nil {
			m.KeyQuery = g.then(m.KeyQuery, bySize)
		}
		if m.Val != nil {
			g.pattern(m.Val)
		}
	}
}
