package openapi

import (
	"regexp"
	"slices"
	"strings"

	"drawbridge/openapi/httpmethod"
)

// The root of a tree of files has the empty path. Services read it as the value of the parameter that takes the paths, which the standard
// has as one segment that is not empty, and no other operation of the document leads there (ADR 0074).

const (
	// emptySegment is the extension of an operation that lists the path parameter that takes "".
	emptySegment = "x-empty-segment"
	// emptyRoot is said of a parameter that takes "".
	emptyRoot = `"" is the root.`
)

// describedRoot matches descriptions by which an empty or missing path is that of the root.
var describedRoot = regexp.MustCompile(`(?i)\b(?:empty|blank|omit(?:s|ted|ting)?|left out|leave out)\b[^.;]{0,120}\b(?:root|top[- ]level)\b|` +
	`\b(?:root|top[- ]level)\b[^.;]{0,120}\b(?:empty|blank|omitted|left out)\b`)

// takesEmpty reports whether a path parameter whose values may hold slashes takes "", the root of what lies below: if the operation or a
// description says so, for safe methods, in the last position, and if the document has no path without the parameter.
func (b *binder) takesEmpty(of *binding) bool {
	listed := lists(b.model.node, emptySegment, of.wire)
	if !listed && !describedRoot.MatchString(beginning(of.description)) && !describedRoot.MatchString(beginning(b.model.node.Get("description").Text())) {
		return false
	}
	last := b.op.template.EndsWith(slices.Index(b.op.template.Names(), of.wire))
	switch {
	case last && httpmethod.IsSafe(b.op.Method) && !b.hasCollection():
		if !describedRoot.MatchString(beginning(of.description)) {
			of.description = strings.TrimSpace(of.description + " " + emptyRoot)
		}
		return true
	case listed:
		b.problems.at(b.model.node.Get(emptySegment), codePathSlash,
			"%q takes no empty value: that is for the last segment of the path of a safe method, and not if the document has the path without it", of.wire)
	}
	return false
}

// hasCollection reports whether the document has the operation's path without its last segment, with or without a slash at the end.
func (b *binder) hasCollection() bool {
	above := b.op.Path[:strings.LastIndexByte(b.op.Path, '/')+1]
	paths := b.set.Root().Get("paths")
	return paths.Get(above) != nil || paths.Get(strings.TrimSuffix(above, "/")) != nil
}

// beginning returns the part of a description that is examined.
func beginning(description string) string { return description[:min(len(description), maxRead)] }

// emptied reports whether the values of an operation leave its path that of another one: the last is "", and the document describes the
// rest of the path with other names or below another base.
func (o *Operation) emptied(path []byte, values [][]byte, place int) bool {
	if !o.arguments[place].encoder.TakesEmpty() || string(values[place]) != `""` {
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
