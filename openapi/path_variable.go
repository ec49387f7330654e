package openapi

import (
	"net/url"
	"slices"
	"strings"

	"drawbridge/openapi/tree"
	"drawbridge/openapi/wire"
)

// matchVariables finds the parameter of each variable of the path. Documents spell the two differently: "{ID}" for
// "id", "{line_id}" for "lineId", "{id:[0-9]+}" of some frameworks, or another name if there is only one of each. A
// parameter with the exact name comes first.
func (b *binder) matchVariables() {
	b.paired = make(map[*tree.Node]int)
	variables := b.op.template.Names()
	match := func(same func(variable, name string) bool) {
		for i := range b.model.parameters {
			p := &b.model.parameters[i]
			if _, ok := b.paired[p.node]; ok || p.typed.In != wire.Path.String() || p.typed.Name == "" {
				continue
			}
			if v := slices.IndexFunc(variables, func(v string) bool { return same(v, p.typed.Name) }); v >= 0 && !b.declared[v] {
				b.pair(p, v)
			}
		}
	}
	match(func(variable, name string) bool { return variable == name })
	match(func(variable, name string) bool {
		before, _, _ := strings.Cut(variable, ":")
		return strings.EqualFold(before, name)
	})
	match(func(variable, name string) bool {
		return plainName(variable) != "" && plainName(variable) == plainName(name)
	})
	if p, v := b.unpaired(); p != nil {
		b.pair(p, v)
	}
}

// pair assigns a parameter to a variable of the path.
func (b *binder) pair(p *parameter, variable int) {
	b.paired[p.node], b.declared[variable] = variable, true
	if name := b.op.template.Names()[variable]; name != p.typed.Name {
		b.problems.at(p.node, codePathName, "the path parameter %q is read as that of the variable %q of the path %q", p.typed.Name, name, b.op.Path)
	}
}

// fixed reports whether the query of the path already has a parameter, which is not sent again (x-ms-paths declares
// both).
func (b *binder) fixed(p *parameter) bool {
	query, err := url.ParseQuery(b.op.template.Query())
	if err != nil || !query.Has(p.typed.Name) {
		return false
	}
	value, s := query.Get(p.typed.Name), b.follow(p.schema)
	values := s.Get("enum")
	if s.Get("const").Text() != value && (values.Len() != 1 || values.At(0).Text() != value) {
		b.problems.at(p.node, codePathQuery, "query parameter %q is left out: the path %q has its value", p.typed.Name, b.op.Path)
	}
	return true
}

// plainName returns a name in lower case without the separators between its words.
func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(name))
}

// unpaired returns the only parameter of the path without a variable, and the only variable without a declaration; nil if
// there is not exactly one of each.
func (b *binder) unpaired() (only *parameter, variable int) {
	if variable = slices.Index(b.declared, false); variable < 0 || slices.Contains(b.declared[variable+1:], false) {
		return nil, 0
	}
	for i := range b.model.parameters {
		p := &b.model.parameters[i]
		if _, ok := b.paired[p.node]; ok || p.typed.In != wire.Path.String() {
			continue
		}
		if only != nil || p.typed.Name == "" || slices.ContainsFunc(b.op.template.QueryVariables(), func(q wire.QueryVariable) bool { return q.Name == p.typed.Name }) {
			return nil, 0
		}
		only = p
	}
	return only, variable
}
