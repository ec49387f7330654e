package filter

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// base is where the generated documents say that calls go.
const base = "http://127.0.0.1:9/base"

// param is one parameter of a generated document.
type param struct {
	title         string // of its schema, which finds its argument again
	name          string
	in, style     string
	explode       bool
	spelled       bool // style and explode are written, even where they are the defaults
	required      bool
	allowReserved bool
	content       bool // a parameter with a JSON media type in place of a schema
	schema        map[string]any
	before        string // literal before the variable in its path segment
}

// operation is one generated operation. The path is /opN/segment/… with one variable in each segment that has any.
type operation struct {
	path   string
	params []*param
}

// styles is the table of the standard (OAS 3.0.4 and 3.1.1, "Style Values" and "Style Examples"), without what it calls
// undefined.
var styles = []struct {
	in, style string
	explode   bool
	types     string // s: scalar, a: array, o: object, d: deep object, j: anything as JSON
}{
	{"path", "simple", false, "sao"}, {"path", "simple", true, "sao"},
	{"path", "label", false, "sao"}, {"path", "label", true, "sao"},
	{"path", "matrix", false, "sao"}, {"path", "matrix", true, "sao"},
	{"query", "form", false, "sao"}, {"query", "form", true, "sao"},
	{"query", "spaceDelimited", false, "ao"}, {"query", "spaceDelimited", true, "a"},
	{"query", "pipeDelimited", false, "ao"}, {"query", "pipeDelimited", true, "a"},
	{"query", "deepObject", true, "d"},
	{"header", "simple", false, "sao"}, {"header", "simple", true, "sao"},
	{"cookie", "form", false, "sao"}, {"cookie", "form", true, "sao"},
	{"path", "content", false, "j"}, {"query", "content", false, "j"}, {"header", "content", false, "j"}, {"cookie", "content", false, "j"},
}

// odd are pieces of names by location: all that a name may hold there.
var odd = map[string][]string{
	"path":   {"-", "_", ".", "~", " ", "é", "$", ":", "@", "!", "'", "(", ")", "*", "+", ",", ";", "=", "&", "%", "日"},
	"query":  {"-", "_", ".", "~", " ", "é", "$", ":", "@", "!", "'", "(", ")", "*", "+", ",", ";", "=", "&", "%", "/", "?", "#", "[]", "[x]", "|", "日"},
	"header": {"-", "_", ".", "~", "!", "#", "$", "%", "&", "'", "*", "+", "^", "`", "|"},
	"cookie": {"-", "_", ".", "~", "!", "#", "$", "&", "'", "*", "+", "^", "`", "|"},
	"member": {"-", "_", ".", "~", " ", "é", "$", ":", "@", "+", "/", "?", "#", "&", "%", "日"},
}

// operations generates n operations.
func operations(r *rand.Rand, n int) []operation {
	all := make([]operation, n)
	for i := range all {
		o := &all[i]
		o.path = fmt.Sprintf("/op%d", i)
		for k := range 1 + r.IntN(4) {
			o.add(r, k)
		}
		if r.IntN(4) == 0 {
			o.path += "/end"
		}
	}
	return all
}

func (o *operation) add(r *rand.Rand, k int) {
	row := styles[r.IntN(len(styles))]
	p := &param{
		title: fmt.Sprintf("title-%d", k), name: fmt.Sprintf("n%d", k), in: row.in, style: row.style, explode: row.explode,
		required: row.in == "path" || r.IntN(2) == 0, content: row.style == "content",
	}
	if p.content {
		p.style = map[string]string{"path": "simple", "header": "simple", "query": "form", "cookie": "form"}[p.in]
	}
	p.name += oddly(r, p.in)
	p.spelled = r.IntN(2) == 0 || p.style != "simple" && p.style != "form" || p.explode != (p.style == "form")
	p.allowReserved = p.in == "query" && !p.content && r.IntN(4) == 0
	g := schemas{r: r, prefix: fmt.Sprintf("m%d", k)}
	switch row.types[r.IntN(len(row.types))] {
	case 's':
		p.schema = g.scalar()
	case 'a':
		p.schema = g.array(g.scalar())
	case 'o':
		p.schema = g.object(g.scalar, !p.explode)
	case 'd':
		p.schema = g.object(g.deep(2), true)
	case 'j':
		p.schema = g.any(2)
	}
	p.schema["title"] = p.title
	if p.in == "path" {
		if p.style == "simple" && r.IntN(3) == 0 {
			p.before = "v-"
		}
		o.path += "/" + p.before + "{" + p.name + "}"
	}
	o.params = append(o.params, p)
}

func oddly(r *rand.Rand, in string) (suffix string) {
	if r.IntN(3) > 0 {
		return ""
	}
	for range 1 + r.IntN(2) {
		suffix += odd[in][r.IntN(len(odd[in]))]
	}
	return suffix + "z"
}

// schemas generates schemas. Names of members begin with the prefix, so that no two parameters share one.
type schemas struct {
	r      *rand.Rand
	prefix string
}

func (g schemas) scalar() map[string]any {
	switch g.r.IntN(7) {
	case 0:
		return map[string]any{"type": "integer"}
	case 1:
		return map[string]any{"type": "integer", "format": "int64"}
	case 2:
		return map[string]any{"type": "integer", "format": "int32"}
	case 3:
		return map[string]any{"type": "number"}
	case 4:
		return map[string]any{"type": "boolean"}
	}
	return map[string]any{"type": "string"}
}

func (g schemas) array(items map[string]any) map[string]any {
	return map[string]any{"type": "array", "items": items}
}

func (g schemas) object(member func() map[string]any, open bool) map[string]any {
	properties := map[string]any{}
	var required []any
	for i := range 1 + g.r.IntN(3) {
		name := fmt.Sprintf("%s%c%s", g.prefix, 'a'+i, oddly(g.r, "member"))
		properties[name] = member()
		if g.r.IntN(3) > 0 {
			required = append(required, name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties}
	if required != nil {
		s["required"] = required
	}
	if open && g.r.IntN(8) == 0 {
		s["additionalProperties"] = g.scalar()
	} else {
		s["additionalProperties"] = false
	}
	return s
}

// deep generates what a member of a deep object may be: the standard has scalars alone; lists by index and further levels
// are what most readers know.
func (g schemas) deep(levels int) func() map[string]any {
	return func() map[string]any {
		switch {
		case levels > 0 && g.r.IntN(4) == 0:
			return g.object(g.deep(levels-1), false)
		case levels > 0 && g.r.IntN(4) == 0:
			return g.array(g.scalar())
		}
		return g.scalar()
	}
}

func (g schemas) any(levels int) map[string]any {
	switch {
	case levels > 0 && g.r.IntN(3) == 0:
		return g.array(g.any(levels - 1))
	case levels > 0 && g.r.IntN(2) == 0:
		return g.object(func() map[string]any { return g.any(levels - 1) }, true)
	}
	return g.scalar()
}

// document writes operations as an OpenAPI document.
func document(version string, all []operation) []byte {
	paths := map[string]any{}
	for _, o := range all {
		list := []any{}
		for _, p := range o.params {
			list = append(list, p.object())
		}
		paths[o.path] = map[string]any{"get": map[string]any{
			"parameters": list, "responses": map[string]any{"200": map[string]any{"description": "ok"}},
		}}
	}
	text, err := json.MarshalIndent(map[string]any{
		"openapi": version, "info": map[string]any{"title": "generated", "version": "1"}, "paths": paths,
		"servers": []any{map[string]any{"url": base}},
	}, "", " ")
	if err != nil {
		panic(err) // it is made of strings
	}
	return text
}

// object is the Parameter Object.
func (p *param) object() map[string]any {
	out := map[string]any{"name": p.name, "in": p.in}
	if p.required {
		out["required"] = true
	}
	if p.content {
		out["content"] = map[string]any{"application/json": map[string]any{"schema": p.schema}}
		return out
	}
	out["schema"] = p.schema
	if p.spelled {
		out["style"], out["explode"] = p.style, p.explode
	}
	if p.allowReserved {
		out["allowReserved"] = true
	}
	return out
}

// kind is the type of a schema: "scalar", "array" or "object".
func kind(schema map[string]any) string {
	if t, _ := schema["type"].(string); t == "array" || t == "object" {
		return t
	}
	return "scalar"
}

// row names the row of the table that a parameter belongs to.
func (p *param) row() string {
	if p.content {
		return p.in + " content"
	}
	explode := ""
	if p.explode {
		explode = " exploded"
	}
	of := kind(p.schema)
	if p.style == "deepObject" {
		of, explode = "object", ""
	}
	return strings.Join([]string{p.in, p.style + explode, of}, " ")
}
