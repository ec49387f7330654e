package schema

import (
	"slices"

	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/tree"
)

// A shownValue is a default, or one of the examples, in what an emitter has written.
type shownValue struct {
	node     *tree.Node
	from, to int  // of the value
	member   int  // where the keyword begins, its comma included
	end      int  // where the keyword ends
	wins     bool // if it fits, the others of its keyword are left out
}

// verify takes back what was just written as a default or an example of the schema that begins at start and does not fit
// it: every fifth document has such (OAS 3.1.1, schema object, wants examples to fit), and a model would copy it. holes and
// shown are the counts at start.
func (e *emitter) verify(start, holes, shown int) {
	values := e.shown[shown:]
	if len(values) == 0 {
		return
	}
	e.shown = e.shown[:shown]
	written := fragment{body: e.out, holes: e.holes[holes:]}
	p, text := written.program(start, e.c.referredCheck)
	c := p.check(jsonschema.Parse(text))
	fits := func(v shownValue) bool {
		q := &quickValidator{steps: maxSteps / 100}
		return q.validate(c, Decode(e.out[v.from:v.to])) != invalid
	}
	for len(values) > 0 { // keyword by keyword, the last first, so that the others stay where they are
		last := values[len(values)-1]
		first := slices.IndexFunc(values, func(v shownValue) bool { return v.member == last.member })
		keyword := values[first:]
		values = values[:first]
		var kept [][]byte
		for _, v := range keyword {
			if v.wins && fits(v) {
				kept = [][]byte{slices.Clone(e.out[v.from:v.to])}
				break
			}
			if fits(v) {
				kept = append(kept, slices.Clone(e.out[v.from:v.to]))
			} else {
				what := "example"
				if v.node.Key() == "default" {
					what = "default"
				}
				e.warnf(v.node, CodeSchemaExample, "the %s %s breaks its own schema; it is left out", what, excerpt(v.node))
			}
		}
		if len(kept) < len(keyword) {
			e.replace(keyword, last.end, kept, holes)
		}
	}
}

// replace writes only some of the values of a keyword, or nothing of it.
func (e *emitter) replace(keyword []shownValue, end int, kept [][]byte, holes int) {
	from, to := keyword[0].member, end
	var text []byte
	if len(kept) > 0 {
		text = append(text, e.out[from:keyword[0].from]...)
		for i, value := range kept {
			if i > 0 {
				text = append(text, ',')
			}
			text = append(text, value...)
		}
		text = append(text, e.out[keyword[len(keyword)-1].to:end]...)
	} else if e.out[from-1] == '{' && e.out[to] == ',' {
		to++
	}
	for i := holes; i < len(e.holes); i++ {
		if e.holes[i].at > from {
			e.holes[i].at += len(text) - (to - from)
		}
	}
	e.out = slices.Replace(e.out, from, to, text...)
}
