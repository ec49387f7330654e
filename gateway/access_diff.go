package gateway

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/widening"
	"drawbridge/openapi"
)

// widens lists in what a configuration gives more access than the deployment does: operation by operation where documents are loaded, and else
// by what the two configurations say.
func (d *deployment) widens(before *widening.Summary, c *config.Config) []string {
	judged := map[int]bool{}
	var opens []string
	for i := range c.APIs {
		s := d.loadedFrom(&c.APIs[i])
		if s == nil {
			continue
		}
		judged[i] = true
		opens = append(opens, operationsOpened(d.config, c, s, &c.APIs[i])...)
	}
	return slices.Concat(widening.Wider(before, widening.Of(c, before), func(i int) bool { return judged[i] }), opens)
}

// loadedFrom returns the source whose document an API of another configuration has, too; nil if none has loaded it.
func (d *deployment) loadedFrom(api *config.API) *source {
	var found *source
	for _, s := range d.sources {
		if s.loaded == nil || s.config.Spec != api.Spec {
			continue
		}
		if s.config.Name == api.Name {
			return s
		}
		found = cmp.Or(found, s)
	}
	return found
}

// operationsOpened lists what the operations of a document need less under another configuration.
func operationsOpened(before, after *config.Config, s *source, api *config.API) []string {
	was := permissions{c: before, s: s, name: s.name}
	is := permissions{c: after, s: &source{config: *api, loaded: s.loaded}, name: api.Name}
	if is.name == "" {
		is.name = apiName(s.loaded.title)
		if s.config.Name == "" {
			is.name = s.name
		}
	}
	opens := map[string][]string{}
	var order []string
	for _, op := range s.loaded.api.Operations {
		for _, what := range is.opened(&was, op) {
			if opens[what] == nil {
				order = append(order, what)
			}
			opens[what] = append(opens[what], op.Method+" "+op.Path)
		}
	}
	var lines []string
	for _, what := range order {
		lines = append(lines, fmt.Sprintf("apis: %s: %s of %s", s.name, what, someOf(opens[what])))
	}
	return lines
}

// someOf names the first few of a list.
func someOf(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// permissions are what the operations of a document need and show under one configuration.
type permissions struct {
	c    *config.Config
	s    *source
	name string
}

// opened lists what the operation needs less than it did.
func (v *permissions) opened(was *permissions, op *openapi.Operation) (what []string) {
	subject, before := subjectOf(v.name, op), subjectOf(was.name, op)
	if !v.s.config.Exposes(subject) {
		return nil
	}
	if !was.s.config.Exposes(before) {
		return []string{"tools.include and tools.exclude let calls through"}
	}
	set, old := v.c.Settings(subject, v.s.loaded.extended.of[op]), was.c.Settings(before, was.s.loaded.extended.of[op])
	when := func(opens bool, line string) {
		if opens {
			what = append(what, line)
		}
	}
	if guarded(was.c) && guarded(v.c) {
		when(v.needsFewerScopes(was, op, subject, before, set, old), "fewer or other scopes suffice for calls")
		when(old.Condition != "" && set.Condition != old.Condition, "a condition is gone or another, for calls")
	}
	asks, asked := consentOf(v.c, set, !safeMethod(op.Method)), consentOf(was.c, old, !safeMethod(op.Method))
	when(asked.needed && !asks.needed, "no consent is needed for calls")
	given := widening.Asked(set.Inputs)
	when(slices.ContainsFunc(widening.Asked(old.Inputs), func(name string) bool { return !slices.Contains(given, name) }), "callers give arguments that the user was asked for, in calls")
	hidden := widening.Hidden(set.SensitiveFields)
	when(slices.ContainsFunc(widening.Hidden(old.SensitiveFields), func(f string) bool { return !slices.Contains(hidden, f) }), "sensitive_fields hides fewer fields in answers")
	when(set.Cache.On() && set.Cache.Shared && (!old.Cache.On() || !old.Cache.Shared), "cache.shared gives other callers the answers")
	return what
}

func guarded(c *config.Config) bool { return c.Auth != nil && !c.Auth.Anonymous }

// needsFewerScopes reports whether there is an endpoint at which a caller needs less for the operation than before. An operation that is new at
// an endpoint is compared with what it needed at /mcp.
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

// cmpSlice returns the first list that is not empty.
func cmpSlice(a, b []string) []string {
	if len(a) > 0 {
		return a
	}
	return b
}
