package endpoint

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/finder"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/tokenizer"
	"drawbridge/gateway/toolsearch"
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

	cost   cost // of all tools
	list   config.List
	tools  []*catalog.Tool // of the endpoint
	pinned []*catalog.Tool
	index  func() *finder.Index // of all tools of the catalog
}

// backBelow is the share of the budget below which a list that was too long is shown whole again, in percent: a list that
// is about as long as the budget does not change with each document.
const backBelow = 80

// newPresentation decides what a list of tools shows. before is what it showed until now, nil if it is new.
func newPresentation(list config.List, tools []*catalog.Tool, pinned func(*catalog.Tool) bool, index func() *finder.Index, before *Presentation) *Presentation {
	p := &Presentation{list: list, tools: tools, index: index}
	for _, t := range tools {
		if pinned != nil && pinned(t) {
			p.pinned = append(p.pinned, t)
		}
	}
	limit := list.Budget
	if before != nil && before.Search && before.list.Presentation == config.PresentationAuto {
		limit = limit * backBelow / 100
	}
	p.cost = costOf(tools, limit)
	exceeds := p.cost.tokens > limit
	switch list.Presentation {
	case config.PresentationSearch:
		p.Search, p.Reason = true, "configured"
	case config.PresentationAll:
		p.Reason = "configured"
		if exceeds {
			p.OverBudget, p.Reason = true, fmt.Sprintf("configured, although all tools cost %v, more than %d (list_budget)", p.cost, limit)
		}
	case config.PresentationAuto:
		p.Search, p.Reason = exceeds, fmt.Sprintf("all tools cost at most %d tokens", limit)
		if exceeds {
			p.Reason = fmt.Sprintf("all tools cost %v, more than %d", p.cost, limit)
		}
	}
	return p
}

// String returns the presentation as the configuration names it.
func (p *Presentation) String() string {
	if p.Search {
		return string(config.PresentationSearch)
	}
	return string(config.PresentationAll)
}

// ToolList describes what the list of tools of an endpoint shows, for operators.
type ToolList struct {
	Endpoint     string `json:"endpoint"` // its path
	Tools        int    `json:"tools"`    // of the endpoint
	Presentation string `json:"presentation"`
	Reason       string `json:"reason"`
	Pinned       int    `json:"pinned,omitempty"` // tools that are listed with search, too
	// Tokens is what the list costs a client. It is an estimate if the list is over its budget.
	Tokens int `json:"tokens"`
	// OverBudget reports whether all tools are listed although they cost more than the budget.
	OverBudget bool `json:"over_budget,omitempty"`
}

// Lists describes the lists of all endpoints, that of /mcp first.
func (t *Table) Lists() []ToolList {
	var all []ToolList
	for _, name := range append([]string{""}, slices.Sorted(maps.Keys(t.Named))...) {
		if e := t.Lookup(name); e != nil {
			p := e.Presentation
			tokens, pinned := p.cost.tokens, 0
			if p.Search {
				pinned = len(p.pinned)
				tokens = tokenizer.Count(toolsearch.Pages(catalog.AllFeatures, 0, p.pinned)[0])
			}
			all = append(all, ToolList{
				Endpoint: strings.TrimSuffix("/mcp/"+name, "/"), Tools: len(p.tools), Presentation: p.String(), Reason: p.Reason, Pinned: pinned,
				OverBudget: p.OverBudget, Tokens: tokens,
			})
		}
	}
	return all
}

// ReportLists reports to the metrics what the lists of tools cost, and logs what they show, where that differs from the
// endpoints served before.
func (t *Table) ReportLists(log *slog.Logger, metrics *telemetry.Metrics, before *Table) {
	was := map[string]ToolList{}
	for _, list := range before.Lists() {
		was[list.Endpoint] = list
	}
	tokens := map[string]int{}
	defer func() { metrics.SetLists(tokens) }()
	for _, list := range t.Lists() {
		tokens[list.Endpoint] = list.Tokens
		if old, known := was[list.Endpoint]; known && old.Presentation == list.Presentation && old.OverBudget == list.OverBudget {
			continue
		}
		level, message := slog.LevelInfo, "list of tools"
		if list.OverBudget {
			level, message = slog.LevelWarn, "list of tools costs more than its budget"
		}
		log.Log(context.Background(), level, message, "endpoint", list.Endpoint, "presentation", list.Presentation, "reason", list.Reason)
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
