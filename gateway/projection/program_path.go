package projection

import (
	"github.com/itchyny/gojq"

	"drawbridge/openapi/jsonscan"
)

// Programs may name places in the answer to change or to leave out: del(.a, .b[].c), pick(.a.b), .a |= f. A path has names,
// [] and conditions. Elements by number are refused, because jq makes an array of any length for one.

// step is one step of a path: a member, or all elements.
type step struct {
	name     string
	elements bool
}

// paths checks a query that must consist of paths, and returns these; ok is false if they depend on the answer.
func (c *checker) paths(q *gojq.Query, in value) (all [][]step, ok bool) {
	c.query(q, in)
	return c.pathsOf(q)
}

// pathsOf returns the paths of a query.
func (c *checker) pathsOf(q *gojq.Query) (all [][]step, ok bool) {
	if q.Term != nil {
		return c.termPaths(q.Term)
	}
	if q.Left == nil || q.Right == nil || q.Patterns != nil {
		return nil, false
	}
	left, leftOK := c.pathsOf(q.Left)
	right, rightOK := c.pathsOf(q.Right)
	switch q.Op {
	case gojq.OpComma:
		return append(left, right...), leftOK && rightOK
	case gojq.OpPipe:
		for _, first := range left {
			for _, then := range right {
				if len(all) > maxPaths {
					return nil, false
				}
				all = append(all, append(append([]step(nil), first...), then...))
			}
		}
		return all, leftOK && rightOK
	default:
		return nil, false
	}
}

// termPaths returns the paths of a term.
func (c *checker) termPaths(t *gojq.Term) (all [][]step, ok bool) {
	ok = true
	switch t.Type {
	case gojq.TermTypeIdentity:
		all = [][]step{{}}
	case gojq.TermTypeIndex:
		s, known := c.pathStep(t.Index)
		all, ok = [][]step{{s}}, known
	case gojq.TermTypeQuery:
		all, ok = c.pathsOf(t.Query)
	case gojq.TermTypeFunc, gojq.TermTypeRecurse, gojq.TermTypeIf, gojq.TermTypeTry:
		ok = false // select(…) and the like: some of the values at a path
		if t.Type == gojq.TermTypeFunc {
			for _, arg := range t.Func.Args {
				c.pathsOf(arg)
			}
		}
	default:
		ok = false
	}
	for _, s := range t.SuffixList {
		var next step
		switch {
		case s.Iter:
			next.elements = true
		case s.Index != nil:
			var known bool
			next, known = c.pathStep(s.Index)
			ok = ok && known
		default: // ?
			continue
		}
		for i := range all {
			all[i] = append(all[i], next)
		}
	}
	return all, ok
}

// pathStep returns the step of an index. A number and a computed key are refused.
func (c *checker) pathStep(i *gojq.Index) (s step, known bool) {
	switch {
	case i.Name != "":
		return step{name: i.Name}, true
	case i.Str != nil && i.Str.Queries == nil:
		return step{name: i.Str.Str}, true
	case i.Start != nil && !i.IsSlice && i.Start.Term != nil && i.Start.Term.Type == gojq.TermTypeString && i.Start.Term.Str.Queries == nil && i.Start.Term.SuffixList == nil:
		return step{name: i.Start.Term.Str.Str}, true
	}
	c.fault("%w", errKey)
	return step{}, false
}

// modify returns the result of |=.
func (c *checker) modify(q *gojq.Query, in value) value {
	targets := c.query(q.Left, in)
	paths, known := c.pathsOf(q.Left)
	if !known || len(paths) != 1 {
		c.query(q.Right, targets.with(one))
		return value{}
	}
	result := c.query(q.Right, targets.with(one))
	return value{shape: replaceAt(in.shape, paths[0], func(*jsonscan.Shape) *jsonscan.Shape { return result.shape })}
}

// deleted returns the result of del.
func (c *checker) deleted(arg *gojq.Query, in value) value {
	paths, known := c.paths(arg, in)
	v := in.with(one)
	if !known {
		return v // nothing in a shape is required
	}
	for _, path := range paths {
		if n := len(path) - 1; n >= 0 && !path[n].elements {
			v.shape = replaceAt(v.shape, path[:n], func(s *jsonscan.Shape) *jsonscan.Shape { return withoutProperty(s, path[n].name) })
		}
	}
	return v
}

func withoutProperty(s *jsonscan.Shape, name string) *jsonscan.Shape {
	if s == nil {
		return nil
	}
	i := propertyAt(s, name)
	if i < 0 {
		return s
	}
	out := &jsonscan.Shape{Kinds: s.Kinds, Integer: s.Integer, Items: s.Items}
	out.Properties = append(append(out.Properties, s.Properties[:i]...), s.Properties[i+1:]...)
	return out
}

// replaceAt returns a shape with another shape at a path.
func replaceAt(s *jsonscan.Shape, path []step, by func(*jsonscan.Shape) *jsonscan.Shape) *jsonscan.Shape {
	if len(path) == 0 {
		return by(s)
	}
	if s == nil {
		return nil
	}
	out := &jsonscan.Shape{Kinds: s.Kinds, Integer: s.Integer, Items: s.Items}
	out.Properties = append(out.Properties, s.Properties...)
	if path[0].elements {
		out.Items = replaceAt(s.Items, path[1:], by)
		if s.Kinds.Has(jsonscan.Object) {
			out.Properties = nil
		}
		return out
	}
	if i := propertyAt(out, path[0].name); i >= 0 {
		out.Properties[i].Shape = replaceAt(out.Properties[i].Shape, path[1:], by)
	} else {
		// The member is made where there is none: null becomes an object, too.
		return nil
	}
	if s.Kinds != 0 {
		out.Kinds |= ofObject
	}
	return out
}

// picked returns the result of pick.
func (c *checker) picked(arg *gojq.Query, in value) value {
	paths, known := c.paths(arg, in)
	if !known {
		return value{}
	}
	return value{shape: pickAll(in.shape, paths)}
}

// pickAll returns the parts of a shape at paths of names; nil if it can't be told.
func pickAll(s *jsonscan.Shape, paths [][]step) *jsonscan.Shape {
	out := &jsonscan.Shape{Kinds: ofObject}
	if s == nil {
		return nil
	}
	byName := map[string][][]step{}
	var names []string
	for _, path := range paths {
		if len(path) == 0 || path[0].elements {
			return nil
		}
		name := path[0].name
		if byName[name] == nil {
			names = append(names, name)
		}
		byName[name] = append(byName[name], path[1:])
	}
	for _, name := range names {
		var member *jsonscan.Shape
		if i := propertyAt(s, name); i >= 0 {
			member = s.Properties[i].Shape
		}
		whole := false
		for _, rest := range byName[name] {
			whole = whole || len(rest) == 0
		}
		if !whole {
			member = pickAll(member, byName[name])
		}
		out.Properties = append(out.Properties, jsonscan.Property{Name: name, Shape: member})
	}
	return out
}
