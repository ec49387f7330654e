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

// setResources determines the plans that are resources. If two have the same URI, the first in document
// order is used.
func setResources(r *rejections, sources []*source.Source, set *Set, settings map[*openapi.Operation]config.Settings) {
	taken := map[string]*openapi.Operation{}
	for _, s := range sources {
		if s.Document == nil {
			continue
		}
		for _, op := range s.Document.API.Operations {
			p, wanted := set.ByOperation[op], settings[op].Resource
			if p == nil || !wanted.On() {
				continue
			}
			resource, err := newResource(p.Tool, wanted)
			if err == nil && resource != nil && s.Document.Extensions.Settings[op].Resource == wanted && !strings.HasPrefix(resource.URI.String(), "drawbridge://"+s.Name+"/") {
				// Otherwise a document could replace another document's resource.
				err = fmt.Errorf("a document's own URIs begin with %q: others are for rules", "drawbridge://"+s.Name+"/")
			}
			if err == nil && resource != nil {
				if first := taken[resource.URI.Shape()]; first != nil {
					err = fmt.Errorf("the URI is that of %s %s already", first.Method, first.Path)
				}
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
