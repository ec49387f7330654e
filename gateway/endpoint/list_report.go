package endpoint

import (
	"context"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/tokenizer"
	"drawbridge/gateway/toolsearch"
)

// ToolList describes what the list of tools of an endpoint shows, for operators.
type ToolList struct {
	Endpoint     string `json:"endpoint"` // its path
	Tools        int    `json:"tools"`    // of the endpoint
	Presentation string `json:"presentation"`
	Reason       string `json:"reason"`
	Pinned       int    `json:"pinned,omitempty"` // tools that are listed with search, too
	// OverBudget reports whether all tools are listed although they cost more than the budget.
	OverBudget bool `json:"over_budget,omitempty"`
}

// names returns the names of the endpoints that are served, that of /mcp first.
func (t *Table) names() []string {
	if t.Main == nil {
		return nil
	}
	return append([]string{""}, slices.Sorted(maps.Keys(t.Named))...)
}

// pathOf returns the path of an endpoint.
func pathOf(name string) string { return strings.TrimSuffix("/mcp/"+name, "/") }

// Lists describes the lists of all endpoints, that of /mcp first.
func (t *Table) Lists() []ToolList {
	var all []ToolList
	for _, name := range t.names() {
		p := t.Lookup(name).Presentation
		list := ToolList{Endpoint: pathOf(name), Tools: len(p.tools), Presentation: p.String(), Reason: p.Reason, OverBudget: p.OverBudget}
		if p.Search {
			list.Pinned = len(p.pinned)
		}
		all = append(all, list)
	}
	return all
}

// ReportLists reports to the metrics what the lists of tools cost, and logs what they show, where that differs from the
// endpoints served before.
func (t *Table) ReportLists(log *slog.Logger, metrics *telemetry.Metrics, before *Table) {
	tokens := map[string]func() int{}
	for _, name := range t.names() {
		tokens[pathOf(name)] = sync.OnceValue(t.Lookup(name).Presentation.tokens)
	}
	metrics.SetLists(tokens)
	was := map[string]ToolList{}
	for _, list := range before.Lists() {
		was[list.Endpoint] = list
	}
	for _, list := range t.Lists() {
		if old, known := was[list.Endpoint]; known && old.Presentation == list.Presentation && old.OverBudget == list.OverBudget {
			continue
		}
		level := slog.LevelInfo
		if list.OverBudget {
			level = slog.LevelWarn
		}
		log.LogAttrs(context.Background(), level, "list of tools", slog.String("endpoint", list.Endpoint), slog.String("presentation", list.Presentation), slog.String("reason", list.Reason))
	}
}

// Searches reports whether clients of an endpoint find tools by searching, unless they choose otherwise.
func (t *Table) Searches() bool {
	return slices.ContainsFunc(t.names(), func(name string) bool { return t.Lookup(name).Presentation.Search })
}

// SearchList returns the definitions that /mcp would list in search mode, as a JSON array; nil if it does.
func (t *Table) SearchList() []byte {
	if t.Main == nil || t.Main.Presentation.Search {
		return nil
	}
	return t.Main.Presentation.searchList()
}

// tokens returns what the list costs a client, extrapolated if it is over its budget.
func (p *Presentation) tokens() int {
	if p.Search {
		return tokenizer.Count(p.searchList())
	}
	return estimate(p.tools, p.list.Budget)
}

// searchList returns the definitions that the list has in search mode, for a caller that may call all tools.
func (p *Presentation) searchList() []byte {
	all := func(*catalog.Tool) bool { return true }
	return catalog.PagesOf(toolsearch.Listed(toolsearch.APIsOf(p.tools, all, p.titles), p.pinned), catalog.AllFeatures, 0)[0]
}

// estimate returns the tokens of definitions. It counts them as far as a limit and extrapolates the rest by the bytes.
func estimate(tools []*catalog.Tool, limit int) int {
	n, counted, bytes := 0, 0, 0
	// Neighbours are alike, so tools from everywhere are counted first, in an order that is the same at each call.
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(tools)) {
		t := tools[i]
		bytes += t.Bytes()
		if n <= limit {
			n += t.Tokens()
			counted = bytes
		}
	}
	if counted == bytes {
		return n
	}
	return int(float64(n) * float64(bytes) / float64(counted))
}
