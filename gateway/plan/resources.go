package plan

import (
	"slices"

	"drawbridge/gateway/catalog"
)

// Resources are the resources of an endpoint, in document order. They are immutable.
type Resources struct {
	// All are the plans that can be read, in document order.
	All   []*Plan
	fixed map[string]*Plan
}

// NewResources returns the resources among plans, given by tool name. readable names them in order.
func NewResources(readable []string, plans map[string]*Plan) *Resources {
	r := &Resources{fixed: map[string]*Plan{}}
	for _, name := range readable {
		p := plans[name]
		if p == nil {
			continue
		}
		r.All = append(r.All, p)
		if p.Resource.URI.Fixed() {
			r.fixed[p.Resource.URI.String()] = p
		}
	}
	return r
}

// Find returns the plan that reads a URI and the arguments of its call, or nil if no resource matches. A URI without variables
// takes precedence over templates, and an earlier template over a later one.
func (r *Resources) Find(uri string) (p *Plan, args []byte) {
	if p := r.fixed[uri]; p != nil {
		return p, []byte("{}")
	}
	for _, p := range r.All {
		if values, ok := p.Resource.URI.Match(uri); ok {
			return p, p.Resource.Arguments(values)
		}
	}
	return nil, nil
}

// Named returns the plan whose resource or template has exactly that URI, or nil if there is none.
func (r *Resources) Named(uri string) *Plan {
	if i := slices.IndexFunc(r.All, func(p *Plan) bool { return p.Resource.URI.String() == uri }); i >= 0 {
		return r.All[i]
	}
	return nil
}

// Definitions returns the visible resources or templates as listed, each as a JSON object.
func (r *Resources) Definitions(templates, titled bool, visible func(*catalog.Tool) bool) (all [][]byte) {
	for _, p := range r.All {
		switch {
		case p.Resource.URI.Fixed() == templates || !visible(p.Tool):
		case titled:
			all = append(all, p.Resource.definition)
		default:
			all = append(all, p.Resource.untitled)
		}
	}
	return all
}
