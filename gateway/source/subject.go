package source

import (
	"iter"
	"maps"
	"regexp"
	"slices"

	"drawbridge/config"
	"drawbridge/openapi"
)

// Subject returns an operation as selectors see it. api is the name of its API.
func Subject(api string, op *openapi.Operation) config.Subject {
	s := config.Subject{
		API: api, Method: op.Method, Path: op.Path, Operation: op.ID, Tags: op.Tags, Deprecated: op.Deprecated, Extensions: op.Marks,
		Arguments: func() []string { return slices.Sorted(maps.Keys(op.Names())) },
	}
	if op.HiddenBy != nil {
		s.HiddenBy = op.HiddenBy.Text
	}
	return s
}

// SkippedSubject returns an operation that can't be a tool as selectors see it.
func SkippedSubject(api string, s openapi.Skipped) config.Subject {
	return config.Subject{API: api, Method: s.Method, Path: s.Path, Operation: s.ID, Tags: s.Tags}
}

// subjectsOf yields the operations of a document as selectors see them. It includes operations that can't be tools,
// because a selector may name them, too.
func subjectsOf(name string, api *openapi.API) iter.Seq[config.Subject] {
	return func(yield func(config.Subject) bool) {
		for _, op := range api.Operations {
			if !yield(Subject(name, op)) {
				return
			}
		}
		for _, s := range api.Skipped {
			if !yield(SkippedSubject(name, s)) {
				return
			}
		}
	}
}

func matchesAny(sel *config.Selection, name string, api *openapi.API) bool {
	for subject := range subjectsOf(name, api) {
		if sel.Match(subject) {
			return true
		}
	}
	return false
}

// operationKey identifies an operation in its document. Names of path variables don't count: /orders/{id} and
// /orders/{order} are the same URL.
func operationKey(s config.Subject) string { return withoutNames(s.Method + " " + s.Path) }

// OperationKey identifies an operation in the versions of its document, by method and path without the names of its variables.
func OperationKey(op *openapi.Operation) string { return withoutNames(op.Method + " " + op.Path) }

// withoutNames removes the names of path variables from an operation, given as method and path.
func withoutNames(operation string) string {
	return pathVariable.ReplaceAllLiteralString(operation, "{}")
}

var pathVariable = regexp.MustCompile(`\{[^{}]*\}`)
