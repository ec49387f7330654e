package openapi

import (
	"slices"
	"strings"

	"drawbridge/openapi/tree"
)

// An Extension is a specification extension of an operation (OAS, "Specification Extensions"): a member that the standard
// leaves to others, as it stands in the document.
type Extension struct {
	Name     string
	Value    []byte // compact JSON; nil of one that only CompileOptions.ExtensionPrefix keeps
	Position Position
	Pointer  string // RFC 6901 pointer from the root of Position.File
}

const (
	maxExtension = 64 << 10 // bytes of one extension that is kept
	maxUnknown   = 20       // extensions of one operation that have the prefix alone
)

// extensions keeps those of an operation that CompileOptions.Extensions names, and tells of others with the prefix.
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
