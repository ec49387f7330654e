package tree

import (
	"iter"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// Kind is the JSON type of a Node.
type Kind = jsonscan.Kind

// The kinds. Invalid is the kind of a nil *Node, which means "absent".
const (
	Invalid Kind = 0
	Null         = jsonscan.Null
	Bool         = jsonscan.Bool
	Number       = jsonscan.Number
	String       = jsonscan.String
	Array        = jsonscan.Array
	Object       = jsonscan.Object
)

// Position is a position in a source file. Line and Column count from 1; Column counts characters. The zero Position is
// unknown.
type Position struct {
	File         string
	Line, Column int
}

// String returns "file:line:col", the form that editors jump to.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
}

// Node is one value of a document. A nil *Node means "absent": every reading method may be called on it.
//
// A document of GitHub's size has a quarter of a million nodes, a hostile one five million, so the struct is kept at 64
// bytes: containers are behind one pointer, and key and text are slices of the source wherever it has no escape.
type Node struct {
	up    *Node  // parsed node: its parent; made node: its origin
	key   string // member name; in the root of a file: the file's location
	text  string // String: the value; Number: the literal; Bool: "true" or "false"; in the root of a file: see overlays
	body  *body  // Array and Object only
	line  uint32
	col   uint32
	index uint32  // index in the parent, if that is an array
	roles roleSet // the roles in which the repair walk has visited the node
	kind  Kind
	flags uint8
}

const (
	made     uint8 = 1 << iota // built with New… or Copy: up is the origin
	attached                   // a made node that has a parent
	shared                     // body also belongs to another node: clone before writing
	overlaid                   // comes from another file: line also holds the index of the file
)

// body holds the children of a container. Objects with many members have an index, so that lookups never make loading
// quadratic.
type body struct {
	kids  []*Node
	index map[string]int32
}

// indexFrom is the number of members from which an object gets an index; below
// it a linear scan is faster than a map.
const indexFrom = 12

// Kind returns the JSON type of n; Invalid for nil.
func (n *Node) Kind() Kind {
	if n == nil {
		return Invalid
	}
	return n.kind
}

// Get returns the member of an object with the given name; nil if n is not an object or has no such member.
func (n *Node) Get(key string) *Node {
	if n == nil || n.kind != Object {
		return nil
	}
	if i := n.body.find(key); i >= 0 {
		return n.body.kids[i]
	}
	return nil
}

func (b *body) find(key string) int {
	if b.index != nil {
		if i, ok := b.index[key]; ok {
			return int(i)
		}
		return -1
	}
	for i, k := range b.kids {
		if k.key == key {
			return i
		}
	}
	return -1
}

// At returns element i of an array or the i-th member's value of an object; nil if out of range.
func (n *Node) At(i int) *Node {
	if n == nil || n.body == nil || i < 0 || i >= len(n.body.kids) {
		return nil
	}
	return n.body.kids[i]
}

// Len returns the number of elements or members; 0 for other kinds.
func (n *Node) Len() int {
	if n == nil || n.body == nil {
		return 0
	}
	return len(n.body.kids)
}

// Members iterates over the members of an object in the author's order; it yields nothing for other kinds.
func (n *Node) Members() iter.Seq2[string, *Node] {
	return func(yield func(string, *Node) bool) {
		if n == nil || n.kind != Object {
			return
		}
		for _, k := range n.body.kids {
			if !yield(k.key, k) {
				return
			}
		}
	}
}

// Items iterates over the elements of an array; it yields nothing for other kinds.
func (n *Node) Items() iter.Seq2[int, *Node] {
	return func(yield func(int, *Node) bool) {
		if n == nil || n.kind != Array {
			return
		}
		for i, k := range n.body.kids {
			if !yield(i, k) {
				return
			}
		}
	}
}

// Key returns the member name of n in its object; "" for the root of a file and for elements of arrays.
func (n *Node) Key() string {
	if n == nil || n.isRoot() {
		return ""
	}
	return n.key
}

// isRoot reports whether n is the root of a file, whose key is the file's
// location.
func (n *Node) isRoot() bool { return n.up == nil && n.flags&made == 0 }

// Text returns the value of a String, the exact literal of a Number, "true" or
// "false" for a Bool, and "" for everything else.
func (n *Node) Text() string {
	if n == nil || n.body != nil {
		return ""
	}
	return n.text
}

// Bool reports whether n is the boolean true.
func (n *Node) Bool() bool {
	return n != nil && n.kind == Bool && n.text == "true"
}

// Parent returns the container that n was read in; for a built node, the parent
// of its origin. It is nil for the root of a file.
func (n *Node) Parent() *Node {
	n = n.source()
	if n == nil {
		return nil
	}
	return n.up
}

// source returns the parsed node that n is or was built from.
func (n *Node) source() *Node {
	for n != nil && n.flags&made != 0 {
		n = n.up
	}
	return n
}

// root returns the root of the file that n (or its origin) was read from.
func (n *Node) root() *Node {
	if n == nil {
		return nil
	}
	for n.up != nil {
		n = n.up
	}
	return n
}

// location returns the location of the file that contains n.
func (n *Node) location() string {
	if r := n.root(); r != nil && r.isRoot() {
		return r.key
	}
	return ""
}

// Position returns the position of n: of a member of an object that of its name, of anything else that of its first
// character; of a built node that of its origin; of an overlaid one that in the file that it came from.
func (n *Node) Position() Position {
	if n == nil {
		return Position{}
	}
	if n.flags&overlaid != 0 {
		return n.overlayPosition()
	}
	return Position{File: n.location(), Line: int(n.line), Column: int(n.col)}
}

// Pointer returns the JSON pointer (RFC 6901) of n within its file; "" for the root; for a built node, the pointer of
// its origin.
func (n *Node) Pointer() string {
	n = n.source()
	if n == nil || n.up == nil {
		return ""
	}
	var steps []*Node
	for ; n.up != nil; n = n.up {
		steps = append(steps, n)
	}
	var b strings.Builder
	for i := len(steps) - 1; i >= 0; i-- {
		b.WriteByte('/')
		if step := steps[i]; step.up.kind == Array {
			b.WriteString(strconv.FormatUint(uint64(step.index), 10))
		} else {
			b.WriteString(jsonscan.EscapeToken(step.key))
		}
	}
	return b.String()
}
