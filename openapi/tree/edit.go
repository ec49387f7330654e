package tree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Edit changes the root file of a document before its references are followed and its values are repaired. Its error
// ends the load.
type Edit func(e *Editor) error

// Editor changes the root file of a document to apply overlays. Values that come from another file keep their positions
// in it, while references in them are resolved as those of the document. Everything is charged to the limits of the
// document. An Editor must not be used after its [Edit] has returned.
type Editor struct {
	ctx   context.Context // of the one call to LoadEdited that uses the Editor
	file  *reader         // of the root file
	root  *Node
	steps int
}

// Parse parses another file, JSON or YAML, by the limits of the document. Its warnings become those of the document.
// data belongs to the tree afterwards and must not be changed.
func (e *Editor) Parse(location string, data []byte) (*Node, error) {
	r := &reader{file: location, budget: e.file.budget, warn: e.file.warn}
	return r.parse(data)
}

// Root returns the top-level object of the document.
func (e *Editor) Root() *Node { return e.root }

// Warn adds a warning at a position in any file.
func (e *Editor) Warn(at Position, code, format string, args ...any) {
	e.file.warn.addAt(at, code, format, args...)
}

// Step yields to calls and returns an error if the load has been cancelled. It is called for each value that is
// visited.
func (e *Editor) Step() error {
	if e.steps++; e.steps%1024 != 0 {
		return nil
	}
	e.file.budget.Pace.Step() // overlays have a budget of their own
	return e.ctx.Err()
}

// Set puts a copy of value into an object of the document under a name, replacing a member of that name or at the end.
func (e *Editor) Set(object *Node, key string, value *Node) error {
	c, err := e.clone(value, depthOf(object)+1)
	if err != nil {
		return err
	}
	c.up, c.key = object, key
	if err := e.note(c, value); err != nil {
		return err
	}
	object.put(key, c)
	return nil
}

// Append adds a copy of value to an array of the document.
func (e *Editor) Append(array, value *Node) error {
	c, err := e.clone(value, depthOf(array)+1)
	if err != nil {
		return err
	}
	c.up, c.key, c.index = array, "", uint32(len(array.body.kids))
	array.body.kids = append(array.body.kids, c)
	return nil
}

// Replace changes a scalar of the document into another scalar.
func (e *Editor) Replace(n, scalar *Node) error {
	c, err := e.clone(scalar, 0)
	if err == nil {
		n.become(c)
	}
	return err
}

// Remove removes values of the document from the objects and arrays that contain them. The root has no container and
// stays.
func (e *Editor) Remove(nodes []*Node) {
	gone := make(map[*Node][]*Node)
	var parents []*Node
	for _, n := range nodes {
		if n.up == nil {
			continue
		}
		if gone[n.up] == nil {
			parents = append(parents, n.up)
		}
		gone[n.up] = append(gone[n.up], n)
	}
	for _, parent := range parents {
		parent.drop(gone[parent])
	}
}

// Clone returns a copy of a value that is in no tree, for [Editor.Set] and the related methods.
func (e *Editor) Clone(value *Node) (*Node, error) {
	c, err := e.clone(value, 0)
	if err == nil {
		c.key = "" // a root's key is its file
	}
	return c, err
}

// note charges the name of a member that is a copy of value.
func (e *Editor) note(member, value *Node) error {
	err := e.file.noteKey(member)
	if limit := (*LimitError)(nil); errors.As(err, &limit) {
		limit.Position = value.Position()
	}
	return err
}

// clone copies a value, which gets the given depth. The copy is charged to the budget.
func (e *Editor) clone(value *Node, depth int) (*Node, error) {
	b := e.file.budget
	switch b.nodes++; {
	case b.nodes > b.Nodes:
		return nil, b.tooManyValues(value.Position())
	case depth > b.Depth:
		return nil, &LimitError{Position: value.Position(), Message: fmt.Sprintf("nested more than %d levels deep once it is in the document", b.Depth)}
	}
	if err := e.Step(); err != nil {
		return nil, err
	}
	c := &Node{key: value.key, text: value.text, kind: value.kind, index: value.index}
	e.place(c, value)
	if value.body == nil {
		return c, nil
	}
	c.text = ""
	kids := make([]*Node, 0, len(value.body.kids))
	for _, k := range value.body.kids {
		kid, err := e.clone(k, depth+1)
		if err != nil {
			return nil, err
		}
		kid.up = c
		if err := e.note(kid, k); err != nil {
			return nil, err
		}
		kids = append(kids, kid)
	}
	c.body = &body{kids: kids}
	if c.kind == Object {
		c.body.reindex()
	}
	return c, nil
}

// place gives c the position of a value of the document, which may be an overlaid one, or of another file.
func (e *Editor) place(c, value *Node) {
	c.col, c.line = value.col, value.line
	if value.flags&overlaid != 0 {
		c.flags = overlaid
		return
	}
	from := value.root()
	if from == e.root || !from.isRoot() || from.key == "" {
		return
	}
	c.flags = overlaid
	c.line = min(value.line, maxLine) | e.source(from.key)<<lineBits
}

// source returns the index of a file among the sources of overlaid values that the root lists.
func (e *Editor) source(location string) uint32 {
	all := e.root.overlays()
	i := slices.Index(all, location)
	if i < 0 {
		i = len(all)
		e.root.text = strings.Join(append(all, location), overlaySeparator)
	}
	return uint32(min(i, maxSources))
}

// depthOf returns the number of containers around n.
func depthOf(n *Node) (depth int) {
	for n = n.up; n != nil; n = n.up {
		depth++
	}
	return depth
}
