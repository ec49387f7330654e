package gateway

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/widening"
	"drawbridge/openapi"
	"drawbridge/openapi/httpmethod"
)

// widens lists where a configuration grants more access than the deployment: per operation where documents are known,
// and otherwise by comparing the two configurations.
func (d *deployment) widens(before *widening.Summary, c *config.Config) []string {
	documents := make([]*widening.Document, len(c.APIs))
	var opens []string
	for i, sources := range d.documentsOf(c) {
		if len(sources) == 0 {
			continue
		}
		of := &widening.Document{Was: sources[0].name, Is: namedUnder(sources[0], &c.APIs[i]), Opened: map[string][]config.Subject{}}
		documents[i] = of
		for _, s := range sources {
			opens = append(opens, d.operationsOpened(c, s, &c.APIs[i], of)...)
		}
	}
	return slices.Concat(widening.Wider(before, widening.Of(c, before), func(i int) *widening.Document { return documents[i] }), opens)
}

// documentsOf returns, for each API of another configuration, the sources that know its document and to which it is
// compared: the source that it succeeds, else all sources of that document.
func (d *deployment) documentsOf(c *config.Config) [][]*source {
	var old, next []*config.API
	for _, s := range d.sources {
		old = append(old, &s.config)
	}
	for i := range c.APIs {
		next = append(next, &c.APIs[i])
	}
	sameSpec := func(o, n *config.API) bool { return o.Spec == n.Spec }
	succeeds, _ := widening.Pair(old, next, func(o, n *config.API) bool { return reflect.DeepEqual(o, n) },
		func(o, n *config.API) bool { return sameSpec(o, n) && o.Name == n.Name }, sameSpec)
	sources := make([][]*source, len(next))
	for i, at := range succeeds {
		for j, s := range d.sources {
			if (j == at || at < 0 && sameSpec(old[j], next[i])) && len(s.documentsKnown()) > 0 {
				sources[i] = append(sources[i], s)
			}
		}
	}
	return sources
}

// namedUnder returns the name that an API with a known document has under another configuration.
func namedUnder(s *source, api *config.API) string {
	switch {
	case api.Name != "":
		return api.Name
	case s.config.Name == "":
		return s.name
	}
	return apiName(s.documentsKnown()[0].title)
}

// operationsOpened lists the access to operations that another configuration grants beyond the current one, for the
// document in use and for the one in quarantine, which may be accepted next. It records the operations in of.
func (d *deployment) operationsOpened(after *config.Config, s *source, api *config.API, of *widening.Document) []string {
	opens := map[string][]string{}
	var order []string
	for _, l := range s.documentsKnown() {
		was := permissions{c: d.config, s: &source{config: s.config, loaded: l}, name: s.name}
		is := permissions{c: after, s: &source{config: *api, loaded: l}, name: namedUnder(s, api)}
		for _, op := range l.api.Operations {
			of.Operations = append(of.Operations, subjectOf(of.Is, op))
			for _, what := range is.opened(&was, op) {
				if opens[what] == nil {
					order = append(order, what)
				}
				if key := op.Method + " " + op.Path; !slices.Contains(opens[what], key) {
					opens[what] = append(opens[what], key)
					of.Opened[what] = append(of.Opened[what], subjectOf(of.Is, op))
				}
			}
		}
	}
	var lines []string
	for _, what := range order {
		lines = append(lines, fmt.Sprintf("apis: %s: %s of %s", s.name, what, someOf(opens[what])))
	}
	return lines
}

// someOf joins the first five of a list and counts the rest.
func someOf(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// permissions evaluates the access to the operations of a document under one configuration.
type permissions struct {
	c    *config.Config
	s    *source
	name string
}

// opened lists the restrictions of the operation that are weaker than in was.
func (v *permissions) opened(was *permissions, op *openapi.Operation) (what []string) {
	subject, before := subjectOf(v.name, op), subjectOf(was.name, op)
	if !v.s.config.Exposes(subject) {
		return nil
	}
	if !was.s.config.Exposes(before) {
		return []string{widening.LetThrough}
	}
	set, old := v.c.Settings(subject, v.own(op)), was.c.Settings(before, was.own(op))
	when := func(opens bool, line string) {
		if opens {
			what = append(what, line)
		}
	}
	if guarded(was.c) && guarded(v.c) {
		when(v.needsFewerScopes(was, op, subject, before, set, old), widening.FewerScopes)
		when(old.Condition != "" && set.Condition != old.Condition, widening.OtherCondition)
	}
	asks, asked := consentOf(v.c, set, !httpmethod.IsSafe(op.Method)), consentOf(was.c, old, !httpmethod.IsSafe(op.Method))
	when(asked.needed && !asks.needed, widening.NoConsent)
	given := widening.Asked(set.Inputs)
	when(slices.ContainsFunc(widening.Asked(old.Inputs), func(name string) bool { return !slices.Contains(given, name) }), widening.NotAsked)
	hidden := widening.Hidden(set.SensitiveFields)
	when(slices.ContainsFunc(widening.Hidden(old.SensitiveFields), func(f string) bool { return !slices.Contains(hidden, f) }), widening.LessHidden)
	when(set.Cache.On() && set.Cache.Shared && (!old.Cache.On() || !old.Cache.Shared), widening.SharedAnswers)
	calls := widening.JobCalls(old.Job)
	when(slices.ContainsFunc(widening.JobCalls(set.Job), func(call string) bool { return !slices.Contains(calls, call) }), widening.MoreJobs)
	return what
}

// own returns the settings that a trusted document declares for the operation.
func (v *permissions) own(op *openapi.Operation) config.Settings {
	if !v.s.config.TrustExtensions {
		return config.Settings{}
	}
	return v.s.loaded.extended.of[op]
}

func guarded(c *config.Config) bool { return c.Auth != nil && !c.Auth.Anonymous }

// needsFewerScopes reports whether a caller needs fewer scopes for the operation at any endpoint than before. An
// operation that is new at an endpoint is compared with its scopes at /mcp.
func (v *permissions) needsFewerScopes(was *permissions, op *openapi.Operation, subject, before config.Subject, set, old config.Settings) bool {
	needed := func(of *permissions, set config.Settings, defaults []string) [][]string {
		var all [][]string
		for _, scopes := range of.s.scopesOf(op, set, of.c.Auth.DefaultScopes) {
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
			return !slices.ContainsFunc(earlier, func(e []string) bool { return widening.AsStrict(scopes, e, was.c.Auth.Implies) })
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
