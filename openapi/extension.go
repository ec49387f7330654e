package openapi

import (
	"slices"
	"strings"

	"drawbridge/openapi/tree"
)

// An Extension is a specification extension of an operation (OAS, "Specification Extensions"), as written in the
// document.
type Extension struct {
	Name     string
	Value    []byte // compact JSON; nil if only CompileOptions.ExtensionPrefix keeps it
	Position Position
	Pointer  string // RFC 6901 pointer from the root of Position.File
}

const (
	maxExtension = 64 << 10 // bytes of one extension that is kept
	maxUnknown   = 20       // extensions of one operation that only match the prefix
)

// extensions returns the extensions of an operation that CompileOptions.Extensions names, and the names of others with
// the prefix.
func (c *compiler) extensions(m *model) (kept []Extension) {
	if len(c.options.Extensions) == 0 {
		return nil
	}
	for _, name := range c.options.Extensions {
		node := m.node.Get(name)
		if node.Kind() == tree.Invalid {
			continue
		}
		value := node.AppendJSON(nil)
		if len(value) > maxExtension {
			c.problems.at(node, codeExtension, "%s has %d bytes; at most %d are allowed, and it is left out", name, len(value), maxExtension)
			continue
		}
		kept = append(kept, Extension{
			Name: strings.Clone(name), Value: value, Position: node.Position(), Pointer: strings.Clone(node.Pointer()),
		})
	}
	if c.options.ExtensionPrefix == "" {
		return kept
	}
	unknown := 0
	for name, node := range m.node.Members() {
		if !strings.HasPrefix(name, c.options.ExtensionPrefix) || slices.Contains(c.options.Extensions, name) {
			continue
		}
		if unknown++; unknown > maxUnknown {
			break
		}
		kept = append(kept, Extension{Name: strings.Clone(name), Position: node.Position(), Pointer: strings.Clone(node.Pointer())})
	}
	return kept
}

// Hiding is an extension by which a document hides an operation from models.
type Hiding struct {
	Text     string // in its usual notation: "x-internal: true"
	Position Position
	Pointer  string // RFC 6901 pointer from the root of Position.File
}

const (
	maxMarks    = 50 // extensions of one operation whose names are kept
	maxMarkName = 64 // bytes of such a name
)

// marks returns the names of the extensions of an operation and of its path whose values are neither false nor null,
// sorted. For a name that both have, the operation's value counts.
func marks(f found) (names []string) {
	for _, n := range []*tree.Node{f.node, f.item} {
		for name, value := range n.Members() {
			if !strings.HasPrefix(name, "x-") || len(name) > maxMarkName || len(names) == maxMarks || isOff(value) || slices.Contains(names, name) {
				continue
			}
			if n == f.node || f.node.Get(name) == nil {
				names = append(names, strings.Clone(name))
			}
		}
	}
	slices.Sort(names)
	return names
}

// isOff reports whether a value is false or null.
func isOff(n *tree.Node) bool {
	return n.Kind() == tree.Null || n.Kind() == tree.Invalid || n.Kind() == tree.Bool && !n.Bool()
}

// hiding returns the extension by which a document hides an operation from models: x-internal, and x-mcp of several
// generators, on the operation or its path; nil if there is none.
func hiding(f found) *Hiding {
	of := func(name string) *tree.Node {
		if n := f.node.Get(name); n != nil {
			return n
		}
		return f.item.Get(name)
	}
	hides := func(n *tree.Node, text string) *Hiding {
		return &Hiding{Text: text, Position: n.Position(), Pointer: strings.Clone(n.Pointer())}
	}
	if n := of("x-internal"); isFlag(n, "true") {
		return hides(n, "x-internal: true")
	}
	n := of("x-mcp")
	switch {
	case isFlag(n, "false"):
		return hides(n, "x-mcp: false")
	case isFlag(n.Get("enabled"), "false"):
		return hides(n, "x-mcp: {enabled: false}")
	}
	return nil
}

// isFlag reports whether a value is a boolean, which may be written as a string.
func isFlag(n *tree.Node, text string) bool {
	return (n.Kind() == tree.Bool || n.Kind() == tree.String) && strings.EqualFold(n.Text(), text)
}
