package tree

import "slices"

// arena allocates the nodes of one file in chunks: one allocation for hundreds of nodes instead of one each. Nodes are
// never freed one by one; a file's tree is freed as a whole.
type arena struct {
	nodes  []Node
	bodies []body
	lists  []*Node
	chunk  int
	stack  []*Node // children of the open containers
}

// newArena sizes the chunks for a file of that many bytes, so that each of the thousands of small files of a split
// document doesn't cost a large chunk.
func newArena(bytes int) *arena {
	return &arena{chunk: min(max(bytes/64, 16), 2048)}
}

func (a *arena) node() *Node {
	if len(a.nodes) == 0 {
		a.nodes = make([]Node, a.chunk)
	}
	n := &a.nodes[0]
	a.nodes = a.nodes[1:]
	return n
}

// list returns a copy of kids that can't grow into its neighbour.
func (a *arena) list(kids []*Node) []*Node {
	n := len(kids)
	if n == 0 {
		return nil
	}
	if n > a.chunk/4 {
		return appended(make([]*Node, 0, n), kids)
	}
	if len(a.lists) < n {
		a.lists = make([]*Node, a.chunk)
	}
	l := a.lists[:n:n]
	a.lists = a.lists[n:]
	copy(l, kids)
	return l
}

// maxCopied limits the pointers that are copied at a time. The runtime can't interrupt a copy, and garbage collections
// wait for it.
const maxCopied = 16 << 10

// appended appends kids to list, which has the capacity for them.
func appended(list, kids []*Node) []*Node {
	for part := range slices.Chunk(kids, maxCopied) {
		list = append(list, part...)
	}
	return list
}

// push puts a child of the innermost open container on the stack.
func (a *arena) push(n *Node) {
	if len(a.stack) == cap(a.stack) && len(a.stack) > maxCopied { // append would copy all of it at once
		a.stack = appended(make([]*Node, 0, 2*len(a.stack)), a.stack)
	}
	a.stack = append(a.stack, n)
}

// close gives container n the children pushed on the stack since mark. Duplicate members are reported to duplicate; the
// last one wins, at the position of the first.
func (a *arena) close(n *Node, mark int, duplicate func(first, last *Node)) {
	if len(a.bodies) == 0 {
		a.bodies = make([]body, max(a.chunk/4, 4))
	}
	b := &a.bodies[0]
	a.bodies = a.bodies[1:]
	kids := a.stack[mark:]
	if n.kind == Object {
		if len(kids) >= indexFrom {
			kids = b.uniqueIndexed(kids, duplicate)
		} else {
			kids = unique(kids, duplicate)
		}
	}
	b.kids = a.list(kids)
	a.stack = a.stack[:mark]
	n.body = b
}

// unique compacts a short list of members in place.
func unique(kids []*Node, duplicate func(first, last *Node)) []*Node {
	out := kids[:0]
next:
	for _, k := range kids {
		for i, o := range out {
			if o.key == k.key {
				duplicate(o, k)
				out[i] = k
				continue next
			}
		}
		out = append(out, k)
	}
	return out
}

// uniqueIndexed compacts a long list of members in place and indexes it.
func (b *body) uniqueIndexed(kids []*Node, duplicate func(first, last *Node)) []*Node {
	b.index = make(map[string]int32, len(kids))
	out := kids[:0]
	for _, k := range kids {
		if i, ok := b.index[k.key]; ok {
			duplicate(out[i], k)
			out[i] = k
			continue
		}
		b.index[k.key] = int32(len(out))
		out = append(out, k)
	}
	return out
}
