package openapi

import (
	"slices"
	"strings"

	"drawbridge/openapi/schema"
	"drawbridge/openapi/tree"
)

// Bounds of attribute: what one operation keeps, and the objects and arrays that are looked at for one document. A hostile
// document could make them many times as many as it has.
const (
	maxTouching = 100
	maxLookedAt = 8_000_000
)

// Changed tells whether the tool of an operation says less, or something else, than the document: something that it is
// made of was repaired, left out or reduced, or an argument could not keep its name.
func (a *API) Changed(o *Operation) bool {
	return len(o.Renamed()) > 0 || slices.ContainsFunc(o.Problems, func(i int) bool { return a.Problems[i].ChangesTool() })
}

// ChangesTool tells whether the problem leaves its mark on the tools that it touches. Those of servers and credentials
// concern calls alone, and can be met by the configuration; a regular expression that can't be checked here is published
// all the same.
func (p Problem) ChangesTool() bool {
	switch p.Code {
	case codeServer, codeServerPath, codeSecurityDangling, codeSecurityUndefined, schema.CodeSchemaRE2:
		return false
	}
	return true
}

// unusableServer begins the message of a problem with a server; Operation.BaseProblem is the rest of it.
const unusableServer = "calls can't be made: "

// touch is an operation with the place where it stands and the problems that were met while it was compiled.
type touch struct {
	found     found
	operation *Operation
	met       *problems
}

// attribute fills in Operation.Problems. Problems met while an operation is compiled are not enough: a schema is converted
// once for all operations that use it, and repairs are made before there are operations. So it follows the references
// from each operation to where the problems stand.
func attribute(set *tree.Set, all []Problem, touched []touch, pace *Pace) {
	if len(all) == 0 {
		return
	}
	r := reach{set: set, pace: pace, whole: make(map[[2]*tree.Node]int), at: make(map[*tree.Node][]int), index: make(map[*tree.Node]int), servers: make(map[string][]int)}
	place := make(map[Problem]int, len(all))
	for i, p := range all {
		place[p] = i
		if problem, ok := strings.CutPrefix(p.Message, unusableServer); ok && p.Code == codeServer {
			r.servers[problem] = append(r.servers[problem], i)
		}
		if n := set.Locate(p.Position.File, p.Pointer); n != nil && p.Pointer != "" {
			r.at[n] = append(r.at[n], i)
		}
	}
	var starts []int
	if len(r.at) > 0 {
		for _, t := range touched {
			starts = append(starts, r.operation(t.found))
		}
		r.expand()
	}
	for i, t := range touched {
		var problems []int
		if starts != nil {
			problems = r.from(starts[i])
		}
		if t.operation.BaseProblem != "" {
			problems = append(problems, r.servers[t.operation.BaseProblem]...)
		}
		for p := range t.met.seen {
			if k, ok := place[p]; ok {
				problems = append(problems, k)
			}
		}
		slices.Sort(problems)
		problems = slices.Compact(problems)
		t.operation.Problems = slices.Clone(problems[:min(len(problems), maxTouching)])
	}
}

// reach is the graph of the parts of a document: a part is an operation, or what a reference leads to.
type reach struct {
	set     *tree.Set
	pace    *Pace
	at      map[*tree.Node][]int // problems by the object or array that they stand in
	servers map[string][]int     // problems of servers by Operation.BaseProblem
	parts   []*part
	index   map[*tree.Node]int    // of the parts that references lead to
	whole   map[[2]*tree.Node]int // of the parts that are operations, by path item and operation: many paths may lead to one
	looked  int                   // objects and arrays
	turn    int                   // of from
}

type part struct {
	node     *tree.Node // nil: an operation, which is expanded already
	problems []int
	leads    []int // parts that are referred to
	from     []int // parts that refer to this one
	matters  bool  // a problem stands in it, or in what it leads to
	visited  int   // the last turn
}

// operation adds the part of an operation and returns its place.
func (r *reach) operation(f found) int {
	key := [2]*tree.Node{f.item, f.node}
	if i, ok := r.whole[key]; ok {
		return i
	}
	p := &part{}
	r.parts = append(r.parts, p)
	i := len(r.parts) - 1
	r.whole[key] = i
	r.note(p, f.item)
	r.walk(p, f.item.Get("parameters"))
	r.walk(p, f.item.Get("servers"))
	if f.node == f.item {
		return i
	}
	r.note(p, f.node)
	for name, member := range f.node.Members() {
		switch name {
		case "responses":
			r.note(p, member)
			r.answers(p, member)
		case "callbacks":
		default:
			if !strings.HasPrefix(name, "x-") {
				r.walk(p, member)
			}
		}
	}
	return i
}

// answers looks at those of which something is made, see successes.
func (r *reach) answers(p *part, responses *tree.Node) {
	good := false
	for status, member := range responses.Members() {
		if len(status) == 3 && status[0] == '2' {
			good = true
			r.walk(p, member)
		}
	}
	if !good {
		r.walk(p, responses.Get("default"))
	}
}

func (r *reach) note(p *part, n *tree.Node) { p.problems = append(p.problems, r.at[n]...) }

// walk notes the problems and references of n and of all below it.
func (r *reach) walk(p *part, n *tree.Node) {
	if n.Kind() != tree.Object && n.Kind() != tree.Array {
		return
	}
	if r.looked++; r.looked > maxLookedAt {
		return
	}
	if r.looked%64 == 0 {
		r.pace.Work(64)
	}
	r.note(p, n)
	if n.Kind() == tree.Array {
		for _, element := range n.Items() {
			r.walk(p, element)
		}
		return
	}
	if n.Get("$ref").Kind() == tree.String || n.Get("$dynamicRef").Kind() == tree.String {
		if target, err := r.set.Resolve(n); err == nil {
			p.leads = append(p.leads, r.part(target))
		}
	}
	names := false // the members have names of the author's choice
	switch n.Key() {
	case "properties", "patternProperties", "$defs", "definitions":
		names = true
	}
	for name, member := range n.Members() {
		if !names && (name == "example" || name == "examples" || name == "default" || name == "enum" || strings.HasPrefix(name, "x-")) {
			continue // values, in which nothing that looks like a reference is one
		}
		r.walk(p, member)
	}
}

func (r *reach) part(n *tree.Node) int {
	i, ok := r.index[n]
	if !ok {
		i = len(r.parts)
		r.index[n] = i
		r.parts = append(r.parts, &part{node: n})
	}
	return i
}

// expand looks into all parts that can be reached, and marks those that lead to a problem.
func (r *reach) expand() {
	for i := 0; i < len(r.parts); i++ { // grows
		if p := r.parts[i]; p.node != nil {
			r.walk(p, p.node)
		}
	}
	var marked []*part
	mark := func(p *part) {
		if !p.matters {
			p.matters = true
			marked = append(marked, p)
		}
	}
	for i, p := range r.parts {
		slices.Sort(p.leads)
		p.leads = slices.Compact(p.leads)
		for _, to := range p.leads {
			r.parts[to].from = append(r.parts[to].from, i)
		}
		if len(p.problems) > 0 {
			mark(p)
		}
	}
	for len(marked) > 0 {
		p := marked[len(marked)-1]
		marked = marked[:len(marked)-1]
		for _, from := range p.from {
			mark(r.parts[from])
		}
	}
}

// from returns the problems that a part leads to, about as many as an operation keeps.
func (r *reach) from(start int) (found []int) {
	r.turn++
	next := []int{start}
	for len(next) > 0 && len(found) < 10*maxTouching {
		p := r.parts[next[0]]
		next = next[1:]
		if p.visited == r.turn || !p.matters {
			continue
		}
		p.visited = r.turn
		found = append(found, p.problems...)
		next = append(next, p.leads...)
	}
	return found
}
