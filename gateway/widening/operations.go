package widening

import (
	"fmt"
	"reflect"
	"slices"

	"drawbridge/config"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
	"drawbridge/openapi/httpmethod"
	"drawbridge/openapi/truncate"
)

// Served is a configuration in use with the documents of its APIs.
type Served struct {
	Config *config.Config
	APIs   *source.Set
}

// WiderIn lists where a configuration grants more access than the one that is served: per operation where documents are
// known, and otherwise by comparing the two configurations. before is what the one that is served grants.
func (d Served) WiderIn(before *Summary, c *config.Config) []string {
	documents := make([]*Document, len(c.APIs))
	var opens []string
	for i, sources := range d.documentsOf(c) {
		if len(sources) == 0 {
			continue
		}
		of := &Document{Was: sources[0].Name, Is: sources[0].NameUnder(&c.APIs[i]), Opened: map[string][]config.Subject{}}
		documents[i] = of
		for _, s := range sources {
			opens = append(opens, d.operationsOpened(c, s, &c.APIs[i], of)...)
		}
	}
	return slices.Concat(Wider(before, Of(c, before), func(i int) *Document {
		if i >= len(documents) { // what the APIs of a provider have in common
			return nil
		}
		return documents[i]
	}), opens)
}

// documentsOf returns, for each API of another configuration, the sources that know its document and to which it is
// compared: the source that it succeeds, else all sources of that document.
func (d Served) documentsOf(c *config.Config) [][]*source.Source {
	var old, next []*config.API
	for _, s := range d.APIs.Sources {
		old = append(old, &s.Config)
	}
	for i := range c.APIs {
		next = append(next, &c.APIs[i])
	}
	sameSpec := func(o, n *config.API) bool { return o.Spec == n.Spec }
	succeeds, _ := Pair(old, next, func(o, n *config.API) bool { return reflect.DeepEqual(o, n) },
		func(o, n *config.API) bool { return sameSpec(o, n) && o.Name == n.Name }, sameSpec)
	sources := make([][]*source.Source, len(next))
	for i, at := range succeeds {
		for j, s := range d.APIs.Sources {
			if (j == at || at < 0 && sameSpec(old[j], next[i])) && len(s.Documents()) > 0 {
				sources[i] = append(sources[i], s)
			}
		}
	}
	return sources
}

// operationsOpened lists the access to operations that another configuration grants beyond the current one, for the
// document in use and for the one in quarantine, which may be accepted next. It records the operations in of.
func (d Served) operationsOpened(after *config.Config, s *source.Source, api *config.API, of *Document) []string {
	opens := map[string][]string{}
	var order []string
	for _, document := range s.Documents() {
		was := permissions{c: d.Config, api: &s.Config, document: document, name: s.Name}
		is := permissions{c: after, api: api, document: document, name: s.NameUnder(api)}
		for _, op := range document.API.Operations {
			of.Operations = append(of.Operations, source.Subject(of.Is, op))
			for _, what := range is.opened(&was, op) {
				if opens[what] == nil {
					order = append(order, what)
				}
				if key := op.Method + " " + op.Path; !slices.Contains(opens[what], key) {
					opens[what] = append(opens[what], key)
					of.Opened[what] = append(of.Opened[what], source.Subject(of.Is, op))
				}
			}
		}
	}
	var lines []string
	for _, what := range order {
		lines = append(lines, fmt.Sprintf("apis: %s: %s of %s", s.Name, what, truncate.List(opens[what], 5)))
	}
	return lines
}

// permissions evaluates the access to the operations of a document under one configuration.
type permissions struct {
	c        *config.Config
	api      *config.API
	document *source.Document
	name     string
}

// opened lists the restrictions of the operation that are weaker than in was.
func (v *permissions) opened(was *permissions, op *openapi.Operation) (what []string) {
	subject, before := source.Subject(v.name, op), source.Subject(was.name, op)
	subject.Claimed, before.Claimed = v.api.Claimed(), was.api.Claimed()
	if !v.api.Exposes(subject) {
		return nil
	}
	if !was.api.Exposes(before) {
		return []string{LetThrough}
	}
	set, old := v.c.Settings(subject, v.own(op)), was.c.Settings(before, was.own(op))
	when := func(opens bool, line string) {
		if opens {
			what = append(what, line)
		}
	}
	if guarded(was.c) && guarded(v.c) {
		when(v.needsFewerScopes(was, op, subject, before, set, old), FewerScopes)
		when(old.Condition != "" && set.Condition != old.Condition, OtherCondition)
	}
	asks, asked := plan.NewConsent(v.c, set, !httpmethod.IsSafe(op.Method)), plan.NewConsent(was.c, old, !httpmethod.IsSafe(op.Method))
	when(asked.Needed && !asks.Needed, NoConsent)
	given := Asked(set.Inputs)
	when(slices.ContainsFunc(Asked(old.Inputs), func(name string) bool { return !slices.Contains(given, name) }), NotAsked)
	when(!contains(Fixed(set.Arguments), Fixed(old.Arguments)), NotFixed)
	hidden := Hidden(set.SensitiveFields)
	when(slices.ContainsFunc(Hidden(old.SensitiveFields), func(f string) bool { return !slices.Contains(hidden, f) }), LessHidden)
	when(set.Cache.On() && set.Cache.Shared && (!old.Cache.On() || !old.Cache.Shared), SharedAnswers)
	calls := JobCalls(old.Job)
	when(slices.ContainsFunc(JobCalls(set.Job), func(call string) bool { return !slices.Contains(calls, call) }), MoreJobs)
	return what
}

// own returns the settings that a trusted document declares for the operation.
func (v *permissions) own(op *openapi.Operation) config.Settings {
	if !v.api.TrustExtensions {
		return config.Settings{}
	}
	return v.document.Extensions.Settings[op]
}

func guarded(c *config.Config) bool { return c.Auth != nil && !c.Auth.Anonymous }

// needsFewerScopes reports whether a caller needs fewer scopes for the operation at any endpoint than before. An
// operation that is new at an endpoint is compared with its scopes at /mcp.
func (v *permissions) needsFewerScopes(was *permissions, op *openapi.Operation, subject, before config.Subject, set, old config.Settings) bool {
	needed := func(of *permissions, set config.Settings, defaults []string) [][]string {
		var all [][]string
		for _, scopes := range of.document.Scopes(op, of.api, set, of.c.Auth.DefaultScopes) {
			if len(scopes) == 0 {
				scopes = defaults
			}
			all = append(all, scopes)
		}
		return all
	}
	fewer := func(defaults, were []string) bool {
		earlier := needed(was, old, were)
		return slices.ContainsFunc(needed(v, set, defaults), func(scopes []string) bool {
			return !slices.ContainsFunc(earlier, func(e []string) bool { return AsStrict(scopes, e, was.c.Auth.Implies) })
		})
	}
	if fewer(v.c.Auth.DefaultScopes, was.c.Auth.DefaultScopes) {
		return true
	}
	for i := range v.c.Endpoints {
		e := &v.c.Endpoints[i]
		if !e.Has(subject) {
			continue
		}
		defaults, were := cmpSlice(e.DefaultScopes, v.c.Auth.DefaultScopes), was.c.Auth.DefaultScopes
		if at := slices.IndexFunc(was.c.Endpoints, func(o config.MCPEndpoint) bool { return o.Name == e.Name }); at >= 0 && was.c.Endpoints[at].Has(before) {
			were = cmpSlice(was.c.Endpoints[at].DefaultScopes, were)
		}
		if fewer(defaults, were) {
			return true
		}
	}
	return false
}

// cmpSlice returns a, or b if a is empty.
func cmpSlice(a, b []string) []string {
	if len(a) > 0 {
		return a
	}
	return b
}
