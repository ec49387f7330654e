package widening

import (
	"cmp"
	"net/url"
	"strings"

	"drawbridge/gateway/source"
	"drawbridge/openapi"
	"drawbridge/openapi/origin"
)

// likeness tells why two operations of two documents count as the same. The greater one is the surer one.
type likeness int

const (
	// renamed: both documents have both operations, and the newer one gives one the operationId of the other.
	renamed likeness = iota
	moved            // the operationId is the same, and the older operation is gone
	respelt          // servers take the URLs for the same, and the operation did not have this URL before
	sameKey          // method and path are the same
)

// operationPair is an operation of a newer document with the one that it was before.
type operationPair struct {
	was, is *openapi.Operation
	by      likeness
}

// maxAlike is the most operations with one operationId, or with one URL, that are compared with another one. A document with more is
// at fault.
const maxAlike = 16

// pairOperations returns the operations of two documents that are the same. An operation can be in several pairs.
func pairOperations(before, next []*openapi.Operation) (pairs []operationPair) {
	byKey, byID, byAddress := map[string]*openapi.Operation{}, map[string][]*openapi.Operation{}, map[string][]*openapi.Operation{}
	kept := map[string]bool{}
	for _, op := range next {
		kept[source.OperationKey(op)] = true
	}
	add := func(to map[string][]*openapi.Operation, key string, op *openapi.Operation) {
		if key != "" && len(to[key]) < maxAlike {
			to[key] = append(to[key], op)
		}
	}
	for _, gone := range []bool{true, false} { // those that are gone first: they are compared in full
		for _, op := range before {
			if kept[source.OperationKey(op)] != gone {
				add(byID, op.ID, op)
			}
		}
	}
	for _, op := range before {
		byKey[source.OperationKey(op)] = op
		add(byAddress, address(op), op)
	}
	for _, op := range next {
		was, at := byKey[source.OperationKey(op)], address(op)
		paired := map[*openapi.Operation]bool{}
		pair := func(same *openapi.Operation, by likeness) {
			if same != nil && !paired[same] {
				paired[same] = true
				pairs = append(pairs, operationPair{same, op, by})
			}
		}
		pair(was, sameKey)
		if was == nil || address(was) != at {
			for _, same := range byAddress[at] {
				pair(same, respelt)
			}
		}
		for _, same := range byID[op.ID] {
			by := renamed
			if was == nil && !kept[source.OperationKey(same)] {
				by = moved
			}
			pair(same, by)
		}
	}
	return pairs
}

// address returns the method and the URL of an operation in a form that is the same for spellings that servers take for the same: in
// another case, percent-encoded, with empty segments, dot segments, parameters of segments or backslashes, or with a part of the path in
// the server.
func address(op *openapi.Operation) string {
	at, _ := origin.Of(op.Base)
	path := op.Path
	if op.Base != nil {
		path = op.Base.EscapedPath() + "/" + path
	}
	path = source.WithoutNames(path)
	if text, err := url.PathUnescape(path); err == nil {
		path = text
	}
	var segments []string
	for segment := range strings.SplitSeq(strings.ReplaceAll(strings.ToLower(path), `\`, "/"), "/") {
		switch segment, _, _ = strings.Cut(segment, ";"); segment {
		case "", ".":
		case "..":
			segments = segments[:max(0, len(segments)-1)]
		default:
			segments = append(segments, segment)
		}
	}
	return cmp.Or(op.Method, "?") + " " + at.String() + "/" + strings.Join(segments, "/")
}
