package tree

// Changes in place, for the Editor and the repair walk only: a loaded tree is read-only.

// newChild returns a node with the given parent, at origin's position.
func newChild(parent, origin *Node, key string, kind Kind, text string) *Node {
	n := &Node{up: parent, key: key, text: text, line: origin.line, col: origin.col, kind: kind, flags: origin.flags & overlaid}
	if kind == Array || kind == Object {
		n.body = new(body)
	}
	return n
}

// become turns n into src: it takes its value, children and position, at n's place in the parent.
func (n *Node) become(src *Node) {
	n.kind, n.text, n.body, n.roles = src.kind, src.text, src.body, src.roles
	n.line, n.col, n.flags = src.line, src.col, n.flags&^overlaid|src.flags&overlaid
	if n.body != nil {
		for _, k := range n.body.kids {
			if k.up == src {
				k.up = n
			}
		}
	}
}

// setScalar turns n into a scalar.
func (n *Node) setScalar(kind Kind, text string) { n.kind, n.text, n.body = kind, text, nil }

// setEmpty turns n into an empty object or array.
func (n *Node) setEmpty(kind Kind) { n.kind, n.text, n.body = kind, "", new(body) }

// wrapArray turns n into an array with n's value as its only element.
func (n *Node) wrapArray() {
	inner := newChild(n, n, "", n.kind, n.text)
	value := *n
	inner.become(&value)
	if inner.body != nil {
		for _, k := range inner.body.kids {
			if k.up == n {
				k.up = inner
			}
		}
	}
	n.kind, n.text, n.roles, n.body = Array, "", 0, &body{kids: []*Node{inner}}
}

// wrapObject turns n into an object with n's value as its only member.
func (n *Node) wrapObject(key string) {
	n.wrapArray()
	n.kind = Object
	n.body.kids[0].key = key
}

// drop removes these children.
func (n *Node) drop(kids []*Node) {
	if len(kids) == 0 {
		return
	}
	gone := make(map[*Node]bool, len(kids))
	for _, k := range kids {
		gone[k] = true
	}
	left := make([]*Node, 0, len(n.body.kids)-len(gone))
	for _, k := range n.body.kids {
		if !gone[k] {
			left = append(left, k)
		}
	}
	n.setKids(left)
}

// setKids replaces the children of a container.
func (n *Node) setKids(kids []*Node) {
	n.body = &body{kids: kids}
	if n.kind == Array {
		for i, k := range kids {
			k.index = uint32(i)
		}
	} else {
		n.body.reindex()
	}
}

// rename gives the member k of n another name.
func (n *Node) rename(k *Node, key string) {
	k.key = key
	n.body.reindex()
}
