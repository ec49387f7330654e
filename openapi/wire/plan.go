package wire

import (
	"fmt"
	"maps"
	"slices"
)

// An encoder is made from a document. AppendPlan of each appends a text that is equal for two encoders that encode
// equal values equally, and differs otherwise: it shows whether requests change with a new document.

// AppendPlan appends the settings that determine the encoding of values.
func (e *Encoder) AppendPlan(dst []byte) []byte {
	p := e.p
	dst = fmt.Appendf(dst, "%s %q %s %q", p.In, p.Name, p.Style, p.ContentType)
	dst = fmt.Appendf(dst, " %t %t %t %d %q", p.Explode, p.AllowReserved, p.AllowEmptyValue, p.Slash, p.Nested)
	if e.form != nil {
		dst = e.form.AppendPlan(append(dst, ' '))
	}
	return append(dst, '\n')
}

// AppendPlan appends the settings that determine the encoding of forms.
func (f *FormEncoder) AppendPlan(dst []byte) []byte {
	for _, name := range slices.Sorted(maps.Keys(f.properties)) {
		dst = f.properties[name].AppendPlan(fmt.Appendf(dst, "%q ", name))
	}
	return f.other.AppendPlan(append(dst, "other "...))
}

// AppendPlan appends the settings that determine the encoding of bodies. It returns false if they are too large, see
// [XMLNode.AppendPlan].
func (e *MultipartEncoder) AppendPlan(dst []byte) (_ []byte, complete bool) {
	left := maxXMLPlan
	part := func(name string, p *Part) {
		dst = fmt.Appendf(dst, "%q %d %q %q %t %t %t %s %t", name, e.order[name], p.Types, p.Headers, p.File, p.Base64, p.Styled, p.Style, p.Explode)
		if p.XML != nil && left >= 0 {
			dst, left = p.XML.appendPlan(append(dst, ' '), left)
		}
		dst = append(dst, '\n')
	}
	dst = fmt.Appendf(dst, "%t\n", e.named)
	for _, name := range slices.Sorted(maps.Keys(e.parts)) {
		part(name, e.parts[name])
	}
	for _, p := range e.prefix {
		part("", p)
	}
	part("", e.fallback)
	return dst, left >= 0
}

// maxXMLPlan is the maximum number of XML nodes of one body in a plan text: operations share nodes, and each text
// repeats them.
const maxXMLPlan = 2000

// AppendPlan appends the settings that determine the encoding of values. It returns false if there are too many; the
// appended text then does not distinguish plans.
func (n *XMLNode) AppendPlan(dst []byte) (_ []byte, complete bool) {
	dst, left := n.appendPlan(dst, maxXMLPlan)
	return dst, left >= 0
}

// appendPlan returns how many nodes of left remain; a negative number means that it stopped early.
func (n *XMLNode) appendPlan(dst []byte, left int) ([]byte, int) {
	places := map[*XMLNode]int{n: 0}
	order := []*XMLNode{n}
	place := func(n *XMLNode) int {
		if n == nil {
			return -1
		}
		at, known := places[n]
		if !known {
			at = len(order)
			places[n], order = at, append(order, n)
		}
		return at
	}
	for i := 0; i < len(order); i++ {
		n := order[i]
		if len(order)+len(n.Members) > left {
			return dst, -1
		}
		dst = fmt.Appendf(dst, "%q %q %q %d %t %d %d", n.Name, n.Namespace, n.Prefix, n.Kind, n.Wrapped, place(n.Item), place(n.Other))
		for _, name := range slices.Sorted(maps.Keys(n.Members)) {
			dst = fmt.Appendf(dst, " %q %d %d", name, n.Places[name], place(n.Members[name]))
		}
		dst = append(dst, '\n')
	}
	return dst, left - len(order)
}
