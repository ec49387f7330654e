package tree

import "fmt"

// reader is the state that the JSON and the YAML parser share while they read one file: the arena for nodes, the budget
// of the whole document, the warnings, and the keywords found.
type reader struct {
	file   string
	arena  *arena
	budget *budget
	warn   *warnings
	names  nameSet
}

// nameSet records which resolution keywords a file uses at all, so that files without them don't pay for them.
type nameSet struct{ id, anchor bool }

func (r *reader) newRoot(line, col uint32) *Node {
	root := r.arena.node()
	root.key, root.line, root.col = r.file, line, col
	return root
}

// countNode charges one value, n, to the budget.
func (r *reader) countNode(n *Node) error {
	if r.budget.nodes%64 == 0 {
		r.budget.Pace.Work(64)
	}
	if r.budget.nodes++; r.budget.nodes > r.budget.Nodes {
		return r.budget.tooManyValues(r.position(n))
	}
	return nil
}

// noteKey examines the name of a new member.
func (r *reader) noteKey(n *Node) error {
	if len(n.key) == 0 || n.key[0] != '$' {
		return nil
	}
	switch n.key {
	case "$ref":
		if r.budget.refs++; r.budget.refs > r.budget.Refs {
			return tooMany(r.position(n), r.budget.Refs, "references")
		}
	case "$id", "$self":
		r.names.id = true
	case "$anchor", "$dynamicAnchor":
		r.names.anchor = true
	}
	return nil
}

func (r *reader) tooDeep(n *Node) error {
	return &LimitError{Position: r.position(n), Message: fmt.Sprintf(
		"nested more than %d levels deep; no API needs that: check how the document was made", r.budget.Depth)}
}

func (r *reader) position(n *Node) Position {
	return Position{File: r.file, Line: int(n.line), Column: int(n.col)}
}
