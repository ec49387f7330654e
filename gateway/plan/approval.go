package plan

import (
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// unapproved returns the reason why a tool is held back; "" if it is approved.
func unapproved(l *config.Lock, s *source.Source, t *catalog.Tool) string {
	now := s.LockedTool(t)
	approved, ok := l.Approval(now)
	if !ok {
		return "the tool " + t.Name + " is new"
	}
	if differs := now.Differs(approved); len(differs) > 0 {
		return "the tool " + t.Name + " has another " + strings.Join(differs, ", ") + " than was approved"
	}
	return ""
}

// holdBack removes tools without approval from the catalog. They get no plan, so that no call, resource, prompt, completion
// or task can reach them. A nil lock approves all.
func holdBack(l *config.Lock, operations map[*openapi.Operation]*operation, set *Set) {
	if l == nil {
		return
	}
	set.Unapproved = map[*openapi.Operation]string{}
	set.Catalog = set.Catalog.Only(func(t *catalog.Tool) bool {
		why := unapproved(l, operations[t.Operation].source, t)
		if why == "" {
			if was := formerlyApproved(l, t); was != "" {
				set.RenamedApprovals = append(set.RenamedApprovals, was)
			}
			return true
		}
		set.Unapproved[t.Operation] = why
		set.HeldBack = append(set.HeldBack, t)
		return false
	})
}

// formerlyApproved describes the names of the previous release under which a tool is approved; "" if it is approved
// under its current names.
func formerlyApproved(l *config.Lock, t *catalog.Tool) string {
	approved, ok := l.Of(t.Name)
	switch {
	case !ok:
		return t.Former + " is now " + t.Name
	case approved.API != t.API:
		return t.Name + " of " + approved.API + " is now of " + t.API
	}
	return ""
}
