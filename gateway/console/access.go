package console

import (
	"cmp"
	"context"
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
}

// scopeRow is a set of scopes, and the tools that ask for it.
type scopeRow struct {
	Scopes []string
	Tools  int
	APIs   []string
}

// access serves who may call what, by scopes.
func (c *Console) access(w http.ResponseWriter, r *http.Request) {
	c.render(w, r, c.accessData())
}

func (c *Console) accessData() accessData {
	a := c.o.Config().Auth
	d := accessData{Required: a != nil && !a.Anonymous}
	if set := c.o.Tools(); set != nil {
		d.Total, d.Scopes = len(set.All()), scopeRows(set)
	}
	return d
}

// scopeRows returns the sets of scopes that tools ask for, and how many do, the most first.
func scopeRows(set ToolSet) []scopeRow {
	rows := map[string]*scopeRow{}
	for _, t := range set.All() {
		for _, scopes := range set.Scopes(t) {
			key := strings.Join(scopes, " ")
			row := rows[key]
			if row == nil {
				row = &scopeRow{Scopes: scopes}
				rows[key] = row
			}
			row.Tools++
			if !slices.Contains(row.APIs, t.API) {
				row.APIs = append(row.APIs, t.API)
			}
		}
	}
	all := make([]scopeRow, 0, len(rows))
	for _, row := range rows {
		all = append(all, *row)
	}
	slices.SortFunc(all, func(a, b scopeRow) int {
		return cmp.Or(b.Tools-a.Tools, strings.Compare(strings.Join(a.Scopes, " "), strings.Join(b.Scopes, " ")))
	})
	return all
}

// explainToken serves what a token is, why it is refused, and which tools it may call. The token is not repeated on the page.
func (c *Console) explainToken(w http.ResponseWriter, r *http.Request) {
	d := c.accessData()
	d.Asked = true
	if token := r.PostFormValue("token"); strings.TrimSpace(token) != "" && d.Required {
		d.Token = c.o.Access.Explain(r.Context(), token)
	}
	if set := c.o.Tools(); set != nil && d.Token != nil && d.Token.Accepted {
		for _, t := range set.All() {
			if !c.o.Access.Allows(d.Token.Principal, set.Scopes(t)) {
				continue
			}
			if d.Count++; len(d.Callable) < callableShown {
				d.Callable = append(d.Callable, t)
			}
		}
	}
	c.render(w, r, d)
}

// more returns how many tools are not listed.
func (d accessData) more() int { return d.Count - len(d.Callable) }
