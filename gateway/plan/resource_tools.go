package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// codeResource is the problem code of an operation that can't be the resource that the configuration makes of it.
const codeResource = "resource"

// resourceTools are the tools that can be read as resources.
type resourceTools struct {
	byOperation map[*openapi.Operation]*Resource
	names       []string // in document order
}

// newResourceTools makes the resources of all tools. If two have the same URI, the first in document order has it.
func newResourceTools(sources []*source.Source, all drafts, rejected *rejections) resourceTools {
	found := resourceTools{byOperation: map[*openapi.Operation]*Resource{}}
	taken := map[string]*openapi.Operation{}
	for _, s := range sources {
		if s.Document == nil {
			continue
		}
		for _, op := range s.Document.API.Operations {
			t := all.byOperation[op]
			if t == nil || !t.settings.Resource.On() {
				continue
			}
			set := t.settings.Resource
			r, err := newResource(t.definition, callerOperation(t.given, t.job, t.key), set)
			if err == nil && r != nil && slices.ContainsFunc(t.serverArguments, func(a serverArgument) bool { return a.preset == "" }) {
				err = errors.New("an argument selects the server of each call, and its URI has none; the server variable needs a default")
			}
			if err == nil && r != nil {
				err = checkURI(s, op, set, r, taken)
			}
			switch {
			case err != nil:
				rejected.of(s.Name, op).reject(codeResource, "resource", err.Error(), func(of *config.Settings) bool { return of.Resource == set })
			case r != nil:
				taken[r.URI.Shape()] = op
				found.byOperation[op] = r
				found.names = append(found.names, t.definition.Name)
			}
		}
	}
	return found
}

// checkURI returns an error if an operation may not have the URI of its resource. taken maps the shapes of URIs to the
// operations that have them.
func checkURI(s *source.Source, op *openapi.Operation, set *config.Resource, r *Resource, taken map[string]*openapi.Operation) error {
	if own := "drawbridge://" + s.Name + "/"; s.Document.Extensions.Settings[op].Resource == set && !strings.HasPrefix(r.URI.String(), own) {
		// Otherwise a document could replace another document's resource.
		return fmt.Errorf("a document's own URIs begin with %q: others are for rules", own)
	}
	if first := taken[r.URI.Shape()]; first != nil {
		return fmt.Errorf("the URI is that of %s %s already", first.Method, first.Path)
	}
	return nil
}
