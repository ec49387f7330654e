package plan

import (
	"slices"

	"drawbridge/config"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// documentScopes are the scope sets of the operations of a document, as [source.Document.Scopes] returns them. Operations that the
// configuration excludes are missing.
type documentScopes struct {
	sets     map[*openapi.Operation][][]string
	defaults []string
}

func newDocumentScopes(c *config.Config, s *source.Source, defaults []string) *documentScopes {
	d := &documentScopes{sets: make(map[*openapi.Operation][][]string, len(s.Document.API.Operations)), defaults: defaults}
	for _, op := range s.Document.API.Operations {
		if subject := s.Subject(op); s.Config.Exposes(subject) {
			d.sets[op] = s.Document.Scopes(op, &s.Config, c.Settings(subject, s.Document.Extensions.Settings[op]), defaults)
		}
	}
	return d
}

// cover reports whether every caller with the scopes of one operation has those of another, too.
func (d *documentScopes) cover(own [][]string, other *openapi.Operation) bool {
	sets := d.sets[other]
	return !slices.ContainsFunc(own, func(granted []string) bool {
		return !slices.ContainsFunc(sets, func(required []string) bool { return d.subset(required, granted) })
	})
}

// subset reports whether each of some required scopes is granted. An empty set stands for the default scopes.
func (d *documentScopes) subset(required, granted []string) bool {
	if len(required) == 0 {
		required = d.defaults
	}
	if len(granted) == 0 {
		granted = d.defaults
	}
	return !slices.ContainsFunc(required, func(scope string) bool { return !slices.Contains(granted, scope) })
}
