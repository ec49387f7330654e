package toolsearch

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/finder"
	"drawbridge/openapi/text"
)

// Scope is what one caller may find.
type Scope struct {
	// Tools are all tools that are served, in the order in which Index has them.
	Tools []*catalog.Tool
	// Index finds tools by words. It is called only if something is looked for.
	Index func() *finder.Index
	// Find, if not nil, finds the tools for search_tools instead of Index.
	Find func(ctx context.Context, q finder.Query) finder.Result
	// Views, if not nil, has what callers see of Index, by which the tools are ranked. Granted are the permissions of the caller, which can
	// be compared, and Shown reports whether they let it see a tool.
	Views   *Views
	Granted any
	Shown   func(*catalog.Tool) bool
	// Allowed reports whether the caller may find a tool.
	Allowed func(*catalog.Tool) bool
}

// query returns the query for tools that fit a text and a filter. A nil filter lets all pass.
func (s *Scope) query(text string, limit int, filter func(*catalog.Tool) bool) finder.Query {
	q := finder.Query{Text: text, Limit: limit, Allowed: func(i int) bool {
		t := s.Tools[i]
		return s.Allowed(t) && (filter == nil || filter(t))
	}}
	if s.Views != nil {
		q.View = s.Views.of(s.Index(), s.Granted, s.Tools, s.Shown)
	}
	return q
}

// find returns the tools that fit a text and a filter, the best first.
func (s *Scope) find(ctx context.Context, text string, limit int, filter func(*catalog.Tool) bool) finder.Result {
	q := s.query(text, limit, filter)
	if s.Find == nil {
		return s.Index().Search(q)
	}
	return s.Find(ctx, q)
}

// byWords returns the tools that fit a text and a filter by words alone.
func (s *Scope) byWords(text string, limit int, filter func(*catalog.Tool) bool) finder.Result {
	return s.Index().Search(s.query(text, limit, filter))
}

// lookup returns the tool of that name, nil if the caller may not find it.
func (s *Scope) lookup(name string) *catalog.Tool {
	i, ok := slices.BinarySearchFunc(s.Tools, name, func(t *catalog.Tool, name string) int { return strings.Compare(t.Name, name) })
	if !ok || !s.Allowed(s.Tools[i]) {
		return nil
	}
	return s.Tools[i]
}

// count is how many tools there are of an API or a tag.
type count struct {
	Name  string
	Tools int
}

// counts returns the names that of returns for the tools, with the most frequent first.
func (s *Scope) counts(of func(*catalog.Tool) []string) []count {
	tools := map[string]int{}
	for _, t := range s.Tools {
		if s.Allowed(t) {
			for _, name := range of(t) {
				tools[name]++
			}
		}
	}
	all := make([]count, 0, len(tools))
	for name, n := range tools {
		all = append(all, count{name, n})
	}
	slices.SortFunc(all, func(a, b count) int { return cmp.Or(cmp.Compare(b.Tools, a.Tools), strings.Compare(a.Name, b.Name)) })
	return all
}

func apiOf(t *catalog.Tool) []string  { return []string{t.API} }
func tagsOf(t *catalog.Tool) []string { return t.Tags }

// nearest moves the names that share a word with a text to the front.
func nearest(all []count, text string) []count {
	var words []string
	for _, word := range strings.Fields(strings.ToLower(text)) {
		if len(word) > 2 {
			words = append(words, strings.TrimSuffix(word, "s"))
		}
	}
	far := func(c count) int {
		name := strings.ToLower(c.Name)
		if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) }) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b count) int { return cmp.Compare(far(a), far(b)) })
	return all
}

// list writes names with their numbers of tools, cut at limit.
func list(all []count, limit int) string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = oneLine(c.Name) + " (" + strconv.Itoa(c.Tools) + ")"
	}
	return text.List(names, limit)
}

// Unknown returns the text for a model that has named a tool that does not exist or that the caller may not find.
func (s *Scope) Unknown(name string) string {
	text := "There is no tool " + strconv.Quote(text.Truncate(name, 128)) + "."
	var names []string
	for _, hit := range s.byWords(name, 5, nil).Hits { // because a call waits for it
		names = append(names, s.Tools[hit.Tool].Name)
	}
	if len(names) > 0 {
		text += " The nearest names are " + strings.Join(names, ", ") + "."
	}
	return text + " Find others with " + Search + "."
}

// Target is the tool that a call of read_tool or call_tool names.
type Target struct {
	Name      string
	Arguments json.RawMessage // nil if there are none
	Select    json.RawMessage // the fields of the answer that the model wants; nil if it wants all
}

// TargetOf returns the target of a call with these arguments. The error is an [*ArgumentError]; the target has its name even then, if
// there is one.
func TargetOf(args json.RawMessage) (t Target, err error) {
	a := newArguments(args)
	t.Name = a.text("name", true)
	t.Arguments = a.nested("arguments")
	t.Select = a.value("select")
	return t, a.err()
}

func newArguments(object []byte) *arguments { return &arguments{object: object} }
