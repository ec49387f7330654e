package tree

import (
	"fmt"
	"path"
	"strings"
)

// one turns n into an object of role r and visits it.
func (w *walker) one(n *Node, r role) (keep bool, err error) {
	switch n.kind {
	case Object:
		return true, w.object(n, r)
	case Bool:
		if r == roleSchema {
			return true, nil
		}
	case String:
		if w.oneFromText(n, r) {
			if n.kind == Object {
				return true, w.object(n, r)
			}
			return true, nil
		}
		if w.fatal != nil {
			return false, w.fatal
		}
	case Array:
		switch len(n.body.kids) {
		case 0:
			w.warn.add(n, CodeEmptyArray, "%s must be an object, found []; read as {}", w.name(n))
			n.setEmpty(Object)
			return true, w.object(n, r)
		case 1:
			w.warn.add(n, CodeObjectList, "%s must be %s, found a list of one; its element is used", w.name(n), r.describe())
			n.become(n.body.kids[0])
			return w.value(n, field{shape: shapeOne, role: r})
		}
		if r == roleSchema {
			w.warn.add(n, CodeObjectList, "%s must be a schema, found a list of %d; read as anyOf", w.name(n), len(n.body.kids))
			n.wrapObject("anyOf")
			return true, w.object(n, r)
		}
	}
	if r == roleOperation {
		return true, nil // it is missing, and the list of operations reports it
	}
	w.wrongType(n, r.describe())
	return false, nil
}

// oneFromText converts text that replaces an object of role r.
func (w *walker) oneFromText(n *Node, r role) bool {
	if looksLikePath(n.text) {
		// Only if the target exists: prose has slashes too.
		if t := w.set.resolve(w.loader, n); t.node != nil && w.fatal == nil {
			w.warn.add(n, CodeBarePath, "%s must be %s, found the path %s; read as a $ref to it", w.name(n), r.describe(), quote(clip(n.text)))
			n.wrapObject("$ref")
			return true
		}
		if w.fatal != nil {
			return false
		}
	}
	switch r {
	case roleSchema:
		if w.flagText(n) {
			return true
		}
		if name := strings.ToLower(n.text); isTypeName(name) {
			w.warn.add(n, CodeSchemaText, "%s must be a schema, found the type name %s; read as that type", w.name(n), quote(n.text))
			n.text = name
			n.wrapObject("type")
			return true
		}
	case roleResponse:
		w.warn.add(n, CodeResponseText, "%s must be a response, found text; read as its description", w.name(n))
		n.wrapObject("description")
		return true
	case roleServer:
		w.warn.add(n, CodeNameText, "%s must be a server, found the text %s; read as its URL", w.name(n), quote(clip(n.text)))
		n.wrapObject("url")
		return true
	case roleTag, roleNamed:
		w.warn.add(n, CodeNameText, "%s must be an object, found the text %s; read as its name", w.name(n), quote(clip(n.text)))
		n.wrapObject("name")
		return true
	case roleRequirement:
		w.warn.add(n, CodeNameText, "%s must be a security requirement, found the text %s; read as its scheme", w.name(n), quote(clip(n.text)))
		name := n.text
		n.setEmpty(Object)
		n.put(name, newChild(n, n, name, Array, ""))
		return true
	}
	return false
}

// looksLikePath reports whether text that replaces an object may be a reference.
func looksLikePath(s string) bool {
	if s == "" || strings.ContainsAny(s, " \n\t") {
		return false
	}
	if s[0] == '#' || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") {
		return true
	}
	file, _, _ := strings.Cut(s, "#")
	switch path.Ext(file) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return false
}

// list turns n into a list of objects of role r and visits them.
func (w *walker) list(n *Node, r role) (keep bool, err error) {
	switch n.kind {
	case Array:
	case Object:
		switch {
		case n.Len() == 0:
			w.warn.add(n, CodeEmptyArray, "%s must be a list, found {}; read as []", w.name(n))
			n.setEmpty(Array)
			return true, nil
		case n.Len() == 1 && n.Get("$ref").Kind() == String && r != roleSchema:
			return w.contentRef(n, n.Get("$ref"), field{shape: shapeList, role: r})
		case r == roleParameter && allObjects(n) && n.Get("schema") == nil:
			w.warn.add(n, CodeListSingle, "%s must be a list, found a map; its values are used", w.name(n))
			n.kind = Array
			n.setKids(n.body.kids)
		default:
			w.warn.add(n, CodeListSingle, "%s must be a list, found an object; read as a list of one", w.name(n))
			n.wrapArray()
		}
	case String:
		if r == roleServer || r == roleTag || looksLikePath(n.text) {
			w.warn.add(n, CodeListSingle, "%s must be a list, found text; read as a list of one", w.name(n))
			n.wrapArray()
			break
		}
		fallthrough
	default:
		w.wrongType(n, "a list")
		return false, nil
	}
	w.flatten(n)
	var drop []*Node
	for _, k := range n.body.kids {
		keep, err := w.value(k, field{shape: shapeOne, role: r})
		if err != nil {
			return false, err
		}
		if !keep {
			drop = append(drop, k)
		}
	}
	n.drop(drop)
	return true, nil
}

func allObjects(n *Node) bool {
	for _, k := range n.body.kids {
		if k.kind != Object {
			return false
		}
	}
	return true
}

// dict turns n into a map of objects and visits them.
func (w *walker) dict(n *Node, f field) (keep bool, err error) {
	switch n.kind {
	case Object:
		if ref := n.Get("$ref"); ref.Kind() == String {
			return w.contentRef(n, ref, f)
		}
	case Array:
		if n.Len() == 0 {
			w.warn.add(n, CodeEmptyArray, "%s must be a map, found []; read as {}", w.name(n))
			n.setEmpty(Object)
			return true, nil
		}
		w.wrongType(n, "a map")
		return false, nil
	case String:
		if looksLikePath(n.text) {
			n.wrapObject("$ref")
			return w.contentRef(n, n.Get("$ref"), f)
		}
		w.wrongType(n, "a map")
		return false, nil
	default:
		w.wrongType(n, "a map")
		return false, nil
	}
	if n.key == "properties" && f.role == roleSchema {
		w.repairMisplaced(n)
	}
	if n.key == "content" && f.role == roleMedia {
		w.repairMediaNames(n)
	}
	entry := field{shape: shapeOne, role: f.role, empty: f.role != roleOperation}
	var drop []*Node
	for _, k := range n.body.kids {
		if f.open && strings.HasPrefix(k.key, "x-") {
			continue
		}
		keep, err := w.value(k, entry)
		if err != nil {
			return false, err
		}
		if !keep {
			drop = append(drop, k)
		}
	}
	n.drop(drop)
	return true, nil
}

// contentRef replaces a reference, where none is allowed, by its target: a map or list in a file of its own. Members
// beside the $ref win.
func (w *walker) contentRef(n, ref *Node, f field) (keep bool, err error) {
	target, err := w.final(ref)
	if target == nil {
		return false, err // the warning has been added
	}
	want := Array
	if f.shape == shapeDict {
		want = Object
	}
	if f.shape == shapeList && target.Kind() == Object {
		w.warn.add(n, CodeListSingle, "%s must be a list, found an object; read as a list of one", w.name(n))
		n.wrapArray()
		return w.list(n, f.role)
	}
	if target.Kind() != want {
		w.warn.add(n, CodeWrongType, "%s must be %s %s, found $ref %s, which leads to %s %s; left out",
			w.name(n), article(want), want, quote(clip(ref.text)), article(target.kind), target.kind)
		return false, nil
	}
	if inside, err := w.within(n, target); err != nil {
		return false, err
	} else if inside {
		w.warn.add(n, CodeRefLoop, "%s can't be a reference, and $ref %s leads to what it stands in; left out", w.name(n), quote(clip(ref.text)))
		return false, nil
	}
	w.takers[target] = append(w.takers[target], n)
	w.warn.add(n, CodeContentRef, "%s can't be a reference; what $ref %s leads to is used", w.name(n), quote(clip(ref.text)))
	// The children are shared, not copied, but a hostile document can multiply them by the number of its references.
	if w.budget.aliases += len(target.body.kids); w.budget.aliases > w.budget.Aliases {
		return false, tooMany(n.Position(), w.budget.Aliases, "values taken over by references")
	}
	if want == Array {
		n.kind = Array
		n.body = &body{kids: append([]*Node(nil), target.body.kids...)}
		return w.value(n, f)
	}
	kids := make([]*Node, 0, len(n.body.kids)+len(target.body.kids))
	own := n.body
	for _, k := range own.kids {
		if k != ref {
			kids = append(kids, k)
		}
	}
	for _, k := range target.body.kids {
		if own.find(k.key) < 0 {
			kids = append(kids, k)
		}
	}
	n.setKids(kids)
	return w.value(n, f)
}

// within reports whether n is inside container, in its own file or through children that were taken over: taking over
// container's children in n would make the tree a graph with a loop.
func (w *walker) within(n, container *Node) (bool, error) {
	seen := map[*Node]bool{}
	pending := []*Node{n}
	for len(pending) > 0 {
		a := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for ; a != nil && !seen[a]; a = a.up {
			if a == container {
				return true, nil
			}
			seen[a] = true
			if w.budget.aliases++; w.budget.aliases > w.budget.Aliases {
				return false, tooMany(n.Position(), w.budget.Aliases, "values taken over by references")
			}
			pending = append(pending, w.takers[a]...)
		}
	}
	return false, nil
}

// measure ensures that the children that were taken over didn't make the tree large or deep for later walks: shared
// once, they are visited once per path to them, which can be exponential.
func (w *walker) measure() error {
	nodes, bytes := 0, int64(0)
	var visit func(n *Node, depth int) error
	visit = func(n *Node, depth int) error {
		nodes++
		bytes += int64(len(n.key) + len(n.text))
		switch {
		case depth > w.budget.Depth:
			return &LimitError{Position: n.Position(), Message: fmt.Sprintf(
				"nested more than %d levels deep by maps that refer to maps; %s", w.budget.Depth, splitAdvice)}
		case nodes > w.budget.Nodes || bytes > w.budget.Bytes:
			return &LimitError{Position: n.Position(), Message: fmt.Sprintf(
				"maps that refer to maps make more than %d values or %d bytes; %s", w.budget.Nodes, w.budget.Bytes, splitAdvice)}
		}
		if n.body != nil {
			for _, k := range n.body.kids {
				if err := visit(k, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, f := range w.set.order {
		if err := visit(f.root, 0); err != nil {
			return err
		}
	}
	return nil
}
