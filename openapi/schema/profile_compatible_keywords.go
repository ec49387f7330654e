package schema

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// A mergedSchema is a merged schema while it is prepared for publication: its keywords, and notes that replace keywords.
type mergedSchema struct {
	jsonschema.Merged
	notes []string // sentences for the description
}

// take adds the keywords of a schema as they are, without merging its allOf.
func (c *mergedSchema) take(s *jsonschema.Schema) {
	for _, k := range s.Keywords() {
		switch k.Name {
		case "$defs":
		case "oneOf":
			k.Name = "anyOf"
			c.Add(k)
		default:
			c.Add(k)
		}
	}
}

// add adds a value that holds no schemas.
func (c *mergedSchema) add(keyword string, value []byte) {
	c.Add(jsonschema.Keyword{Name: keyword, Value: value})
}

func (c *mergedSchema) note(text string) {
	if text != "" && !slices.Contains(c.notes, text) {
		c.notes = append(c.notes, text)
	}
}

// deep removes all keywords but the type and the texts.
func (c *mergedSchema) deep() {
	for _, k := range c.Names() {
		switch k {
		case "type", "description", "title":
		default:
			c.Remove(k)
		}
	}
}

// write writes a merged schema.
func (w *compatibleWriter) write(out []byte, c *mergedSchema, level int) []byte {
	w.members(c)
	c.choose()
	if c.Has("prefixItems") && !c.Has("items") {
		c.add("items", []byte("{}"))
	}
	if len(c.notes) > 0 && !c.Has("description") {
		c.add("description", []byte(`""`))
	}
	out = append(out, '{')
	start := len(out)
	for _, k := range c.Names() {
		before := len(out)
		if before > start {
			out = append(out, ',')
		}
		name := len(out)
		out = append(jsonscan.AppendString(out, k), ':')
		value := len(out)
		if out = w.keyword(out, c, k, level); len(out) == value || k == "required" && name < value && string(out[value:]) == "[]" {
			out = out[:before]
		}
	}
	return append(out, '}')
}

// unnamed reports whether a property is left out because of its name: LangChain takes one that is named "$ref" for a reference.
func unnamed(name string) bool { return name == "$ref" }

// members describes undeclared members, and removes the keywords for them.
func (w *compatibleWriter) members(c *mergedSchema) {
	for _, object := range c.Values("properties") {
		for _, p := range object.Parts {
			if unnamed(p.Name) {
				c.note("Also " + p.Name + ": " + w.kind(p.Schema) + ".")
			}
		}
	}
	for _, keyword := range []string{"additionalProperties", "unevaluatedProperties"} {
		for _, k := range c.Values(keyword) {
			if len(k.Schema().Keywords()) == 0 {
				continue
			}
			if len(c.First("properties").Parts) == 0 {
				c.note("Its members: " + w.kind(k.Schema()) + ".")
			} else {
				c.note("Other members: " + w.kind(k.Schema()) + ".")
			}
		}
		c.Remove(keyword)
	}
}

// kind names the kind of a value in a phrase.
func (w *compatibleWriter) kind(schema *jsonschema.Schema) string {
	p := &portableWriter{cut: portableStages[0], steps: 100, most: w.most}
	o := p.outline(schema)
	if o.types == 0 && o.members == nil && o.items.schemas == nil {
		return "anything"
	}
	if kind := o.pick(); kind != objectType && kind != arrayType {
		return kind.names()[0]
	}
	return o.phrase()
}

// choose reduces "enum" to its strings, which all clients accept; other values are described.
func (c *mergedSchema) choose() {
	c.fix()
	lists := c.Values("enum")
	if lists == nil {
		return
	}
	values := slices.Collect(jsonscan.Elements(lists[0].Value))
	for _, list := range lists[1:] {
		values = slices.DeleteFunc(values, func(v []byte) bool {
			for other := range jsonscan.Elements(list.Value) {
				if bytes.Equal(v, other) {
					return false
				}
			}
			return true
		})
	}
	var texts, others [][]byte
	null := false
	for _, v := range values {
		switch kind := jsonscan.KindOf(v); {
		case kind == jsonscan.Null:
			null = true
		case kind == jsonscan.String && len(v) == len(`""`):
			c.note("May be empty.")
		case kind == jsonscan.String:
			texts = append(texts, v)
		default:
			others = append(others, v)
		}
	}
	switch {
	case len(others) > 0:
		c.Remove("enum")
		c.inWords(slices.Concat(texts, others), len(texts) > 0 || null)
	case len(texts) == 0:
		c.Remove("enum")
	case null && !c.Has("anyOf"):
		c.Remove("enum", "type")
		c.Add(jsonschema.Parse(slices.Concat([]byte(`{"anyOf":[{"type":"string","enum":[`), bytes.Join(texts, []byte(",")), []byte(`]},{"type":"null"}]}`))).Keyword("anyOf"))
	default:
		c.Set(jsonschema.Keyword{Name: "enum", Value: slices.Concat([]byte("["), bytes.Join(texts, []byte(",")), []byte("]"))})
		if !c.Has("type") {
			c.add("type", []byte(`"string"`))
		}
	}
}

// fix turns a constant string into "enum", and describes other constants, which google-genai drops.
func (c *mergedSchema) fix() {
	value := c.First("const").Value
	switch kind := jsonscan.KindOf(value); {
	case value == nil:
	case kind == jsonscan.String && len(value) > len(`""`):
		c.Remove("const")
		c.add("enum", slices.Concat([]byte("["), value, []byte("]")))
	case kind == jsonscan.Number, kind == jsonscan.Bool:
		c.note("Always " + string(value) + ".")
		if !c.Has("type") {
			c.add("type", []byte(map[jsonscan.Kind]string{jsonscan.Number: `"number"`, jsonscan.Bool: `"boolean"`}[kind]))
		}
	}
}

// maxListed is the maximum size in bytes of the values that a description lists.
const maxListed = 200

// inWords describes values that are not strings, and gives whole numbers bounds.
func (c *mergedSchema) inWords(values [][]byte, mixed bool) {
	if low, high, ok := span(values); ok && !mixed {
		c.bound("minimum", low)
		c.bound("maximum", high)
		if high-low == int64(len(values))-1 {
			return
		}
	}
	if len(values) == 2 && !mixed && jsonscan.KindOf(values[0]) == jsonscan.Bool && jsonscan.KindOf(values[1]) == jsonscan.Bool {
		return
	}
	var listed []string
	size := 0
	for _, v := range values {
		if size += len(v) + 2; size > maxListed {
			break
		}
		listed = append(listed, string(v))
	}
	switch text := strings.Join(listed, ", "); {
	case len(listed) == 0:
	case len(values) == 1:
		c.note("Always " + text + ".")
	case len(listed) < len(values):
		c.note("One of " + text + " and " + strconv.Itoa(len(values)-len(listed)) + " more.")
	default:
		c.note("One of " + text + ".")
	}
}

// span returns the smallest and the largest of different whole numbers.
func span(values [][]byte) (low, high int64, ok bool) {
	seen := map[int64]bool{}
	for _, v := range values {
		n, err := strconv.ParseInt(string(v), 10, 32)
		if err != nil || seen[n] {
			return 0, 0, false
		}
		if seen[n] = true; len(seen) == 1 {
			low, high = n, n
		}
		low, high = min(low, n), max(high, n)
	}
	return low, high, len(values) > 0
}

func (c *mergedSchema) bound(keyword string, n int64) {
	if !c.Has(keyword) {
		c.add(keyword, strconv.AppendInt(nil, n, 10))
	}
}

// keyword writes the value of a keyword, or nothing if the keyword is left out.
func (w *compatibleWriter) keyword(out []byte, c *mergedSchema, keyword string, level int) []byte {
	all := c.Values(keyword)
	first := all[0]
	switch keyword {
	case "description":
		return c.description(out, first.Value)
	case "$ref":
		if name, ok := jsonschema.DefinitionName(first.Text()); ok {
			w.refer(name, true)
		}
		return append(out, first.Value...)
	case "type":
		return appendTypes(out, all)
	case "properties":
		return w.properties(out, c, level)
	case "required":
		return w.names(out, c)
	case "anyOf":
		return w.alternatives(out, first, level)
	case "items":
		return w.items(out, all, level)
	case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains":
		return append(out, extreme(all, 1)...)
	case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains":
		return append(out, extreme(all, -1)...)
	case "allOf", "prefixItems":
		return w.list(out, first, level)
	case "not", "if", "then", "else", "contains", "propertyNames", "contentSchema", "unevaluatedItems":
		if first.Schema().IsObject() {
			return w.schema(out, []*jsonschema.Schema{first.Schema()}, level+1)
		}
	case "patternProperties", "dependentSchemas":
		return w.each(out, first, level)
	}
	return append(out, first.Value...)
}

// anything accepts everything.
var anything = jsonschema.Parse([]byte("{}"))

// objects returns schemas with an object for each that is true.
func objects(schemas []*jsonschema.Schema) []*jsonschema.Schema {
	if !slices.ContainsFunc(schemas, func(s *jsonschema.Schema) bool { return !s.IsObject() }) {
		return schemas
	}
	all := make([]*jsonschema.Schema, len(schemas))
	for i, s := range schemas {
		if all[i] = s; !s.IsObject() {
			all[i] = anything
		}
	}
	return all
}

// items writes the schema of an array's items. An unknown one gets types, since Gemini refuses an array without them.
func (w *compatibleWriter) items(out []byte, all []jsonschema.Keyword, level int) []byte {
	var schemas []*jsonschema.Schema
	known := false
	for _, k := range all {
		s := k.Schema()
		if s.Never() { // of a closed tuple
			known = false
			break
		}
		known = known || len(s.Keywords()) > 0
		schemas = append(schemas, s)
	}
	if !known {
		return append(out, `{"type":["string","number","boolean"],"description":"Or an object or array."}`...)
	}
	return w.schema(out, objects(schemas), level+1)
}

// description writes a description with the notes behind it.
func (c *mergedSchema) description(out, text []byte) []byte {
	if len(c.notes) == 0 {
		return append(out, text...)
	}
	about := strings.TrimSpace(string(jsonscan.Unquote(text)))
	if about != "" && !strings.HasSuffix(about, ".") {
		about += "."
	}
	return jsonscan.AppendString(out, strings.TrimSpace(about+" "+strings.Join(c.notes, " ")))
}

// appendTypes writes the types that all of several values of "type" have; the first value if they have none in common.
func appendTypes(out []byte, all []jsonschema.Keyword) []byte {
	if len(all) == 1 {
		return append(out, all[0].Value...)
	}
	common := typesIn(all[0])
	for _, k := range all[1:] {
		if common &= typesIn(k); common == 0 {
			return append(out, all[0].Value...)
		}
	}
	if common&numberType != 0 {
		common &^= integerType
	}
	names := common.names()
	if len(names) == 1 {
		return jsonscan.AppendString(out, names[0])
	}
	for i, name := range names {
		if i == 0 {
			out = append(out, '[')
		} else {
			out = append(out, ',')
		}
		out = jsonscan.AppendString(out, name)
	}
	return append(out, ']')
}

// properties writes the properties of all schemas, each once.
func (w *compatibleWriter) properties(out []byte, c *mergedSchema, level int) []byte {
	out = append(out, '{')
	first := true
	for _, m := range propertiesOf(c.Values("properties")) {
		if unnamed(m.name) || slices.ContainsFunc(m.schemas, (*jsonschema.Schema).Never) {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = w.schema(append(jsonscan.AppendString(out, m.name), ':'), objects(m.schemas), level+1)
	}
	return append(out, '}')
}

// propertiesOf returns the properties of objects, each with all its different schemas.
func propertiesOf(objects []jsonschema.Keyword) []outlineMember {
	schemas := objects[0].Schemas()
	all := make([]outlineMember, len(schemas))
	for i, p := range objects[0].Parts {
		all[i] = outlineMember{name: p.Name, schemas: schemas[i : i+1 : i+1]}
	}
	if len(objects) == 1 {
		return all
	}
	index := make(map[string]int, len(all))
	for i, m := range all {
		index[m.name] = i
	}
	for _, object := range objects[1:] {
		for _, p := range object.Parts {
			i, known := index[p.Name]
			if !known {
				i = len(all)
				index[p.Name] = i
				all = append(all, outlineMember{name: p.Name})
			}
			if m := &all[i]; !slices.ContainsFunc(m.schemas, func(other *jsonschema.Schema) bool { return bytes.Equal(p.Schema.Source(), other.Source()) }) {
				m.schemas = append(m.schemas, p.Schema)
			}
		}
	}
	return all
}

// names writes the names of all required members, each once, without those that can't be given.
func (w *compatibleWriter) names(out []byte, c *mergedSchema) []byte {
	barred := map[string]bool{}
	for _, object := range c.Values("properties") {
		for _, p := range object.Parts {
			if p.Schema.Never() || unnamed(p.Name) {
				barred[p.Name] = true
			}
		}
	}
	seen := map[string]bool{}
	out = append(out, '[')
	for _, list := range c.Values("required") {
		for item := range jsonscan.Elements(list.Value) {
			name := string(jsonscan.Unquote(item))
			if seen[name] || barred[name] {
				continue
			}
			if len(seen) > 0 {
				out = append(out, ',')
			}
			seen[name] = true
			out = append(out, item...)
		}
	}
	return append(out, ']')
}

// alternatives writes a list of alternatives without those that accept nothing.
func (w *compatibleWriter) alternatives(out []byte, all jsonschema.Keyword, level int) []byte {
	start := len(out)
	out = append(out, '[')
	for _, item := range all.Parts {
		if item.Schema.Never() {
			continue
		}
		if len(out) > start+1 {
			out = append(out, ',')
		}
		out = w.schema(out, objects([]*jsonschema.Schema{item.Schema}), level+1)
	}
	if len(out) == start+1 {
		return out[:start]
	}
	return append(out, ']')
}

// list writes a list of schemas.
func (w *compatibleWriter) list(out []byte, all jsonschema.Keyword, level int) []byte {
	out = append(out, '[')
	for i, item := range all.Parts {
		if i > 0 {
			out = append(out, ',')
		}
		out = w.schema(out, objects([]*jsonschema.Schema{item.Schema}), level+1)
	}
	return append(out, ']')
}

// each writes schemas by name.
func (w *compatibleWriter) each(out []byte, all jsonschema.Keyword, level int) []byte {
	out = append(out, '{')
	for i, p := range all.Parts {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jsonscan.AppendString(out, p.Name), ':')
		if p.Schema.IsObject() {
			out = w.schema(out, []*jsonschema.Schema{p.Schema}, level+1)
		} else {
			out = append(out, p.Schema.Source()...)
		}
	}
	return append(out, '}')
}

// extreme returns the largest of several numbers, or the smallest if sign is -1.
func extreme(all []jsonschema.Keyword, sign int) []byte {
	best := all[0].Value
	for _, k := range all[1:] {
		a, err := strconv.ParseFloat(string(best), 64)
		b, also := strconv.ParseFloat(string(k.Value), 64)
		if err == nil && also == nil && cmp.Compare(b, a) == sign {
			best = k.Value
		}
	}
	return best
}
