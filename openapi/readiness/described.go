package readiness

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"drawbridge/openapi"
	"drawbridge/openapi/tree"
)

// described are the descriptions that a document has of arguments, by name, type and place.
type described struct {
	texts map[string]*texts
	seen  map[*tree.Node]bool
}

// texts are the different descriptions of one kind of argument.
type texts struct {
	all  []string
	uses int
}

// ofOnePlace matches descriptions that speak of the operation, such as "the order to delete", or that are not written yet.
var ofOnePlace = regexp.MustCompile(`(?i)\bto\b|\bwill\b|\bthis (operation|request|endpoint|call|method)\b|\b(when|if|unless|only)\b|\b(TBD|TODO|FIXME|reserved|deprecated)\b`)

// genericNames mean something else in each place, so that a description of one place may be wrong in another.
var genericNames = []string{"id", "name", "type", "status", "key", "value", "values", "code", "data", "state", "title", "description", "label", "date", "kind", "mode", "format", "body", "content", "message", "url", "count", "total", "version", "user", "owner", "text", "note", "notes", "comment", "items", "item", "action", "reason", "source", "target", "path", "from", "to", "start", "end", "amount", "number", "slug", "uuid", "ids", "tags", "config", "settings", "options", "enabled", "order", "size", "level", "category", "parent", "include", "filter", "fields"}

// newDescribed collects the descriptions of the parameters and body members of all tools.
func newDescribed(a *Assessment) *described {
	d := &described{texts: map[string]*texts{}, seen: map[*tree.Node]bool{}}
	for _, s := range a.subjects {
		for i := range s.parameters {
			p := &s.parameters[i]
			d.add(p.node, s.kindOfParameter(p), p.node.Get("description").Text())
		}
		if s.body == nil {
			continue
		}
		for _, m := range s.walk.members(s.body.schema) {
			d.add(m.schema, s.kindOfMember(&m), s.walk.keyword(m.schema, "description").Text())
		}
	}
	root := a.document.set.Root()
	for _, schemas := range []*tree.Node{root.Get("components").Get("schemas"), root.Get("definitions")} {
		w := a.document.walk()
		for _, schema := range schemas.Members() {
			for name, property := range schema.Get("properties").Members() {
				d.add(property, kindOfProperty(w, name, property), property.Get("description").Text())
			}
		}
	}
	return d
}

// kindOfProperty returns a key for a property of a shared schema; "" if its name alone doesn't tell what it is.
func kindOfProperty(w *walk, name string, schema *tree.Node) string {
	if len(words(name)) < 2 || slices.Contains(genericNames, strings.ToLower(name)) {
		return ""
	}
	return "property " + name + " " + w.typeOf(schema)
}

func (d *described) add(n *tree.Node, kind, text string) {
	text = strings.TrimSpace(openapi.Clean(text))
	if kind == "" || d.seen[n] || utf8.RuneCountInString(text) > longestCopied || len(words(text)) < 2 || ofOnePlace.MatchString(text) {
		return
	}
	d.seen[n] = true
	t := d.texts[kind]
	if t == nil {
		t = &texts{}
		d.texts[kind] = t
	}
	if t.uses++; !slices.Contains(t.all, text) {
		t.all = append(t.all, text)
	}
}

// text returns the only description that a document has of arguments like the one of a finding. A parameter of the path
// is like another one after the same segment; anything else must be described alike in two places, or be a property of a
// shared schema with a name of two words.
func (d *described) text(s *subject, f *found) (string, bool) {
	kind, property, least := "", "", 2
	if f.parameter != nil {
		kind, property = s.kindOfParameter(f.parameter), kindOfProperty(s.walk, f.parameter.name, f.parameter.schema)
		if f.parameter.in == "path" {
			least = 1
		}
	} else {
		kind, property = s.kindOfMember(f.member), kindOfProperty(s.walk, f.member.name, f.member.schema)
	}
	if t := d.texts[kind]; t != nil {
		if len(t.all) == 1 && t.uses >= least {
			return t.all[0], true
		}
		return "", false // it is described differently
	}
	if t := d.texts[property]; t != nil && len(t.all) == 1 {
		return t.all[0], true
	}
	return "", false
}

// kindOfParameter returns a key that parameters of the same meaning share; "" if the name alone doesn't tell.
func (s *subject) kindOfParameter(p *parameter) string {
	name := strings.ToLower(p.name)
	if p.in == "path" {
		before, _, found := strings.Cut(s.Operation.Path, "{"+p.name+"}")
		if !found {
			return ""
		}
		return "path " + before + " " + s.walk.typeOf(p.schema)
	}
	if slices.Contains(genericNames, name) {
		return ""
	}
	return p.in + " " + p.name + " " + s.walk.typeOf(p.schema)
}

// kindOfMember is kindOfParameter for a member of the body.
func (s *subject) kindOfMember(m *member) string {
	if slices.Contains(genericNames, strings.ToLower(m.name)) {
		return ""
	}
	return "body " + m.name + " " + s.walk.typeOf(m.schema)
}
