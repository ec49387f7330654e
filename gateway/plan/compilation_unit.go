package plan

import (
	"slices"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// unit is the reusable result of the compilation of one document, with the inputs on which it depends. It depends on other
// documents only by the names of tools, their approval, and the number of tools, which limits labels of metrics. Services come
// and go while they are discovered: the plans of the others are reused.
type unit struct {
	config   *config.Config // without discovered services
	scopes   []string       // [Options].DefaultScopes
	document *source.Document
	entry    string // of the configuration
	name     string // of the API
	former   string // name of the API in the previous release
	choices  []choice
	plans    []*Plan
	unfit    map[*openapi.Operation]string // see [Set].Unfit
	rejected *Rejected                     // nil if all settings were applied
}

// choice holds the settings of an operation for the catalog; exposed reports whether it becomes a tool.
type choice struct {
	catalog.Choice
	exposed bool
}

// units maps sources to their units.
type units map[*source.Source]*unit

// keptUnits returns the units of an earlier compilation that can be reused.
func keptUnits(o *Options) units {
	kept := units{}
	if o.Before == nil {
		return kept
	}
	for _, s := range o.APIs.Sources {
		if u := o.Before.units[s]; u != nil && u.isOf(o, s) {
			kept[s] = u
		}
	}
	return kept
}

// isOf reports whether compiling the source again would have the same result, apart from the names of its tools.
func (u *unit) isOf(o *Options, s *source.Source) bool {
	return u.document == s.Document && u.entry == o.APIs.Entries[s] && u.name == s.Name && u.former == s.FormerName &&
		u.config == o.Config.WithoutServices() && slices.Equal(u.scopes, o.DefaultScopes)
}

// newUnit returns the unit of a source that was compiled. It is nil if the result can't be reused: settings of resources and of
// results are also compared with those of other documents.
func newUnit(o *Options, s *source.Source, candidates candidates, set *Set) *unit {
	if s.Document == nil {
		return nil
	}
	u := &unit{
		config: o.Config.WithoutServices(), scopes: o.DefaultScopes, document: s.Document, entry: o.APIs.Entries[s], name: s.Name, former: s.FormerName,
		rejected: set.Rejected[s.Name], unfit: map[*openapi.Operation]string{},
	}
	for _, op := range s.Document.API.Operations {
		if reason, ok := set.Unfit[op]; ok {
			u.unfit[op] = reason
		}
		c := candidates[op]
		if c == nil {
			u.choices = append(u.choices, choice{})
			continue
		}
		p := set.ByOperation[op]
		if p == nil || c.settings.Resource.On() || c.settings.Result.On() {
			return nil
		}
		u.choices = append(u.choices, choice{c.choice(), true})
		u.plans = append(u.plans, p)
	}
	return u
}

// others returns the sources that have no unit.
func (us units) others(sources []*source.Source) (others []*source.Source) {
	for _, s := range sources {
		if us[s] == nil {
			others = append(others, s)
		}
	}
	return others
}

// drop removes the units whose tools differ from those of a catalog, and returns their sources.
func (us units) drop(tools *catalog.Catalog) (dropped []*source.Source) {
	if len(us) == 0 {
		return nil
	}
	number := make(map[*catalog.Tool]int, len(tools.All()))
	for n, t := range tools.All() {
		number[t] = n
	}
	for s, u := range us {
		if slices.ContainsFunc(u.plans, func(p *Plan) bool {
			n, ok := number[p.Tool]
			return !ok || hasOwnLabel(n) != hasOwnLabel(p.number)
		}) {
			dropped = append(dropped, s)
			delete(us, s)
		}
	}
	return dropped
}

// api returns the API of a unit for the catalog.
func (u *unit) api(s *source.Source) catalog.API {
	tools := make(map[*openapi.Operation]*catalog.Tool, len(u.plans))
	for _, p := range u.plans {
		tools[p.Operation] = p.Tool
	}
	next := 0
	return catalog.API{
		Name: s.Name, Former: s.FormerName, Yields: s.YieldsName(), Operations: s.Document.API.Operations,
		Choose: func(*openapi.Operation) (catalog.Choice, bool) {
			next++
			return u.choices[next-1].Choice, u.choices[next-1].exposed
		},
		Before: func(op *openapi.Operation) *catalog.Tool { return tools[op] },
	}
}
