package arazzo

import (
	"encoding/json"
	"errors"
	"fmt"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/overlay/jsonpath"
	"drawbridge/openapi/tree"
)

// Selector is a Selector Object (Arazzo 1.1.0).
type Selector struct {
	context Expression
	query   *jsonpath.Query // nil for a JSON Pointer
	pointer string
}

// ParseSelector parses a selector. version is that of an Expression Type Object, or "". The error has all faults.
func ParseSelector(context, selector string, kind QueryType, version string) (*Selector, error) {
	s := &Selector{}
	var faults []error
	var err error
	if s.context, err = ParseExpression(context); err != nil {
		faults = append(faults, fmt.Errorf("context: %w", err))
	}
	if err := checkVersion(kind, version); err != nil {
		faults = append(faults, err)
	}
	switch kind {
	case JSONPath:
		s.query, err = jsonpath.Parse(selector)
	case JSONPointer:
		s.pointer, err = checkPointer(selector)
	case XPath:
		err = errXPath
	case Simple, Regex:
		fallthrough
	default:
		err = fmt.Errorf("the type %q of a selector is unknown; it must be jsonpath, jsonpointer or xpath", kind)
	}
	if err != nil {
		faults = append(faults, fmt.Errorf("selector: %w", err))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return s, nil
}

// Context returns the expression of the value that is selected from.
func (s *Selector) Context() Expression { return s.context }

// Select returns the selected value: of several that a JSONPath query selects, an array. The error says why there is none.
func (s *Selector) Select(scope Scope) (json.RawMessage, error) {
	context, ok := s.context.Evaluate(scope)
	if !ok {
		return nil, fmt.Errorf("%s has no value", s.context)
	}
	if s.query == nil {
		if value := jsonscan.At(context, s.pointer); value != nil {
			return value, nil
		}
		return nil, fmt.Errorf("%s has no value at %q", s.context, s.pointer)
	}
	found, err := selectNodes(s.query, context)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, fmt.Errorf("%s selects nothing in %s", s.query, s.context)
	case len(found) == 1:
		return found[0].AppendJSON(nil), nil
	}
	all := []byte{'['}
	for i, n := range found {
		if i > 0 {
			all = append(all, ',')
		}
		if all = n.AppendJSON(all); len(all) > maxComposed {
			return nil, fmt.Errorf("%s selects more than %d MiB in %s", s.query, maxComposed>>20, s.context)
		}
	}
	return append(all, ']'), nil
}

// selectNodes returns the nodes that a query selects in a value.
func selectNodes(q *jsonpath.Query, value json.RawMessage) ([]*tree.Node, error) {
	root, err := tree.Parse("", []byte(string(value)), tree.Limits{}) // the tree keeps the bytes
	if err != nil {
		return nil, errors.New("the context is not JSON within the limits of documents")
	}
	w := work(maxSteps)
	return q.Select(root, &w)
}

// work is the number of steps that a query has left.
type work int

var errTooMuchWork = errors.New("the query takes too long for a value of this size")

// Take implements [jsonpath.Work].
func (w *work) Take(steps int) error {
	if *w -= work(steps); *w < 0 {
		return errTooMuchWork
	}
	return nil
}
