package projection

import (
	"context"
	"encoding/json"
	"math/big"
	"regexp"

	"github.com/itchyny/gojq"
)

// The deadline of a program ends it between two steps, but some steps of jq take as long as their input is large, and a value
// that holds another many times is larger than its memory: [.,.] | [.,.] | … doubles it with each step. So each such step is
// given its input through a guard, which takes the size of the value off a budget for the whole evaluation.

// guardFunction and budgetVariable are the names that guards have in the program. The checker refuses names that begin so.
const (
	guardFunction   = "_guard"
	matchesFunction = "_guard_matches"
	budgetVariable  = "$__budget"
)

// maxMatched is what the matches of regular expressions may cost in one evaluation: for each match of all in a text, the bytes of the
// text, because gojq counts the characters before it anew. It is what the deadline allows, about.
const maxMatched = 4 << 20

// budget is what is left of the work of one evaluation, in bytes and values. Only the goroutine of the evaluation uses it.
type budget struct {
	left  int
	ended <-chan struct{} // closed at the deadline
	count int             // values since that was looked at

	matched int // what is left of maxMatched
}

// newBudget returns the budget for an answer: as much as a dozen steps need that each look at all of it. Measuring a value ends
// with the context, too.
func newBudget(ctx context.Context, size int) *budget {
	return &budget{left: 16*size + 1<<20, ended: ctx.Done(), matched: maxMatched}
}

// guard returns its input, or [errTooMuch] if the budget does not allow to work with it.
func guard(v any, args []any) any {
	b, ok := args[0].(*budget)
	if !ok || !b.take(v) {
		return errTooMuch
	}
	return v
}

// guardMatches returns its input, or [errTooMuch] if the budget does not allow to find all matches of a regular expression in it.
func guardMatches(v any, args []any) any {
	b, known := args[0].(*budget)
	pattern, isPattern := args[1].(string)
	text, isText := v.(string)
	if !known {
		return errTooMuch
	}
	if !isPattern || !isText {
		return v // the function says so
	}
	r, err := regexp.Compile(pattern)
	if err != nil {
		return v
	}
	size := max(len(text), 1)
	most := b.matched / size
	found := len(r.FindAllStringIndex(text, most+1))
	if found > most {
		return errTooMuch
	}
	b.matched -= found * size
	return v
}

// take takes the size of a value off the budget. It returns false if that is used up, or the deadline has passed.
func (b *budget) take(v any) bool {
	const interval = 1024
	if b.left--; b.left < 0 {
		return false
	}
	if b.count++; b.count == interval {
		b.count = 0
		select {
		case <-b.ended:
			return false
		default:
		}
	}
	switch v := v.(type) {
	case string:
		b.left -= len(v)
	case json.Number:
		b.left -= len(v)
	case *big.Int:
		b.left -= v.BitLen() / 4
	case []any:
		for _, element := range v {
			if !b.take(element) {
				return false
			}
		}
	case map[string]any:
		for name, member := range v {
			if b.left -= len(name); !b.take(member) {
				return false
			}
		}
	}
	return b.left >= 0
}

// guardQuery inserts the guards of a query and all below it.
func guardQuery(q *gojq.Query) {
	switch {
	case q == nil:
		return
	case q.Term != nil:
		guardTerm(q.Term)
		if guarded := guardedTerm(q.Term); guarded != nil {
			*q = *guarded
		}
		return
	}
	guardQuery(q.Right)
	if q.Op == gojq.OpModify { // its left side is a path, in which a guard has no place
		modify := *q
		*q = gojq.Query{Op: gojq.OpPipe, Left: guardCall(), Right: &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: &modify}}}
		return
	}
	guardQuery(q.Left)
	for _, p := range q.Patterns {
		guardPattern(p)
	}
	switch q.Op {
	case gojq.OpAdd, gojq.OpSub, gojq.OpMul, gojq.OpDiv, gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe:
		q.Left, q.Right = thenGuard(q.Left), thenGuard(q.Right)
	default:
	}
}

// thenGuard returns a query whose values pass a guard.
func thenGuard(q *gojq.Query) *gojq.Query {
	piped := &gojq.Query{Op: gojq.OpPipe, Left: &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: q}}, Right: guardCall()}
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: piped}}
}

func guardCall() *gojq.Query { return callOf(guardFunction, callOf(budgetVariable)) }

// matchesCall returns the guard of a function that finds all matches of a pattern.
func matchesCall(pattern *gojq.Query) *gojq.Query {
	return callOf(matchesFunction, callOf(budgetVariable), pattern)
}

// callOf returns the call of a function, or a variable.
func callOf(name string, args ...*gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name, Args: args}}}
}

// guardedTerm returns a term whose input passes a guard, nil if it needs none.
func guardedTerm(t *gojq.Term) *gojq.Query {
	heavy := t.Type == gojq.TermTypeFormat || t.Type == gojq.TermTypeString && t.Str.Queries != nil
	if t.Type == gojq.TermTypeFunc {
		heavy = functions[signatureOf(t.Func)].heavy
	}
	if !heavy {
		return nil
	}
	guarded := &gojq.Query{Term: t}
	if t.Type == gojq.TermTypeFunc && functions[signatureOf(t.Func)].matches {
		guarded = &gojq.Query{Op: gojq.OpPipe, Left: matchesCall(t.Func.Args[0]), Right: guarded}
	}
	piped := &gojq.Query{Op: gojq.OpPipe, Left: guardCall(), Right: guarded}
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: piped}}
}

// guardTerm inserts the guards below a term.
func guardTerm(t *gojq.Term) {
	switch t.Type {
	case gojq.TermTypeFunc:
		f := functions[signatureOf(t.Func)]
		for i, arg := range t.Func.Args {
			if f.paths {
				continue
			}
			if guardQuery(arg); f.heavy {
				t.Func.Args[i] = thenGuard(arg)
			}
		}
	case gojq.TermTypeObject:
		for _, m := range t.Object.KeyVals {
			guardString(m.KeyString)
			guardQuery(m.KeyQuery)
			guardQuery(m.Val)
		}
	case gojq.TermTypeArray:
		guardQuery(t.Array.Query)
	case gojq.TermTypeQuery:
		guardQuery(t.Query)
	case gojq.TermTypeString, gojq.TermTypeFormat:
		guardString(t.Str)
	case gojq.TermTypeUnary:
		guardTerm(t.Unary.Term)
	case gojq.TermTypeIf:
		guardQuery(t.If.Cond)
		guardQuery(t.If.Then)
		for _, e := range t.If.Elif {
			guardQuery(e.Cond)
			guardQuery(e.Then)
		}
		guardQuery(t.If.Else)
	case gojq.TermTypeTry:
		guardQuery(t.Try.Body)
		guardQuery(t.Try.Catch)
	case gojq.TermTypeIndex:
		guardIndex(t.Index)
	default:
	}
	for _, s := range t.SuffixList {
		guardIndex(s.Index)
	}
}

func guardIndex(i *gojq.Index) {
	if i == nil {
		return
	}
	guardString(i.Str)
	guardQuery(i.Start)
	guardQuery(i.End)
}

// guardString inserts the guards of the queries in a string, each of which is written into it.
func guardString(s *gojq.String) {
	if s == nil {
		return
	}
	for i, q := range s.Queries {
		if q.Term != nil && q.Term.Type == gojq.TermTypeString && q.Term.Str.Queries == nil && q.Term.SuffixList == nil {
			continue // the text between them
		}
		guardQuery(q)
		s.Queries[i] = thenGuard(q)
	}
}

func guardPattern(p *gojq.Pattern) {
	for _, element := range p.Array {
		guardPattern(element)
	}
	for _, m := range p.Object {
		guardString(m.KeyString)
		guardQuery(m.KeyQuery)
		if m.Val != nil {
			guardPattern(m.Val)
		}
	}
}
