package tree

import (
	"fmt"
	"slices"
	"strings"
)

// walker visits a document from its root, following references over all files, and repairs each value by the role in
// which it is reached. It changes nodes in place, before they are visible to others.
type walker struct {
	*loader
	grammar *[roleCount]object
	swagger bool // version 2.0
	queue   []task
	others  map[task]bool             // tasks of roles that nodes don't record
	lifted  map[*Node]map[string]bool // names in "required" that were added to schemas
	takers  map[*Node][]*Node         // containers that took over the children of the key

	names     map[role][]string   // of the members of a role
	spellings map[spelling]string // the intended member for each unknown name; "" if there is none

	composed  []*Node // schemas with parts
	requiring []*Node // schemas that require properties that they don't declare
	closed    bool    // one of the schemas is closed
	values    int     // number of visited values
}

// task is the pending visit of a reference's target. A queue instead of recursion keeps the stack as shallow as the
// deepest file.
type task struct {
	node *Node
	role role
}

func newWalker(l *loader) *walker {
	return &walker{loader: l, grammar: newGrammar(), others: map[task]bool{}, lifted: map[*Node]map[string]bool{}, takers: map[*Node][]*Node{}, names: map[role][]string{}, spellings: map[spelling]string{}}
}

// walk repairs everything that is reachable from root.
func (w *walker) walk(root *Node) error {
	w.swagger = root.Get("swagger") != nil && root.Get("openapi") == nil
	if err := w.object(root, roleDocument); err != nil {
		return err
	}
	for len(w.queue) > 0 {
		t := w.queue[len(w.queue)-1]
		w.queue = w.queue[:len(w.queue)-1]
		if _, err := w.value(t.node, field{shape: shapeOne, role: t.role}); err != nil {
			return err
		}
	}
	if w.fatal != nil {
		return w.fatal
	}
	w.repairClosed()
	w.repairNames()
	if len(w.takers) == 0 {
		return nil
	}
	return w.measure()
}

// value repairs n at a position that requires f. keep is false if it can't be repaired, so that its holder should leave
// it out; a warning has been added.
func (w *walker) value(n *Node, f field) (keep bool, err error) {
	if w.values++; w.values%64 == 0 {
		w.budget.Pace.Work(64)
	}
	if n.kind == Null && f.shape != shapeAny {
		return w.null(n, f), nil
	}
	switch f.shape {
	case shapeText:
		return w.text(n)
	case shapeFlag, shapeNumber, shapeBound:
		return w.scalar(n, f.shape), nil
	case shapeTexts:
		return w.texts(n)
	case shapeOne:
		return w.one(n, f.role)
	case shapeList:
		return w.list(n, f.role)
	case shapeDict:
		return w.dict(n, f)
	default:
		return true, nil
	}
}

// object visits an object in its role, once.
func (w *walker) object(n *Node, r role) error {
	if r < recordedRoles {
		if n.roles.has(r) {
			return nil
		}
		n.roles |= 1 << r
	}
	w.repairSpelling(n, r)
	if err := w.repair(n, r); err != nil {
		return err
	}
	rules := &w.grammar[r]
	var drop []*Node
	// By index: lifting "required" out of a property may add a member meanwhile.
	for i := 0; i < len(n.body.kids); i++ {
		k := n.body.kids[i]
		f, ok := rules.fields[k.key]
		if !ok {
			if rules.other.shape == shapeAny || strings.HasPrefix(k.key, "x-") || k.key == "$ref" {
				continue
			}
			f = rules.other
		}
		keep, err := w.value(k, f)
		if err != nil {
			return err
		}
		switch {
		case keep:
		case r == roleRequirement:
			k.setEmpty(Array)
		default:
			drop = append(drop, k)
		}
	}
	n.drop(drop)
	if ref := n.Get("$ref"); ref != nil {
		if ref.kind == String {
			if schema := w.repairSchemaRef(n, ref, r); schema != nil {
				return w.object(schema, roleSchema)
			}
			return w.follow(ref, r)
		}
		w.warn.add(ref, CodeWrongType, "\"$ref\" must be text, found %s %s; left out", article(ref.kind), ref.kind)
		n.remove("$ref")
	}
	if r == roleSchema {
		if ref := n.Get("$dynamicRef"); ref.Kind() == String {
			return w.follow(ref, r)
		}
	}
	return nil
}

// repair makes the repairs that concern an object of a role as a whole.
func (w *walker) repair(n *Node, r role) error {
	switch r {
	case roleSchema:
		w.repairSchema(n)
	case roleParameter, roleHeader:
		w.repairParameter(n)
	case roleMedia:
		w.repairMedia(n)
	case roleResponse:
		w.repairResponse(n)
	case rolePathItem:
		w.repairMethods(n)
	case roleOperation:
		if w.budget.operations++; w.budget.operations > w.budget.Operations {
			return tooMany(n.Position(), w.budget.Operations, "operations")
		}
		w.repairBodies(n)
	}
	return nil
}

// follow resolves the reference ref and queues its target.
func (w *walker) follow(ref *Node, r role) error {
	n, err := w.resolveRef(ref)
	if n == nil {
		return err
	}
	if w.isForeign(ref, n, r) {
		return w.chain(ref, n)
	}
	t := task{n, r}
	if r >= recordedRoles {
		if w.others[t] {
			return nil
		}
		w.others[t] = true
	} else if n.roles.has(r) {
		return w.chain(ref, n)
	}
	w.queue = append(w.queue, t)
	return w.chain(ref, n)
}

// resolveRef resolves ref; if it has no target, it adds a warning and returns nil.
func (w *walker) resolveRef(ref *Node) (*Node, error) {
	t := w.set.resolve(w.loader, ref)
	if w.fatal != nil {
		return nil, w.fatal
	}
	if t.node == nil {
		w.warn.add(ref, CodeDanglingRef, "%s %s: %s", ref.key, quote(clip(ref.text)), t.problem)
	}
	return t.node, nil
}

// chain verifies that following references from ref, whose target is n, comes to an end.
func (w *walker) chain(ref, n *Node) error {
	var seen []*Node
	for {
		next := n.Get("$ref")
		if next.Kind() != String {
			return nil
		}
		if next == ref || slices.Contains(seen, n) {
			w.warn.add(ref, CodeRefLoop, "$ref %s: leads back to itself", quote(clip(ref.text)))
			return nil
		}
		if len(seen) >= w.budget.RefChain {
			return &LimitError{Position: ref.Position(), Message: fmt.Sprintf(
				"$ref %s leads from reference to reference for more than %d steps; point it at what is meant",
				quote(clip(ref.text)), w.budget.RefChain)}
		}
		seen = append(seen, n)
		t := w.set.resolve(w.loader, next)
		if w.fatal != nil {
			return w.fatal
		}
		if n = t.node; n == nil {
			return nil
		}
	}
}

// final returns the final target of a chain of references; nil (with a warning) if there is none.
func (w *walker) final(ref *Node) (*Node, error) {
	n, err := w.resolveRef(ref)
	for steps := 0; n != nil; steps++ {
		next := n.Get("$ref")
		if next.Kind() != String {
			return n, nil
		}
		if steps > w.budget.RefChain {
			w.warn.add(ref, CodeRefLoop, "$ref %s: leads to no value", quote(clip(ref.text)))
			return nil, nil
		}
		n, err = w.resolveRef(next)
	}
	return nil, err
}
