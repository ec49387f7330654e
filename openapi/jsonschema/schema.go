package jsonschema

import (
	"net/url"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// A Schema is one schema of a JSON text. It is immutable and safe for concurrent use. A nil *Schema is an absent schema: its methods
// return the same as for a schema without keywords.
type Schema struct {
	text     []byte
	keywords []Keyword
	tree     *tree
	target   *Schema
	hasRef   bool
}

// tree is shared by the schemas of one text.
type tree struct {
	root        *Schema
	definitions map[string]*Schema // those of $defs of the root
}

// A Keyword is one member of a schema.
type Keyword struct {
	Name  string
	Value []byte // JSON, as in the text
	// Parts are the schemas in the value: the one of "items", those in the list of "allOf", or the named ones of "properties". It is
	// empty for keywords without schemas, such as "type".
	Parts []Part
}

// A Part is a schema in the value of a keyword.
type Part struct {
	Name   string // of the property or definition; "" in a list
	Schema *Schema
}

// Source returns the text of the schema; nil for nil.
func (s *Schema) Source() []byte {
	if s == nil {
		return nil
	}
	return s.text
}

// IsObject reports whether the schema is an object, as all are but true and false (JSON Schema core, section 4.3).
func (s *Schema) IsObject() bool { return jsonscan.KindOf(s.Source()) == jsonscan.Object }

// Keywords returns the keywords in the author's order.
func (s *Schema) Keywords() []Keyword {
	if s == nil {
		return nil
	}
	return s.keywords
}

// Keyword returns the first keyword of that name, or the zero Keyword.
func (s *Schema) Keyword(name string) Keyword {
	for i, k := range s.Keywords() {
		if k.Name == name {
			return s.keywords[i]
		}
	}
	return Keyword{}
}

// Has reports whether the schema has a keyword.
func (s *Schema) Has(keyword string) bool { return s.Keyword(keyword).Name != "" }

// Value returns the value of a keyword as in the text, or nil.
func (s *Schema) Value(keyword string) []byte { return s.Keyword(keyword).Value }

// Text returns the value of a keyword if it is a string, else "".
func (s *Schema) Text(keyword string) string { return s.Keyword(keyword).Text() }

// Schema returns the schema that is the value of a keyword such as "items", or nil.
func (s *Schema) Schema(keyword string) *Schema { return s.Keyword(keyword).Schema() }

// Parts returns the schemas in the value of a keyword such as "allOf" or "properties".
func (s *Schema) Parts(keyword string) []Part { return s.Keyword(keyword).Parts }

// Property returns the schema of a property that the schema itself declares, or nil. Composition is not considered: see [Schema.Members].
func (s *Schema) Property(name string) *Schema {
	for _, p := range s.Parts("properties") {
		if p.Name == name {
			return p.Schema
		}
	}
	return nil
}

// Required returns the names that the schema itself requires, in the author's order.
func (s *Schema) Required() []string { return s.Keyword("required").Texts() }

// Types returns the types that the schema itself names, in the author's order. It is empty without "type".
func (s *Schema) Types() []string { return s.Keyword("type").Texts() }

// Never reports whether the schema plainly accepts nothing: false, or the negation of a schema that accepts everything.
func (s *Schema) Never() bool {
	if !s.IsObject() {
		return jsonscan.KindOf(s.Source()) == jsonscan.Bool && s.text[0] == 'f'
	}
	not := s.Value("not")
	return string(not) == "{}" || string(not) == "true"
}

// Root returns the schema of the whole text.
func (s *Schema) Root() *Schema { return s.tree.root }

// Definition returns a member of "$defs" of the root, or nil.
func (s *Schema) Definition(name string) *Schema {
	if s == nil {
		return nil
	}
	return s.tree.definitions[name]
}

// HasReference reports whether the schema has a "$ref", whether or not it can be resolved.
func (s *Schema) HasReference() bool { return s != nil && s.hasRef }

// Target returns the schema that "$ref" refers to. It is nil without a reference, and for one that is not a JSON Pointer to a schema of
// the text. References may be circular.
func (s *Schema) Target() *Schema {
	if s == nil {
		return nil
	}
	return s.target
}

// Reference returns the name of the definition that "$ref" refers to, whether or not it exists; "" if there is no such reference.
func (s *Schema) Reference() string {
	if !s.HasReference() {
		return ""
	}
	name, _ := DefinitionName(s.Text("$ref"))
	return name
}

// Resolve follows references to a schema without one, and ignores keywords beside references. It returns nil if a reference can't be
// resolved, or if more than [MaxDepth] follow each other, as in a circle.
func (s *Schema) Resolve() *Schema {
	for range MaxDepth {
		if !s.HasReference() {
			return s
		}
		s = s.target
	}
	return nil
}

// Schema returns the schema in the value if there is exactly one, else nil.
func (k Keyword) Schema() *Schema {
	if len(k.Parts) != 1 {
		return nil
	}
	return k.Parts[0].Schema
}

// Schemas returns the schemas in the value without their names.
func (k Keyword) Schemas() []*Schema {
	all := make([]*Schema, len(k.Parts))
	for i, p := range k.Parts {
		all[i] = p.Schema
	}
	return all
}

// Text returns the value if it is a string, else "".
func (k Keyword) Text() string {
	if jsonscan.KindOf(k.Value) != jsonscan.String {
		return ""
	}
	return string(jsonscan.Unquote(k.Value))
}

// Texts returns the strings of a value that is a string or a list of strings.
func (k Keyword) Texts() []string {
	if jsonscan.KindOf(k.Value) == jsonscan.String {
		return []string{k.Text()}
	}
	var all []string
	for item := range jsonscan.Elements(k.Value) {
		all = append(all, string(jsonscan.Unquote(item)))
	}
	return all
}

const definitionPrefix = "#/$defs/"

// ReferenceTo returns the value of a "$ref" to a definition, without quotes. The name is plain or needs the escapes of a JSON Pointer alone.
func ReferenceTo(name string) string { return definitionPrefix + jsonscan.EscapeToken(name) }

// DefinitionName returns the name of the definition that the value of a "$ref" refers to; it is false if it refers to something else.
func DefinitionName(ref string) (name string, ok bool) {
	name, ok = strings.CutPrefix(ref, definitionPrefix)
	if !ok || strings.Contains(name, "/") {
		return "", false
	}
	if name, err := url.PathUnescape(name); err == nil {
		return jsonscan.UnescapeToken(name), true
	}
	return "", false
}

// At returns the schema to which a JSON Pointer (RFC 6901) leads from s, or nil.
func (s *Schema) At(pointer string) *Schema {
	for pointer != "" && s != nil {
		var keyword, token string
		keyword, pointer = jsonscan.CutToken(pointer)
		k := s.Keyword(keyword)
		if forms[keyword] == single {
			s = k.Schema()
			continue
		}
		token, pointer = jsonscan.CutToken(pointer)
		s = k.part(token)
	}
	return s
}

// part returns the schema with a name or, in a list, with an index.
func (k Keyword) part(token string) *Schema {
	if forms[k.Name] == list {
		i, err := strconv.Atoi(token)
		if err != nil || i < 0 || i >= len(k.Parts) {
			return nil
		}
		return k.Parts[i].Schema
	}
	for _, p := range k.Parts {
		if p.Name == token {
			return p.Schema
		}
	}
	return nil
}
