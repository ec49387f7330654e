package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"drawbridge/auth"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi"
	"drawbridge/openapi/text"
)

// toolsPerPage is the number of tools on a page, and the most hits of a search.
const toolsPerPage = 50

// ToolSet is the tools that are served at one moment.
type ToolSet interface {
	// All returns all tools by name. The slice must not be modified.
	All() []*catalog.Tool
	// Lookup returns the tool of a name; nil if there is none.
	Lookup(name string) *catalog.Tool
	// Find returns the tools that fit a query in words, the best first, as search_tools does.
	Find(ctx context.Context, query string, limit int, allowed func(*catalog.Tool) bool) []*catalog.Tool
	// Fate tells whether a tool is as its document has it.
	Fate(*catalog.Tool) admin.Fate
	// Scopes returns the sets of scopes of a tool, of which a token must have one; nil if no token is required.
	Scopes(*catalog.Tool) [][]string
	// Access returns what a call of a tool requires, and how it reaches its service.
	Access(*catalog.Tool) *admin.ToolAccess
}

// toolFilter is what the page of tools shows. Empty fields let all pass.
type toolFilter struct {
	Query, API, Tag, Scope string
	Fate                   admin.Fate
	// Granted are the scopes of a token that may call the tools, if ByGrant is set: it may have none.
	Granted string
	ByGrant bool
}

func newToolFilter(q url.Values) toolFilter {
	return toolFilter{
		Query: strings.TrimSpace(q.Get("q")), API: q.Get("api"), Tag: q.Get("tag"), Scope: q.Get("scope"), Fate: admin.Fate(q.Get("fate")),
		Granted: q.Get("granted"), ByGrant: q.Has("granted"),
	}
}

// has reports whether a tool passes the filter, apart from the query.
func (f *toolFilter) has(s ToolSet, tokens Tokens, t *catalog.Tool) bool {
	if f.ByGrant && !tokens.Allows(&auth.Principal{Scopes: strings.Fields(f.Granted)}, s.Scopes(t)) {
		return false
	}
	return (f.API == "" || t.API == f.API) && (f.Tag == "" || slices.Contains(t.Tags, f.Tag)) &&
		(f.Fate == "" || s.Fate(t) == f.Fate) && (f.Scope == "" || hasScope(s.Scopes(t), f.Scope))
}

func hasScope(sets [][]string, scope string) bool {
	return slices.ContainsFunc(sets, func(set []string) bool { return slices.Contains(set, scope) })
}

// toolsData is what the page of tools shows.
type toolsData struct {
	Filter  toolFilter
	Rows    []toolRow
	Total   int     // tools that are served
	Sorting sorting // of the tools; zero for the hits of a search, the best of which is first
	Pages   pageLinks
	APIs    []string
}

// toolColumns are the columns by which tools can be sorted.
var toolColumns = map[string]func(a, b *catalog.Tool) int{
	"name": func(a, b *catalog.Tool) int { return strings.Compare(a.Name, b.Name) },
	"operation": func(a, b *catalog.Tool) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Method, b.Method))
	},
	"api":  func(a, b *catalog.Tool) int { return strings.Compare(a.API, b.API) },
	"size": func(a, b *catalog.Tool) int { return a.Bytes() - b.Bytes() },
}

// toolRow is a tool in a list.
type toolRow struct {
	*catalog.Tool
	Fate admin.Fate
	Line string // the beginning of its description
}

func (c *Console) tools(w http.ResponseWriter, r *http.Request) {
	d := toolsData{Filter: newToolFilter(r.URL.Query())}
	if set := c.o.Tools(); set != nil {
		all := set.All()
		d.Total = len(all)
		allowed := func(t *catalog.Tool) bool { return d.Filter.has(set, c.o.Access, t) }
		found, links := []*catalog.Tool(nil), pageLinks{}
		if d.Filter.Query != "" {
			found = search(r.Context(), set, d.Filter.Query, allowed)
		} else {
			for _, t := range all {
				if allowed(t) {
					found = append(found, t)
				}
			}
			d.Sorting = sortedBy(r.URL, found, "name", toolColumns)
			var from, to int
			from, to, links = paged(r.URL, len(found), toolsPerPage)
			found = found[from:to]
		}
		d.Pages = links
		d.Rows = rowsOf(set, found)
	}
	for _, api := range c.o.Gateway.Status().APIs {
		d.APIs = append(d.APIs, api.Name)
	}
	c.render(w, r, d)
}

// rowsOf returns the rows of tools.
func rowsOf(set ToolSet, tools []*catalog.Tool) (rows []toolRow) {
	for _, t := range tools {
		rows = append(rows, toolRow{t, set.Fate(t), firstLine(t.Description)})
	}
	return rows
}

// search returns the best tools for a query: a name, a purpose in words, or a part of a name.
func search(ctx context.Context, set ToolSet, query string, allowed func(*catalog.Tool) bool) []*catalog.Tool {
	found := byName(set, query, allowed, set.Find(ctx, query, toolsPerPage, allowed))
	if len(found) == 0 {
		found = containing(set.All(), query, allowed)
	}
	return found
}

// byName puts the tool whose name is the query first.
func byName(set ToolSet, query string, allowed func(*catalog.Tool) bool, found []*catalog.Tool) []*catalog.Tool {
	t := set.Lookup(query)
	if t == nil || !allowed(t) {
		return found
	}
	return append([]*catalog.Tool{t}, slices.DeleteFunc(found, func(other *catalog.Tool) bool { return other == t })...)
}

// containing returns the first tools whose names contain a text, which may be a part of a word: the beginning of what is typed.
func containing(all []*catalog.Tool, text string, allowed func(*catalog.Tool) bool) (found []*catalog.Tool) {
	text = strings.ToLower(text)
	for _, t := range all {
		if strings.Contains(strings.ToLower(t.Name), text) && allowed(t) {
			if found = append(found, t); len(found) == toolsPerPage {
				break
			}
		}
	}
	return found
}

// firstLine returns the beginning of a description, for a list.
func firstLine(description string) string {
	line, _, _ := strings.Cut(description, "\n")
	return text.TruncateRunes(line, 160)
}

// toolData is what the page of a tool shows.
type toolData struct {
	Tool       *catalog.Tool
	Fate       admin.Fate
	Access     *admin.ToolAccess
	Tokens     int
	Signature  string
	Definition string // indented JSON
	Revision   string
	Portable   bool
	Revisions  []string
}

// tool serves the page of a tool: its definition as clients of a revision see it, and what a call requires.
func (c *Console) tool(w http.ResponseWriter, r *http.Request) {
	set := c.o.Tools()
	var t *catalog.Tool
	if set != nil {
		t = set.Lookup(r.PathValue("name"))
	}
	if t == nil {
		c.fail(w, r, http.StatusNotFound, "There is no tool of that name. It may have gone with its document.")
		return
	}
	revisions := mcp.Revisions()
	q := r.URL.Query()
	d := toolData{
		Tool: t, Fate: set.Fate(t), Access: set.Access(t), Tokens: t.Tokens(), Signature: t.Signature(), Revisions: revisions,
		Revision: revisions[0], Portable: q.Get("profile") == "portable",
	}
	if slices.Contains(revisions, q.Get("revision")) {
		d.Revision = q.Get("revision")
	}
	features := catalog.FeaturesOf(d.Revision)
	if d.Portable {
		features.Profile = openapi.ProfilePortable
	}
	d.Definition = indented(t.Definition(features))
	c.render(w, r, d)
}

// indented returns JSON for people.
func indented(text []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return string(text)
	}
	return b.String()
}
