package console

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"drawbridge/auth"
	"drawbridge/gateway/catalog"
)

// Tokens examines tokens, as requests with them would be.
type Tokens interface {
	// Explain returns what a token is; nil if no token is required here. Nothing of it is kept.
	Explain(ctx context.Context, token string) *auth.Explanation
	// Allows reports whether a caller has one of the sets of scopes of a tool.
	Allows(p *auth.Principal, sets [][]string) bool
}

// callableShown is the most tools that are listed for a token.
const callableShown = 200

// accessData is what the page of access shows.
type accessData struct {
	Required bool // a token is required
	Asked    bool // a token was given
	Token    *auth.Explanation
	Callable []*catalog.Tool // the first of the tools that the token may call
	Count    int             // of these tools
	Total    int             // of all tools
	Scopes   []scopeRow
	groups   []*toolGroup
}

// scopeRow is a set of scopes, and the tools that a token with exactly these may call.
type scopeRow struct {
	Scopes []string
	Tools  int
	APIs   []string
}

// access serves the tools that tokens may call, by scopes.
func (c *Console) access(w http.ResponseWriter, r *http.Request) {
	c.render(w, r, c.accessData())
}

func (c *Console) accessData() accessData {
	a := c.o.Config().Auth
	d := accessData{Required: a != nil && !a.Anonymous}
	if set := c.o.Tools(); set != nil {
		d.groups = groupsOf(set)
		d.Total, d.Scopes = len(set.All()), c.scopeRows(d.groups)
	}
	return d
}

// toolGroup is the tools that require the same scopes.
type toolGroup struct {
	sets  [][]string
	tools []*catalog.Tool
}

// groupsOf returns the tools by the scopes that they require: there are few groups, however many tools there are.
func groupsOf(set ToolSet) []*toolGroup {
	groups, byKey := []*toolGroup(nil), map[string]*toolGroup{}
	for _, t := range set.All() {
		sets := set.Scopes(t)
		key := fmt.Sprintf("%q", sets)
		g := byKey[key]
		if g == nil {
			g = &toolGroup{sets: sets}
			byKey[key], groups = g, append(groups, g)
		}
		g.tools = append(g.tools, t)
	}
	return groups
}

// callable returns the groups of tools that a caller may call by its scopes, and how many tools these are. Every count of the page is
// its result.
func (c *Console) callable(groups []*toolGroup, p *auth.Principal) (allowed []*toolGroup, tools int) {
	for _, g := range groups {
		if c.o.Access.Allows(p, g.sets) {
			allowed, tools = append(allowed, g), tools+len(g.tools)
		}
	}
	return allowed, tools
}

// scopeRows returns the sets of scopes that tools require and the scopes that imply others, with the tools that a token with these scopes
// may call, the most first.
func (c *Console) scopeRows(groups []*toolGroup) []scopeRow {
	var sets [][]string
	for _, g := range groups {
		sets = append(sets, g.sets...)
	}
	if a := c.o.Config().Auth; a != nil {
		for scope := range a.Implies {
			sets = append(sets, []string{scope})
		}
	}
	slices.SortFunc(sets, slices.Compare)
	var rows []scopeRow
	for _, scopes := range slices.CompactFunc(sets, slices.Equal) {
		allowed, tools := c.callable(groups, &auth.Principal{Scopes: scopes})
		if tools == 0 {
			continue
		}
		apis := map[string]bool{}
		for _, g := range allowed {
			for _, t := range g.tools {
				apis[t.API] = true
			}
		}
		rows = append(rows, scopeRow{scopes, tools, slices.Sorted(maps.Keys(apis))})
	}
	slices.SortStableFunc(rows, func(a, b scopeRow) int { return b.Tools - a.Tools })
	return rows
}

// explainToken serves what a token is, why it is refused, and which tools it may call. The token is not repeated on the page.
func (c *Console) explainToken(w http.ResponseWriter, r *http.Request) {
	d := c.accessData()
	d.Asked = true
	if token := r.PostFormValue("token"); strings.TrimSpace(token) != "" && d.Required {
		d.Token = c.o.Access.Explain(r.Context(), token)
	}
	if d.Token != nil && d.Token.Accepted {
		allowed, count := c.callable(d.groups, d.Token.Principal)
		d.Count = count
		for _, g := range allowed {
			d.Callable = append(d.Callable, g.tools...)
		}
		slices.SortFunc(d.Callable, func(a, b *catalog.Tool) int { return strings.Compare(a.Name, b.Name) })
		d.Callable = d.Callable[:min(len(d.Callable), callableShown)]
	}
	c.render(w, r, d)
}
