package plan

import (
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// approval has the tools that are held back for lack of approval. They get no plan, so that no call, resource, prompt,
// completion or task can reach them.
type approval struct {
	heldBack []*catalog.Tool               // sorted by name
	reasons  map[*openapi.Operation]string // of heldBack
	renamed  []string                      // describes the tools that are approved under their former names
}

// approve returns the catalog of the tools that are approved, and the others. A nil lock approves all.
func approve(o *Options, tools *catalog.Catalog) (approved *catalog.Catalog, a approval) {
	l := o.Lock
	if l == nil {
		return tools, approval{}
	}
	a.reasons = map[*openapi.Operation]string{}
	sources := map[string]*source.Source{}
	for _, s := range o.APIs.Sources {
		if s.Document != nil {
			sources[s.Name] = s
		}
	}
	approved = tools.Only(func(t *catalog.Tool) bool {
		approval, why := approvalOf(l, sources[t.API], t)
		if why == "" {
			if was := formerlyApproved(approval, t); was != "" {
				a.renamed = append(a.renamed, was)
			}
			return true
		}
		a.reasons[t.Operation] = why
		a.heldBack = append(a.heldBack, t)
		return false
	})
	return approved, a
}

// approvalOf returns the approval of a tool, or the reason why it is held back.
func approvalOf(l *config.Lock, s *source.Source, t *catalog.Tool) (approved config.LockedTool, why string) {
	now := s.LockedTool(t)
	approved, ok := l.Approval(now)
	if !ok {
		return approved, "the tool " + t.Name + " is new"
	}
	if differs := now.Differs(approved); len(differs) > 0 {
		return approved, "the tool " + t.Name + " has another " + strings.Join(differs, ", ") + " than was approved"
	}
	return approved, ""
}

// formerlyApproved describes the former names under which a tool is approved; "" if it is approved under its current names.
func formerlyApproved(approved config.LockedTool, t *catalog.Tool) string {
	switch {
	case approved.Name != t.Name:
		return approved.Name + " is now " + t.Name
	case approved.API != t.API:
		return t.Name + " of " + approved.API + " is now of " + t.API
	}
	return ""
}
