package endpoint

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/embedding"
)

// Presentation says what the list of tools of an endpoint shows: all tools, or those of package toolsearch, by which a
// model finds and calls the others. It is immutable.
type Presentation struct {
	// Search reports whether the list has the tools of package toolsearch in the place of all others.
	Search bool
	// Reason says why, in words for operators.
	Reason string
	// OverBudget reports whether all tools are listed although they cost more than the budget.
	OverBudget bool

	list   config.List
	tools  []*catalog.Tool // of the endpoint
	pinned []*catalog.Tool
	finder *embedding.Finder // of all tools of the catalog
}

// backBelow is the share of the budget below which a list that was too long is shown whole again, in percent: a list that
// is about as long as the budget does not change with each document.
const backBelow = 80

// newPresentation decides what a list of tools shows. before is what it showed until now, nil if it is new.
func newPresentation(list config.List, tools []*catalog.Tool, pinned func(*catalog.Tool) bool, finder *embedding.Finder, before *Presentation) *Presentation {
	p := &Presentation{list: list, tools: tools, finder: finder}
	for _, t := range tools {
		if pinned != nil && pinned(t) {
			p.pinned = append(p.pinned, t)
		}
	}
	switch list.Presentation {
	case config.PresentationSearch:
		p.Search, p.Reason = true, "the configuration says so"
	case config.PresentationAll:
		p.Reason, p.OverBudget = "the configuration says so", exceeds(tools, list.Budget)
	case config.PresentationAuto:
		limit := list.Budget
		if before != nil && before.Search && before.list.Presentation == config.PresentationAuto {
			limit = limit * backBelow / 100
		}
		p.Search = exceeds(tools, limit)
		p.Reason = fmt.Sprintf("all tools cost at most %d tokens", limit)
		if p.Search {
			p.Reason = fmt.Sprintf("all tools cost more than %d tokens", limit)
		}
	}
	return p
}

// exceeds reports whether the definitions of tools cost more than a number of tokens. It stops counting there.
func exceeds(tools []*catalog.Tool, limit int) bool {
	n := 0
	for _, t := range tools {
		if n += t.Tokens(); n > limit {
			return true
		}
	}
	return false
}

// String returns the presentation as the configuration names it.
func (p *Presentation) String() string {
	if p.Search {
		return string(config.PresentationSearch)
	}
	return string(config.PresentationAll)
}

// LogPresentations logs what the lists of tools show, where that differs from the endpoints served before.
func (t *Table) LogPresentations(log *slog.Logger, before *Table) {
	for _, name := range append([]string{""}, slices.Sorted(maps.Keys(t.Named))...) {
		e, was := t.Lookup(name), before.Lookup(name)
		p := e.Presentation
		if was != nil && was.Presentation.Search == p.Search && was.Presentation.OverBudget == p.OverBudget {
			continue
		}
		attrs := []any{"endpoint", strings.TrimSuffix("/mcp/"+name, "/"), "presentation", p.String(), "reason", p.Reason}
		if p.OverBudget {
			log.Warn("the list of tools costs more tokens than its budget", append(attrs, "list_budget", p.list.Budget)...)
			continue
		}
		log.Info("list of tools", attrs...)
	}
}

// Searches reports whether clients of an endpoint find tools by searching, unless they choose otherwise.
func (t *Table) Searches() bool {
	if t.Main.Presentation.Search {
		return true
	}
	for _, e := range t.Named {
		if e.Presentation.Search {
			return true
		}
	}
	return false
}
