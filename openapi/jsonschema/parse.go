package jsonschema

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// form is the way in which the value of a keyword contains schemas.
type form uint8

const (
	none   form = iota
	single      // the value is a schema
	list        // the value is an array of schemas
	named       // the value is an object with schemas
)

// forms are the keywords that contain schemas (JSON Schema 2020-12, core, sections 8.2.4 and 10, and validation, section 8.5).
var forms = map[string]form{
	"items": single, "contains": single, "unevaluatedItems": single, "additionalProperties": single, "unevaluatedProperties": single,
	"propertyNames": single, "not": single, "if": single, "then": single, "else": single, "contentSchema": single,
	"allOf": list, "anyOf": list, "oneOf": list, "prefixItems": list,
	"properties": named, "patternProperties": named, "dependentSchemas": named, "$defs": named,
}

// names interns the names of common keywords.
var names = func() map[string]string {
	all := map[string]string{}
	for name := range forms {
		all[name] = name
	}
	for _, name := range []string{
		"$ref", "type", "title", "description", "enum", "const", "default", "examples", "deprecated", "format", "pattern", "required", "minimum",
		"maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
		"minProperties", "maxProperties", "contentEncoding", "contentMediaType", "dependentRequired",
	} {
		all[name] = name
	}
	return all
}()

// Parse parses a schema. The text is JSON that jsonscan.Scan accepts, and must not be changed afterwards, since the tree has slices of
// it. Parse never fails: a value that should be a schema and is not becomes a Schema without keywords.
func Parse(text []byte) *Schema {
	p := parser{text: text, tree: &tree{}, keywords: make([]Keyword, 0, schemasAtOnce), parts: make([]Part, 0, schemasAtOnce)}
	s, _ := p.schema(p.space(0))
	p.tree.root = s
	if defs := s.Parts("$defs"); defs != nil {
		p.tree.definitions = make(map[string]*Schema, len(defs))
		for _, d := range defs {
			if _, twice := p.tree.definitions[d.Name]; !twice {
				p.tree.definitions[d.Name] = d.Schema
			}
		}
	}
	p.resolve()
	return s
}

// Read parses another schema whose references are resolved with the definitions of s.
func (s *Schema) Read(text []byte) *Schema {
	p := parser{text: text, tree: s.tree}
	read, _ := p.schema(p.space(0))
	p.resolve()
	return read
}

// Composed returns a keyword that joins schemas of the same text, such as "anyOf".
func Composed(keyword string, schemas ...*Schema) Keyword {
	k := Keyword{Name: keyword}
	texts := make([][]byte, len(schemas))
	for i, s := range schemas {
		k.Parts = append(k.Parts, Part{Schema: s})
		texts[i] = s.text
	}
	k.Value = append(append([]byte{'['}, bytes.Join(texts, []byte{','})...), ']')
	return k
}

// With returns a schema that has only these keywords.
func (s *Schema) With(keywords ...Keyword) *Schema {
	text := []byte{'{'}
	for i, k := range keywords {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(jsonscan.AppendString(text, k.Name), ':'), k.Value...)
	}
	return &Schema{text: append(text, '}'), keywords: keywords, tree: s.tree}
}

// parser reads a text in one pass. Its methods return the offset after what they have read.
type parser struct {
	text       []byte
	tree       *tree
	keywords   []Keyword // of the schemas being read, the innermost last
	parts      []Part    // of the keywords being read
	references []*Schema
	room       []Schema // not used yet
}

// schema reads the schema at i.
func (p *parser) schema(i int) (*Schema, int) {
	s := p.allocate()
	if i >= len(p.text) || p.text[i] != '{' {
		end := min(jsonscan.Skip(p.text, i), len(p.text))
		s.text = p.text[min(i, end):end]
		return s, end
	}
	from := len(p.keywords)
	end := p.members(i, func(name []byte, at int) int {
		k := Keyword{Name: nameOf(name)}
		var end int
		k.Parts, end = p.value(forms[k.Name], at)
		if k.Value = p.text[at:end]; k.Name == "$ref" && !s.hasRef {
			s.hasRef = true
			p.references = append(p.references, s)
		}
		p.keywords = append(p.keywords, k)
		return end
	})
	s.keywords = slices.Clone(p.keywords[from:])
	p.keywords = p.keywords[:from]
	s.text = p.text[i:end]
	return s, end
}

// value reads the value at i of a keyword.
func (p *parser) value(f form, i int) ([]Part, int) {
	from := len(p.parts)
	add := func(name []byte, at int) int {
		s, end := p.schema(at)
		p.parts = append(p.parts, Part{string(name), s})
		return end
	}
	var end int
	switch kind := jsonscan.KindOf(p.text[i:min(i+1, len(p.text))]); {
	case f == single:
		end = add(nil, i)
	case f == list && kind == jsonscan.Array:
		end = p.elements(i, func(at int) int { return add(nil, at) })
	case f == named && kind == jsonscan.Object:
		end = p.members(i, add)
	default:
		return nil, min(jsonscan.Skip(p.text, i), len(p.text))
	}
	parts := slices.Clone(p.parts[from:])
	p.parts = p.parts[:from]
	return parts, end
}

// resolve sets the targets of references.
func (p *parser) resolve() {
	for _, s := range p.references {
		ref := s.Text("$ref")
		if name, ok := DefinitionName(ref); ok {
			s.target = p.tree.definitions[name]
		} else if fragment, ok := strings.CutPrefix(ref, "#"); ok {
			if pointer, err := url.PathUnescape(fragment); err == nil && (pointer == "" || pointer[0] == '/') {
				s.target = p.tree.root.At(pointer)
			}
		}
	}
}

// schemasAtOnce is the number of schemas in one allocation.
const schemasAtOnce = 16

func (p *parser) allocate() *Schema {
	if len(p.room) == 0 {
		p.room = make([]Schema, schemasAtOnce)
	}
	s := &p.room[0]
	p.room = p.room[1:]
	s.tree = p.tree
	return s
}

// nameOf returns the name of a keyword, interned if it is common.
func nameOf(name []byte) string {
	if known, ok := names[string(name)]; ok {
		return known
	}
	return string(name)
}

// members reads the object at i. read reads the value at an offset and returns the offset after it.
func (p *parser) members(i int, read func(name []byte, at int) int) int {
	for i = p.space(i + 1); i < len(p.text) && p.text[i] == '"'; {
		start := i
		i = jsonscan.Skip(p.text, i)
		name := jsonscan.Unquote(p.text[start:i])
		i = read(name, p.space(p.space(i)+1))
		if i = p.space(i); i < len(p.text) && p.text[i] == ',' {
			i = p.space(i + 1)
		}
	}
	return min(i+1, len(p.text))
}

// elements reads the array at i.
func (p *parser) elements(i int, read func(at int) int) int {
	for i = p.space(i + 1); i < len(p.text) && p.text[i] != ']'; {
		i = p.space(read(i))
		if i < len(p.text) && p.text[i] == ',' {
			i = p.space(i + 1)
		}
	}
	return min(i+1, len(p.text))
}

// space returns the offset of the first byte that is not white space.
func (p *parser) space(i int) int {
	for i < len(p.text) {
		switch p.text[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}
