package plan

import (
	"fmt"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// codeResource is the problem code of an operation that can't be the resource that the configuration makes of it.
const codeResource = "resource"

// setResources determines the plans that are resources. If two have the same URI, the first in document order is used.
func setResources(r *rejections, sources []*source.Source, set *Set, operations map[*openapi.Operation]*operation) {
	taken := map[string]*openapi.Operation{}
	for _, s := range sources {
		if s.Document == nil {
			continue
		}
		for _, op := range s.Document.API.Operations {
			p := set.ByOperation[op]
			if p == nil || !operations[op].settings.Resource.On() {
				continue
			}
			wanted := operations[op].settings.Resource
			resource, err := newResource(p.Tool, wanted)
			if err == nil && resource != nil {
				err = resource.checkURI(s.Name, s.Document.Extensions.Settings[op].Resource == wanted, taken)
			}
			switch {
			case err != nil:
				r.reject(s, op, codeResource, "resource", err.Error(), func(of *config.Settings) bool { return of.Resource == wanted })
			case resource != nil:
				taken[resource.URI.Shape()] = op
				p.Resource = resource
				set.Readable = append(set.Readable, p.Tool.Name)
			}
		}
	}
}

// checkURI returns an error if the resource can't have its URI. taken holds the operations that have one, by its shape.
func (r *Resource) checkURI(api string, declaredByDocument bool, taken map[string]*openapi.Operation) error {
	if own := "drawbridge://" + api + "/"; declaredByDocument && !strings.HasPrefix(r.URI.String(), own) {
		// Otherwise a document could replace another document's resource.
		return fmt.Errorf("a document's own URIs begin with %q: others are for rules", own)
	}
	if first := taken[r.URI.Shape()]; first != nil {
		return fmt.Errorf("the URI is that of %s %s already", first.Method, first.Path)
	}
	return nil
}
