package openapi

import (
	"bytes"
	"iter"
	"net/url"
	"slices"
	"strings"

	"drawbridge/openapi/origin"
	"drawbridge/openapi/wire"
)

// Slashes in the value of a path parameter must not lead to another path that the document describes: the operation there may be excluded,
// or need other scopes or consent. This file finds these paths (ADR 0055, ADR 0069).

// neighbors are the paths that the document describes at the origin of an operation, besides its own.
type neighbors struct {
	base  string         // precedes a path of the operation before it is compared with paths; "" if all have the base of the operation
	own   *wire.Template // of the operation, with base
	paths []neighbor
}

// neighbor is a path of another operation.
type neighbor struct {
	method    string
	operation *Operation // nil for one that is skipped
	template  *wire.Template
}

// setNeighbors gives the paths of an API to the operations whose values can lead to them. The operations share the lists, so that a document
// with many such operations takes no more memory.
func (api *API) setNeighbors() {
	var d *described
	for _, o := range api.Operations {
		if !slices.ContainsFunc(o.variables, func(index int) bool {
			return index >= 0 && (o.arguments[index].encoder.Spans() || o.arguments[index].encoder.InfersSlashes() || o.arguments[index].encoder.TakesEmpty())
		}) {
			continue
		}
		if d == nil {
			d = api.describe()
		}
		o.neighbors = []neighbors{{own: o.template, paths: d.skipped}, {own: o.template, paths: d.byBase[baseOf(o)]}}
		if at, ok := origin.Of(o.Base); ok && len(d.byOrigin[at]) > len(d.byBase[*o.Base]) {
			base := strings.TrimRight(o.Base.EscapedPath(), "/")
			o.neighbors = append(o.neighbors, neighbors{base: base, own: o.template.Below(base), paths: d.byOrigin[at]})
		}
	}
}

// described are the paths that a document describes.
type described struct {
	skipped  []neighbor
	byBase   map[url.URL][]neighbor       // below the base; the zero URL is no base
	byOrigin map[origin.Origin][]neighbor // with the base
}

// describe returns the paths that the document of an API describes.
func (api *API) describe() *described {
	d := &described{skipped: api.skippedPaths(), byBase: map[url.URL][]neighbor{}, byOrigin: map[origin.Origin][]neighbor{}}
	for _, o := range api.Operations {
		base := baseOf(o)
		d.byBase[base] = append(d.byBase[base], neighbor{o.Method, o, o.template})
		if at, ok := origin.Of(o.Base); ok {
			d.byOrigin[at] = append(d.byOrigin[at], neighbor{o.Method, o, o.template.Below(o.Base.EscapedPath())})
		}
	}
	return d
}

// baseOf returns the base of an operation; the zero URL if it has none.
func baseOf(o *Operation) url.URL {
	if o.Base == nil {
		return url.URL{}
	}
	return *o.Base
}

// skippedPaths returns the paths of skipped operations. The gateway has no tools of them, but the service serves them. They count as paths
// below the base of every operation.
func (api *API) skippedPaths() (all []neighbor) {
	for i := range api.Skipped {
		s := &api.Skipped[i]
		if s.Code == codeSkipServer || len(s.Path) > maxPath {
			continue
		}
		if template, err := wire.ParseTemplate(s.Path); err == nil {
			all = append(all, neighbor{method: s.Method, template: template})
		}
	}
	return all
}

// claimed returns the index of an argument whose value makes an escaped path, below the base, one of a neighbor; -1 if there is none.
// An empty value must not lead to any path of the document.
// Slashes that are sent as they are must not lead to a more specific path with the same method. Slashes that are sent as "%2F" by inference
// must not lead to any path of the document, or below one of those that the operation is apart from, if they are decoded on their way.
func (o *Operation) claimed(path []byte, values [][]byte) (index int) {
	for _, v := range o.variables {
		if v < 0 {
			continue
		}
		if o.emptied(path, values, v) {
			return v
		}
		a := &o.arguments[v]
		raw := a.encoder.Spans() && bytes.ContainsAny(values[v], `/\`) // a slash may be written as an escape of JSON
		inferred := a.encoder.InfersSlashes() && bytes.Contains(path, []byte("%2F"))
		for i := range o.neighbors {
			n := &o.neighbors[i]
			if raw && n.claim(o, n.base+string(path)) || inferred && n.mayReceive(o, n.base+string(path)) {
				return v
			}
		}
	}
	return -1
}

// claim reports whether a path whose slashes are sent as they are is that of another operation with the same method.
func (n *neighbors) claim(o *Operation, path string) bool {
	return n.own.Claimed(path, n.templates(func(other *neighbor) bool { return other.method == o.Method }))
}

// mayReceive reports whether a path with slashes that are sent as "%2F" is one of another operation once they are decoded.
func (n *neighbors) mayReceive(o *Operation, path string) bool {
	return wire.Unfolded(path, n.templates(func(*neighbor) bool { return true }), false) ||
		o.apart != nil && wire.Unfolded(path, n.templates(func(other *neighbor) bool { return other.operation == nil || o.apart(other.operation) }), true)
}

// templates yields the templates of the neighbors for which is returns true.
func (n *neighbors) templates(is func(*neighbor) bool) iter.Seq[*wire.Template] {
	return func(yield func(*wire.Template) bool) {
		for i := range n.paths {
			if is(&n.paths[i]) && !yield(n.paths[i].template) {
				return
			}
		}
	}
}

// InfersSlashes reports whether values with slashes are sent because a parameter seems to be a path, and not because the document or the
// operator allows them.
func (o *Operation) InfersSlashes() bool {
	return slices.ContainsFunc(o.arguments, func(a argument) bool { return a.encoder.InfersSlashes() })
}

// Apart returns the operation with a further limit for parameters that only seem to be paths (see InfersSlashes): slashes in their values
// don't lead to or below the paths of the operations that from reports, even if a server on the way decodes "%2F".
func (o *Operation) Apart(from func(*Operation) bool) *Operation {
	apart := *o
	apart.apart = from
	return &apart
}

// emptied reports whether the values of an operation leave its path that of another one: the last is "" in any notation, such as [""] for a
// parameter without a type, and the document describes the rest of the path with other names or below another base.
func (o *Operation) emptied(path []byte, values [][]byte, index int) bool {
	encoder := o.arguments[index].encoder
	if !encoder.TakesEmpty() || !bytes.HasSuffix(path, []byte("/")) {
		return false
	}
	if sent, err := encoder.AppendPath(nil, values[index]); err != nil || len(sent) > 0 {
		return false
	}
	for i := range o.neighbors {
		n := &o.neighbors[i]
		for template := range n.templates(func(*neighbor) bool { return true }) {
			if _, matches := template.Match(n.base + string(path)); matches {
				return true
			}
		}
	}
	return false
}
