package openapi

import (
	"slices"
	"strings"

	"drawbridge/openapi/schema"
	"drawbridge/openapi/tree"
)

// Limits of attribute: the problems that one operation keeps, and the objects and arrays that are visited for one
// document. A hostile document could multiply both.
const (
	maxTouching = 100
	maxLookedAt = 8_000_000
)

// Changed reports whether the tool of an operation says less, or something else, than the document: some part of it was
// repaired, left out or reduced, or an argument could not keep its name.
func (a *API) Changed(o *Operation) bool {
	return len(o.Renamed()) > 0 || slices.ContainsFunc(o.Problems, func(i int) bool { return a.Problems[i].ChangesTool() })
}

// ChangesTool reports whether the problem changes the tools that it concerns. Problems of servers and credentials
// concern only calls, and can be resolved by the configuration; a regular expression that can't be checked here is
// still published.
func (p Problem) ChangesTool() bool {
	switch p.Code {
	case codeServer, codeServerPath, codeSecurityDangling, codeSecurityUndefined, schema.CodeSchemaRE2:
		return false
	}
	return true
}

// unusableServer begins the message of a problem with a server; Operation.BaseProblem is the rest of it.
const unusableServer = "calls can't be made: "

// touch is an operation with its position and the problems that were found while it was compiled.
type touch struct {
	found     found
	operation *Operation
	met       *problems
}

// attribute fills in Operation.Problems. The problems that are found while an operation is compiled are not enough: a
// schema is converted once for all operations that use it, and repairs are made before there are operations. So it
// follows the references from each operation to the positions of the problems.
func attribute(set *tree.Set, all []Problem, touched []touch, pace *Pace) {
	if len(all) == 0 {
		return
	}
	r := reach{set: set, pace: pace, whole: make(map[[2]*tree.Node]int), at: make(map[*tree.Node][]int), index: make(map[*tree.Node]int), servers: make(map[string][]int)}
	indexes := make(map[Problem]int, len(all))
	for i, p := range all {
		indexes[p] = i
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
			if k, ok := indexes[p]; ok {
				problems = append(problems, k)
			}
		}
		slices.Sort(problems)
		problems = slices.Compact(problems)
		t.operation.Problems = slices.Clone(problems[:min(len(problems), maxTouching)])
	}
}

// reach is the graph of the parts of a document: a part is an operation, or the target of a reference.
type reach struct {
	set     *tree.Set
	pace    *Pace
	at      map[*tree.Node][]int // problems by the object or array that contains them
	servers map[string][]int     // problems of servers by Operation.BaseProblem
	parts   []*part
	index   map[*tree.Node]int    // of the parts that are targets of references
	whole   map[[2]*tree.Node]int // of the parts that are operations, by path item and operation: many paths may share one
	looked  int                   // visited objects and arrays
	turn    int                   // of from
}

type part struct {
	node     *tree.Node // nil for an operation, which is already expanded
	problems []int
	leads    []int // parts that it refers to
	from     []int // parts that refer to it
	matters  bool  // it, or a part that it leads to, contains a problem
	visited  int   // the last turn
}

// operation adds the part of an operation and returns its index.
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

// answers visits the responses that determine the tool, see successes.
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

// walk records the problems and references of n and of everything below it.
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
	names := false // the members have names that the author chose
	switch n.Key() {
	case "properties", "patternProperties", "$defs", "definitions":
		names = true
	}
	for name, member := range n.Members() {
		if !names && (name == "example" || name == "examples" || name == "default" || name == "enum" || strings.HasPrefix(name, "x-")) {
			continue // values, which contain no references
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

// expand visits all parts that can be reached, and marks those that lead to a problem.
func (r *reach) expand() {
	for i := 0; i < len(r.parts); i++ { // the list grows
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

// from returns the problems that a part leads to, up to about the number that an operation keeps.
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
