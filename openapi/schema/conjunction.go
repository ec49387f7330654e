package schema

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// A conjunction is what several schemas say together of one value: for each keyword the values that they give it.
type conjunction struct {
	keywords []string
	values   map[string][][]byte
	notes    []string // for the description
}

func (c *conjunction) add(keyword string, value []byte) {
	if c.values == nil {
		c.values = map[string][][]byte{}
	}
	all := c.values[keyword]
	if all == nil {
		c.keywords = append(c.keywords, keyword)
	}
	if !slices.ContainsFunc(all, func(v []byte) bool { return bytes.Equal(v, value) }) {
		c.values[keyword] = append(all, value)
	}
}

// one returns the first value of a keyword, nil if there is none.
func (c *conjunction) one(keyword string) []byte {
	if all := c.values[keyword]; all != nil {
		return all[0]
	}
	return nil
}

func (c *conjunction) remove(keywords ...string) {
	for _, k := range keywords {
		delete(c.values, k)
	}
	c.keywords = slices.DeleteFunc(c.keywords, func(k string) bool { return slices.Contains(keywords, k) })
}

func (c *conjunction) note(text string) {
	if text != "" && !slices.Contains(c.notes, text) {
		c.notes = append(c.notes, text)
	}
}

// deep leaves nothing but the type and the texts.
func (c *conjunction) deep() {
	for _, k := range slices.Clone(c.keywords) {
		switch k {
		case "type", "description", "title":
		default:
			c.remove(k)
		}
	}
}

// write writes a conjunction as one schema.
func (w *compatibleWriter) write(out []byte, c *conjunction, level int) []byte {
	w.members(c)
	c.choose()
	if c.one("prefixItems") != nil && c.one("items") == nil {
		c.add("items", []byte("{}"))
	}
	if len(c.notes) > 0 && c.one("description") == nil {
		c.add("description", []byte(`""`))
	}
	out = append(out, '{')
	start := len(out)
	for _, k := range c.keywords {
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

// unnamed tells whether a property is left out: LangChain takes one that is named "$ref" for a reference.
func unnamed(name string) bool { return name == "$ref" }

// members puts what is known of undeclared members into words, and leaves out the keywords for them.
func (w *compatibleWriter) members(c *conjunction) {
	for _, object := range c.values["properties"] {
		for name, s := range jsonscan.Members(object) {
			if unnamed(string(name)) {
				c.note("Also " + string(name) + ": " + w.kind(s) + ".")
			}
		}
	}
	for _, k := range []string{"additionalProperties", "unevaluatedProperties"} {
		for _, value := range c.values[k] {
			if jsonscan.KindOf(value) != jsonscan.Object || string(value) == "{}" {
				continue
			}
			if properties := c.one("properties"); properties == nil || string(properties) == "{}" {
				c.note("Its members: " + w.kind(value) + ".")
			} else {
				c.note("Other members: " + w.kind(value) + ".")
			}
		}
		c.remove(k)
	}
}

// kind names the kind of a value in a phrase.
func (w *compatibleWriter) kind(schema []byte) string {
	p := &portableWriter{defs: w.defs, cut: portableStages[0], steps: 100, most: w.most}
	o := p.outline([][]byte{schema})
	if o.types == 0 && o.members == nil && o.items.schemas == nil {
		return "anything"
	}
	if kind := o.pick(); kind != objectType && kind != arrayType {
		return brief([]byte(`{"type":"` + kind.names()[0] + `"}`))
	}
	return o.phrase()
}

// choose leaves in enum nothing but texts, which all clients take.
func (c *conjunction) choose() {
	c.fix()
	lists := c.values["enum"]
	if lists == nil {
		return
	}
	values := slices.Collect(jsonscan.Elements(lists[0]))
	for _, list := range lists[1:] {
		values = slices.DeleteFunc(values, func(v []byte) bool {
			for other := range jsonscan.Elements(list) {
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
		c.remove("enum")
		c.inWords(slices.Concat(texts, others), len(texts) > 0 || null)
	case len(texts) == 0:
		c.remove("enum")
	case null && c.one("anyOf") == nil:
		c.remove("enum", "type")
		c.add("anyOf", slices.Concat([]byte(`[{"type":"string","enum":[`), bytes.Join(texts, []byte(",")), []byte(`]},{"type":"null"}]`)))
	default:
		c.values["enum"] = [][]byte{slices.Concat([]byte("["), bytes.Join(texts, []byte(",")), []byte("]"))}
		if c.one("type") == nil {
			c.add("type", []byte(`"string"`))
		}
	}
}

// fix has a constant that is a text become enum, and describes others, which google-genai drops.
func (c *conjunction) fix() {
	value := c.one("const")
	switch kind := jsonscan.KindOf(value); {
	case value == nil:
	case kind == jsonscan.String && len(value) > len(`""`):
		c.remove("const")
		c.add("enum", slices.Concat([]byte("["), value, []byte("]")))
	case kind == jsonscan.Number, kind == jsonscan.Bool:
		c.note("Always " + string(value) + ".")
		if c.one("type") == nil {
			c.add("type", []byte(map[jsonscan.Kind]string{jsonscan.Number: `"number"`, jsonscan.Bool: `"boolean"`}[kind]))
		}
	}
}

// maxListed is the most bytes of values that a description lists.
const maxListed = 200

// inWords puts values that are no texts into the description, and whole numbers between bounds.
func (c *conjunction) inWords(values [][]byte, mixed bool) {
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

func (c *conjunction) bound(keyword string, n int64) {
	if c.one(keyword) == nil {
		c.add(keyword, strconv.AppendInt(nil, n, 10))
	}
}

// keyword writes the value of a keyword; nothing if the keyword is to be left out.
func (w *compatibleWriter) keyword(out []byte, c *conjunction, k string, level int) []byte {
	all := c.values[k]
	switch k {
	case "description":
		return c.description(out, all[0])
	case "$ref":
		w.refer(strings.TrimPrefix(string(jsonscan.Unquote(all[0])), "#/$defs/"), true)
		return append(out, all[0]...)
	case "type":
		return appendTypes(out, all)
	case "properties":
		return w.properties(out, c, level)
	case "required":
		return w.names(out, c)
	case "anyOf":
		return w.alternatives(out, all[0], level)
	case "items":
		return w.items(out, all, level)
	case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains":
		return append(out, extreme(all, 1)...)
	case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains":
		return append(out, extreme(all, -1)...)
	case "allOf", "prefixItems":
		return w.list(out, all[0], level)
	case "not", "if", "then", "else", "contains", "propertyNames", "contentSchema", "unevaluatedItems":
		if jsonscan.KindOf(all[0]) != jsonscan.Object {
			return append(out, all[0]...)
		}
		return w.schema(out, all[:1], level+1)
	case "patternProperties", "dependentSchemas":
		return w.each(out, all[0], level)
	}
	return append(out, all[0]...)
}

// objects returns schemas with an object for each that is true.
func objects(schemas [][]byte) [][]byte {
	all := make([][]byte, len(schemas))
	for i, s := range schemas {
		if all[i] = s; jsonscan.KindOf(s) != jsonscan.Object {
			all[i] = []byte("{}")
		}
	}
	return all
}

// items writes the schema of an array's items. One about which nothing is known gets types, since Gemini refuses an array without.
func (w *compatibleWriter) items(out []byte, all [][]byte, level int) []byte {
	if slices.ContainsFunc(all, impossible) {
		all = nil // of a closed tuple
	}
	all = objects(all)
	if !slices.ContainsFunc(all, func(s []byte) bool { return len(s) > len("{}") }) {
		return append(out, `{"type":["string","number","boolean"],"description":"Or an object or array."}`...)
	}
	return w.schema(out, all, level+1)
}

// description writes a description with the notes behind it.
func (c *conjunction) description(out, text []byte) []byte {
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
func appendTypes(out []byte, all [][]byte) []byte {
	var common types
	for i, value := range all {
		set := typesIn(value)
		if i > 0 {
			if set &= common; set == 0 {
				return append(out, all[0]...)
			}
		}
		common = set
	}
	if len(all) == 1 {
		return append(out, all[0]...)
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

// typesIn returns the types that a value of "type" allows; a number may be an integer.
func typesIn(value []byte) (set types) {
	add := func(word []byte) {
		kind, _ := typeName(string(jsonscan.Unquote(word)))
		if set |= kind; kind == numberType {
			set |= integerType
		}
	}
	if jsonscan.KindOf(value) == jsonscan.Array {
		for word := range jsonscan.Elements(value) {
			add(word)
		}
		return set
	}
	add(value)
	return set
}

// properties writes the properties of all schemas, each once.
func (w *compatibleWriter) properties(out []byte, c *conjunction, level int) []byte {
	var names []string
	schemas := map[string][][]byte{}
	for _, object := range c.values["properties"] {
		for key, s := range jsonscan.Members(object) {
			name := string(key)
			if unnamed(name) {
				continue
			}
			if schemas[name] == nil {
				names = append(names, name)
			}
			if !slices.ContainsFunc(schemas[name], func(other []byte) bool { return bytes.Equal(s, other) }) {
				schemas[name] = append(schemas[name], s)
			}
		}
	}
	out = append(out, '{')
	first := true
	for _, name := range names {
		if slices.ContainsFunc(schemas[name], impossible) {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = w.schema(append(jsonscan.AppendString(out, name), ':'), objects(schemas[name]), level+1)
	}
	return append(out, '}')
}

// names writes the names of all required members, each once, without those that can't be given.
func (w *compatibleWriter) names(out []byte, c *conjunction) []byte {
	barred := map[string]bool{}
	for _, object := range c.values["properties"] {
		for key, s := range jsonscan.Members(object) {
			if impossible(s) || unnamed(string(key)) {
				barred[string(key)] = true
			}
		}
	}
	seen := map[string]bool{}
	out = append(out, '[')
	for _, list := range c.values["required"] {
		for item := range jsonscan.Elements(list) {
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
func (w *compatibleWriter) alternatives(out, list []byte, level int) []byte {
	start := len(out)
	out = append(out, '[')
	for item := range jsonscan.Elements(list) {
		if impossible(item) {
			continue
		}
		if len(out) > start+1 {
			out = append(out, ',')
		}
		out = w.schema(out, objects([][]byte{item}), level+1)
	}
	if len(out) == start+1 {
		return out[:start]
	}
	return append(out, ']')
}

// list writes a list of schemas.
func (w *compatibleWriter) list(out, list []byte, level int) []byte {
	out = append(out, '[')
	first := true
	for item := range jsonscan.Elements(list) {
		if !first {
			out = append(out, ',')
		}
		first = false
		out = w.schema(out, objects([][]byte{item}), level+1)
	}
	return append(out, ']')
}

// each writes schemas by name.
func (w *compatibleWriter) each(out, object []byte, level int) []byte {
	out = append(out, '{')
	first := true
	for name, s := range jsonscan.Members(object) {
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(jsonscan.AppendString(out, name), ':')
		if jsonscan.KindOf(s) != jsonscan.Object {
			out = append(out, s...)
			continue
		}
		out = w.schema(out, [][]byte{s}, level+1)
	}
	return append(out, '}')
}

// extreme returns the largest of several numbers, or the smallest if sign is -1.
func extreme(all [][]byte, sign int) []byte {
	best := all[0]
	for _, value := range all[1:] {
		a, err := strconv.ParseFloat(string(best), 64)
		b, also := strconv.ParseFloat(string(value), 64)
		if err == nil && also == nil && cmp.Compare(b, a) == sign {
			best = value
		}
	}
	return best
}
