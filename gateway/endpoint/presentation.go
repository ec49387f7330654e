package endpoint

import (
	"fmt"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/embedding"
	"drawbridge/gateway/tokenizer"
)

// Presentation says what the list of tools of an endpoint shows: all tools, or those of package toolsearch, by which a
// model finds and calls the others. It is immutable.
type Presentation struct {
	// Search reports whether the list has the tools of package toolsearch instead of all others.
	Search bool
	// Reason says why, in words for operators.
	Reason string
	// OverBudget reports whether all tools are listed although they cost more than the budget.
	OverBudget bool

	list   config.List
	tools  []*catalog.Tool // of the endpoint
	pinned []*catalog.Tool
	finder *embedding.Finder // of all tools of the catalog
	titles map[string]string // of documents, by the names of their APIs
}

// backBelow is the share of the budget below which a list that was too long is shown whole again, in percent: a list that
// is about as long as the budget does not change with each document.
const backBelow = 80

// newPresentation decides what a list of tools shows. before is what it showed until now, nil if it is new.
func newPresentation(list config.List, tools []*catalog.Tool, pinned func(*catalog.Tool) bool, finder *embedding.Finder, titles map[string]string, before *Presentation) *Presentation {
	p := &Presentation{list: list, tools: tools, finder: finder, titles: titles}
	for _, t := range tools {
		if pinned != nil && pinned(t) {
			p.pinned = append(p.pinned, t)
		}
	}
	budget, limit := list.Budget, list.Limit
	if before != nil && before.Search && before.list.Presentation == config.PresentationAuto {
		budget, limit = budget*backBelow/100, limit*backBelow/100
	}
	switch list.Presentation {
	case config.PresentationSearch:
		p.Search, p.Reason = true, "configured"
	case config.PresentationAll:
		p.Reason = "configured"
		if exceeds(tools, budget) {
			p.OverBudget, p.Reason = true, fmt.Sprintf("configured, although all tools cost more than %d tokens (list_budget)", budget)
		}
	case config.PresentationAuto:
		p.Reason = fmt.Sprintf("all tools cost at most %d tokens", budget)
		switch n := visible(tools); {
		case list.Limit > 0 && n > limit:
			p.Search, p.Reason = true, fmt.Sprintf("%d tools are more than %d (list_limit)", n, limit)
		case exceeds(tools, budget):
			p.Search, p.Reason = true, fmt.Sprintf("all tools cost more than %d tokens", budget)
		}
	}
	return p
}

// visible returns how many of the tools a list of all would show.
func visible(tools []*catalog.Tool) (n int) {
	for _, t := range tools {
		if !t.Hidden {
			n++
		}
	}
	return n
}

// String returns the presentation as the configuration names it.
func (p *Presentation) String() string {
	if p.Search {
		return string(config.PresentationSearch)
	}
	return string(config.PresentationAll)
}

// exceeds reports whether the definitions of tools cost more than a number of tokens. It counts as little as it can, since
// that is done at each start.
func exceeds(tools []*catalog.Tool, limit int) bool {
	return tokenizer.Exceeds(func(yield func([]byte) bool) {
		for _, t := range tools {
			if !yield(t.Definition(catalog.AllFeatures)) {
				return
			}
		}
	}, limit)
}
