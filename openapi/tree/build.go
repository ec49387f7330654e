package tree

import "slices"

// NewObject returns an empty object that reports origin's position and pointer.
// It is not safe for concurrent use until it is complete.
func NewObject(origin *Node) *Node { return newNode(origin, Object, "") }

// NewArray returns an empty array that reports origin's position and pointer.
func NewArray(origin *Node) *Node { return newNode(origin, Array, "") }

// NewString returns a string that reports origin's position and pointer.
func NewString(origin *Node, s string) *Node { return newNode(origin, String, s) }

// NewNumber returns a number; literal must be a JSON number (RFC 8259 section 6).
func NewNumber(origin *Node, literal string) *Node { return newNode(origin, Number, literal) }

// NewBool returns a boolean that reports origin's position and pointer.
func NewBool(origin *Node, b bool) *Node {
	if b {
		return newNode(origin, Bool, "true")
	}
	return newNode(origin, Bool, "false")
}

// Copy returns a shallow copy of n: its children are n's own, and setting members of the copy does not change n. Copy
// of nil is nil.
func Copy(n *Node) *Node {
	if n == nil {
		return nil
	}
	c := *n
	c.up = n
	c.flags = made | n.flags&overlaid
	if n.isRoot() {
		c.key, c.text = "", "" // a root's key is its file
	}
	if c.body != nil {
		c.flags |= shared
	}
	return &c
}

func newNode(origin *Node, kind Kind, text string) *Node {
	n := &Node{up: origin, text: text, kind: kind, flags: made}
	if origin != nil {
		n.line, n.col = origin.line, origin.col
		n.flags |= origin.flags & overlaid
	}
	if kind == Object || kind == Array {
		n.body = new(body)
	}
	return n
}

// Set sets the member of object n with that name, replacing one at its position or adding it at the end; a nil child
// removes the member. A child that already has a parent is not moved: a copy of it (its children shared) is used. n
// must have been built with NewObject or Copy; parsed nodes are read-only, and Set on one of them panics.
func (n *Node) Set(key string, child *Node) {
	n.mustWrite(Object)
	if child == nil {
		n.remove(key)
		return
	}
	n.put(key, n.adopt(child))
}

// Append adds child to the array n, which must have been built with NewArray or Copy; like Set it never moves a child
// that has a parent.
func (n *Node) Append(child *Node) {
	n.mustWrite(Array)
	n.own()
	c := n.adopt(child)
	c.key = ""
	n.body.kids = append(n.body.kids, c)
}

func (n *Node) mustWrite(kind Kind) {
	if n == nil || n.flags&made == 0 || n.kind != kind {
		panic("tree: write to a node that is not a built " + kind.String())
	}
}

// adopt returns child if it has no parent, or else a copy of it, marked as attached.
func (n *Node) adopt(child *Node) *Node {
	if child.flags&made == 0 || child.flags&attached != 0 {
		child = Copy(child)
	}
	child.flags |= attached
	return child
}

// own ensures that writing to n's body changes no other node.
func (n *Node) own() {
	if n.flags&shared == 0 {
		return
	}
	n.body = &body{kids: slices.Clone(n.body.kids)}
	n.body.reindex()
	n.flags &^= shared
}

// put stores child, which has no other holder, under key.
func (n *Node) put(key string, child *Node) {
	n.own()
	child.key = key
	b := n.body
	if i := b.find(key); i >= 0 {
		b.kids[i] = child
		return
	}
	b.kids = append(b.kids, child)
	switch {
	case b.index != nil:
		b.index[key] = int32(len(b.kids) - 1)
	case len(b.kids) >= indexFrom:
		b.reindex()
	}
}

// remove deletes the member with that name, if there is one.
func (n *Node) remove(key string) {
	i := n.body.find(key)
	if i < 0 {
		return
	}
	n.own()
	n.body.kids = slices.Delete(n.body.kids, i, i+1)
	n.body.reindex()
}

// reindex rebuilds the index of an object's members after its list has changed.
func (b *body) reindex() {
	if len(b.kids) < indexFrom {
		b.index = nil
		return
	}
	b.index = make(map[string]int32, len(b.kids))
	for i, k := range b.kids {
		b.index[k.key] = int32(i)
	}
}
