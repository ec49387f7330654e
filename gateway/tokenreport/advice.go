package tokenreport

import (
	"cmp"
	"fmt"
	"slices"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// Measure is a change that makes a list cheaper.
type Measure string

// The measures.
const (
	OutputSchemasOff          Measure = "output_schemas_off"
	PortableProfile           Measure = "portable_profile"
	ExcludeTag                Measure = "exclude_tag"
	ExcludeDeprecated         Measure = "exclude_deprecated"
	ShortenDescriptions       Measure = "shorten_descriptions"
	ShortenSchemaDescriptions Measure = "shorten_schema_descriptions"
	SearchMode                Measure = "search_mode"
)

const (
	// shortDescription and shortSchemaDescription are the characters to which the measures shorten
	// texts.
	shortDescription       = 200
	shortSchemaDescription = 100
	// tagsOfAPI is the number of tags of an API whose exclusion is proposed.
	tagsOfAPI = 3
	// leastShare of the whole in per mille is what a measure has to save to be proposed.
	leastShare = 10
)

// Advice is a measure with what it saves.
type Advice struct {
	Measure Measure `json:"measure"`
	API     string  `json:"api,omitempty"` // "" for all
	Tag     string  `json:"tag,omitempty"`
	Setting string  `json:"setting"` // of the configuration
	Tools   int     `json:"tools"`   // that are changed, or leave the list
	Saves   int     `json:"saves"`   // tokens
}

// Options are what a report needs besides the tools.
type Options struct {
	// SearchList is the list of tools in search mode, as a JSON array. Without it, search mode is not
	// proposed.
	SearchList []byte
}

// adviser adds up what measures save.
type adviser struct{ measures map[measureOf]*Advice }

type measureOf struct {
	measure Measure
	api     string
}

func newAdviser() *adviser { return &adviser{map[measureOf]*Advice{}} }

// consider adds what each measure saves for one tool.
func (a *adviser) consider(t *catalog.Tool, d definition, w Weights) {
	a.add(t.API, OutputSchemasOff, "output_schemas: off", w.OutputSchema)
	portable := catalog.AllFeatures
	portable.Profile = openapi.ProfilePortable
	a.add(t.API, PortableProfile, "schema_profile: portable", d.lessThan(t.Definition(portable)))
	if t.Deprecated {
		a.add(t.API, ExcludeDeprecated, "tools: {exclude: [{deprecated: true}]}", w.Tokens)
	}
	a.add(t.API, ShortenDescriptions, fmt.Sprintf("rules: set: {description: …} of at most %d characters", shortDescription),
		d.less(func(key string, value []byte) []byte {
			if key == "description" {
				return shortened(value, shortDescription)
			}
			return value
		}))
	a.add(t.API, ShortenSchemaDescriptions, fmt.Sprintf("overlays: descriptions in schemas of at most %d characters", shortSchemaDescription),
		d.lessInSchemas(schemaEdit{description: func(str []byte) []byte { return shortened(str, shortSchemaDescription) }}))
}

// shortened returns a JSON string of at most limit characters.
func shortened(str []byte, limit int) []byte {
	if len(str) <= limit {
		return str
	}
	return jsonscan.AppendString(nil, text.TruncateWords(string(jsonscan.Unquote(str)), limit))
}

func (a *adviser) add(api string, m Measure, setting string, saves int) {
	if saves <= 0 {
		return
	}
	key := measureOf{m, api}
	if a.measures[key] == nil {
		a.measures[key] = &Advice{Measure: m, API: api, Setting: setting}
	}
	a.measures[key].Tools++
	a.measures[key].Saves += saves
}

// of returns the measures that are worth it, the best first.
func (a *adviser) of(r *Report, o Options) []Advice {
	all := []Advice{}
	for _, measure := range a.measures {
		all = append(all, *measure)
	}
	all = append(all, tagAdvice(r)...)
	if o.SearchList != nil {
		all = append(all, Advice{Measure: SearchMode, Setting: "tools: {presentation: search}", Tools: r.Tools, Saves: r.Tokens - tokenizer.Count(o.SearchList)})
	}
	all = slices.DeleteFunc(all, func(a Advice) bool { return a.Saves <= 0 || a.Saves*1000 < r.Tokens*leastShare })
	slices.SortFunc(all, func(a, b Advice) int {
		return cmp.Or(cmp.Compare(b.Saves, a.Saves), cmp.Compare(a.API, b.API), cmp.Compare(a.Measure, b.Measure), cmp.Compare(a.Tag, b.Tag))
	})
	return all
}

// tagAdvice proposes to exclude the largest tags of each API that don't have all of its tools.
func tagAdvice(r *Report) (all []Advice) {
	whole, proposed := map[string]int{}, map[string]int{}
	for _, api := range r.APIs {
		whole[api.API] = api.Tools
	}
	for _, g := range r.Tags {
		if g.tag() == "" || g.Tools == whole[g.API] || proposed[g.API] == tagsOfAPI {
			continue
		}
		proposed[g.API]++
		setting := string(jsonscan.AppendString([]byte("tools: {exclude: [{tag: "), g.tag())) + "}]}"
		all = append(all, Advice{Measure: ExcludeTag, API: g.API, Tag: g.tag(), Setting: setting, Tools: g.Tools, Saves: g.Tokens})
	}
	return all
}
