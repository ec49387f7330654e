package source

import (
	"iter"
	"maps"
	"regexp"
	"slices"

	"drawbridge/config"
	"drawbridge/openapi"
)

// Subject returns the properties of an operation of the source that selectors match.
func (s *Source) Subject(op *openapi.Operation) config.Subject { return s.as(s.Name).subject(op) }

// Subject returns the properties of an operation of an API with this name that selectors match.
func Subject(api string, op *openapi.Operation) config.Subject {
	return apiNames{name: api}.subject(op)
}

// SkippedSubject is Subject for an operation that can't be a tool. api is the name of its API.
func SkippedSubject(api string, s openapi.Skipped) config.Subject {
	return apiNames{name: api}.skipped(s)
}

// apiNames are the names of an API that selectors match.
type apiNames struct{ name, claimed string } // see [config.API.Claimed]

// as returns the names of the source if its name is the given one.
func (s *Source) as(name string) apiNames { return apiNames{name, s.Config.Claimed()} }

func (n apiNames) subject(op *openapi.Operation) config.Subject {
	s := config.Subject{
		API: n.name, Claimed: n.claimed, Method: op.Method, Path: op.Path, Operation: op.ID, Tags: op.Tags, Deprecated: op.Deprecated, Extensions: op.Marks,
		Arguments: func() []string { return slices.Sorted(maps.Keys(op.Names())) },
	}
	if op.HiddenBy != nil {
		s.HiddenBy = op.HiddenBy.Text
	}
	return s
}

func (n apiNames) skipped(s openapi.Skipped) config.Subject {
	return config.Subject{API: n.name, Claimed: n.claimed, Method: s.Method, Path: s.Path, Operation: s.ID, Tags: s.Tags}
}

// subjectsOf yields the operations of a document as selectors see them. It includes operations that can't be tools,
// because a selector may name them, too.
func subjectsOf(names apiNames, api *openapi.API) iter.Seq[config.Subject] {
	return func(yield func(config.Subject) bool) {
		for _, op := range api.Operations {
			if !yield(names.subject(op)) {
				return
			}
		}
		for _, s := range api.Skipped {
			if !yield(names.skipped(s)) {
				return
			}
		}
	}
}

func matchesAny(sel *config.Selection, names apiNames, api *openapi.API) bool {
	for subject := range subjectsOf(names, api) {
		if sel.Match(subject) {
			return true
		}
	}
	return false
}

// operationKey identifies an operation in its document, regardless of the names of path variables: /orders/{id} and
// /orders/{order} are the same URL.
func operationKey(s config.Subject) string { return WithoutNames(s.Method + " " + s.Path) }

// OperationKey identifies an operation in the versions of its document, by method and path without the names of its variables.
func OperationKey(op *openapi.Operation) string { return WithoutNames(op.Method + " " + op.Path) }

// WithoutNames removes the names of path variables from a path, or from an operation that is given as method and path.
func WithoutNames(operation string) string {
	return pathVariable.ReplaceAllLiteralString(operation, "{}")
}

var pathVariable = regexp.MustCompile(`\{[^{}]*\}`)
