package tokenreport

import (
	"cmp"
	"slices"

	"drawbridge/gateway/catalog"
)

// Encoding is the name of the encoding in which tokens are counted.
const Encoding = "o200k_base"

// Report is the cost of a list of tools. Groups, tools and advice are sorted, the largest first.
type Report struct {
	Encoding string `json:"encoding"`
	Tools    int    `json:"tools"`
	Weights
	APIs   []Group  `json:"apis"`
	Tags   []Group  `json:"tags"` // a tool counts for each of its tags
	ByTool []Tool   `json:"by_tool"`
	Advice []Advice `json:"advice"`
}

// Group is the cost of the tools of an API, or of those with a tag of an API.
type Group struct {
	API   string  `json:"api"`
	Tag   *string `json:"tag,omitempty"` // nil for the whole API, "" for its tools without a tag
	Tools int     `json:"tools"`
	Weights
}

// Tool is the cost of one tool.
type Tool struct {
	Name string   `json:"name"`
	API  string   `json:"api"`
	Tags []string `json:"tags"`
	Weights
}

// New counts the tools of a list.
func New(tools []*catalog.Tool, o Options) *Report {
	r := &Report{Encoding: Encoding, Tools: len(tools), APIs: []Group{}, Tags: []Group{}, ByTool: []Tool{}, Advice: []Advice{}}
	apis, tags := map[string]*Group{}, map[tagKey]*Group{}
	advice := newAdviser()
	for _, t := range tools {
		d := takeApart(t)
		w := d.weights()
		r.Weights.add(w)
		group(apis, t.API, Group{API: t.API}).add(w)
		for _, tag := range tagsOf(t) {
			group(tags, tagKey{t.API, tag}, Group{API: t.API, Tag: &tag}).add(w)
		}
		r.ByTool = append(r.ByTool, Tool{t.Name, t.API, append([]string{}, t.Tags...), w})
		advice.consider(t, d, w)
	}
	r.APIs, r.Tags = sorted(apis), sorted(tags)
	slices.SortStableFunc(r.ByTool, func(a, b Tool) int { return cmp.Compare(b.Tokens, a.Tokens) }) // by name else
	r.Advice = advice.of(r, o)
	return r
}

type tagKey struct{ api, tag string }

// tagsOf returns the tags of a tool without repetitions, "" if it has none.
func tagsOf(t *catalog.Tool) []string {
	var tags []string
	for _, tag := range t.Tags {
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	if tags == nil {
		return []string{""}
	}
	return tags
}

// group returns the group with a key, after the first time the same one.
func group[K comparable](groups map[K]*Group, key K, first Group) *Group {
	if groups[key] == nil {
		groups[key] = &first
	}
	return groups[key]
}

func (g *Group) add(w Weights) {
	g.Tools++
	g.Weights.add(w)
}

func sorted[K comparable](groups map[K]*Group) []Group {
	all := make([]Group, 0, len(groups))
	for _, g := range groups {
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.API, b.API), cmp.Compare(a.tag(), b.tag()))
	})
	return all
}

func (g *Group) tag() string {
	if g.Tag == nil {
		return ""
	}
	return *g.Tag
}
