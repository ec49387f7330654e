package jsonschema

import (
	"net/url"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// A Schema is one schema of a text. It is immutable and safe for concurrent use. All methods take nil for a schema that is not
// there, and then return what they return for one without keywords.
type Schema struct {
	text     []byte
	keywords []Keyword
	tree     *tree
	target   *Schema
	hasRef   bool
}

// tree is what the schemas of one text share.
type tree struct {
	root        *Schema
	definitions map[string]*Schema // those of $defs of the root
}

// A Keyword is one member of a schema.
type Keyword struct {
	Name  string
	Value []byte // as it is written
	// Parts are the schemas in the value: the one of "items", those of a list such as "allOf", or the named ones of
	// "properties". None if the keyword holds no schemas.
	Parts []Part
}

// A Part is a schema in the value of a keyword.
type Part struct {
	Name   string // of the member; "" in a list
	Schema *Schema
}

// Source returns the schema as it is written; nil for nil.
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

// Keyword returns the first keyword of that name; the zero Keyword if there is none.
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

// Value returns the value of a keyword as it is written, or nil.
func (s *Schema) Value(keyword string) []byte { return s.Keyword(keyword).Value }

// Text returns the value of a keyword that is a string, "" for any other.
func (s *Schema) Text(keyword string) string { return s.Keyword(keyword).Text() }

// Schema returns the schema that is the value of a keyword such as "items", or nil.
func (s *Schema) Schema(keyword string) *Schema { return s.Keyword(keyword).Schema() }

// Parts returns the schemas in the value of a keyword such as "allOf" or "properties".
func (s *Schema) Parts(keyword string) []Part { return s.Keyword(keyword).Parts }

// Property returns the schema of a declared property, nil if the schema does not declare it itself.
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

// Types returns the types that the schema itself names, in the author's order; none if it has no "type".
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

// HasReference reports whether the schema has a "$ref", wherever it leads.
func (s *Schema) HasReference() bool { return s != nil && s.hasRef }

// Target returns the schema that "$ref" leads to, nil if there is no reference or it leads nowhere: to other than a JSON Pointer into
// the text. It may lead back to s.
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

// Resolve follows references until there is a schema without one; what stands beside a reference is left aside. It is nil if a reference
// leads nowhere or back to itself.
func (s *Schema) Resolve() *Schema {
	for range MaxDepth {
		if !s.HasReference() {
			return s
		}
		s = s.target
	}
	return nil
}

// Schema returns the only schema in the value, nil if there is none or there are several.
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

// Text returns the value if it is a string, "" for any other.
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
		keyword, pointer = next(pointer)
		k := s.Keyword(keyword)
		if forms[keyword] == single {
			s = k.Schema()
			continue
		}
		token, pointer = next(pointer)
		s = k.part(token)
	}
	return s
}

// next returns the first token of a pointer, and the rest of the pointer.
func next(pointer string) (token, rest string) {
	token, rest, more := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	if more {
		rest = "/" + rest
	}
	return jsonscan.UnescapeToken(token), rest
}

// part returns the schema of a name or, in a list, of an index.
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
