package schema

import (
	"fmt"
	"strings"

	"drawbridge/openapi/tree"
)

// rule is the conversion of a keyword. A rule that finds a value of the wrong kind leaves the keyword out and warns.
type rule uint8

const (
	dropped rule = iota

	// The effect of the keyword is computed before anything is written, see schemaFacts.
	refRule       // $ref
	typeRule      // type
	nullRule      // nullable
	exclusiveRule // a number in 2020-12; a boolean beside minimum or maximum in 2.0 and 3.0

	// Annotations.
	descriptionRule
	titleRule
	deprecatedRule // written when true
	defaultRule    // any JSON value
	exampleRule    // one value, becomes "examples"
	examplesRule   // an array of values; examples by name, as some write them, are left out
	formatRule
	mediaRule // contentEncoding, contentMediaType

	// Assertions.
	valuesRule  // enum
	constRule   // const, null included
	numberRule  // minimum, maximum
	stepRule    // multipleOf: above zero
	countRule   // a whole number, not below zero
	flagRule    // uniqueItems
	patternRule // an ECMA-262 expression
	namesRule   // required
	needsRule   // dependentRequired

	// Applicators: keywords with schemas. "In place" are those whose schemas apply to the same value as the schema with the keyword.
	propertiesRule
	patternsRule // patternProperties
	closedRule   // additionalProperties and unevaluated…: a schema, or a boolean kept as one
	itemsRule    // a schema; an array of schemas, as up to draft 2019-09, becomes prefixItems
	tupleRule    // prefixItems
	innerRule    // a schema for a part of the value
	inPlaceRule  // a schema in place
	allOfRule    // schemas in place, all of them
	unionRule    // schemas in place, alternatives
	dependsRule  // dependentSchemas: schemas in place by name
)

// keyword is a row of the table: what a keyword means in each dialect.
type keyword struct {
	name    string
	meaning [3]rule // by Dialect
}

func always(r rule) [3]rule { return [3]rule{r, r, r} }
func since31(r rule) [3]rule {
	return [3]rule{OpenAPI31: r}
}

// keywords is the whole vocabulary; what has no row is left out: x-… extensions, xml, externalDocs, discriminator,
// definitions and $defs (what is referred to comes along as $defs by itself), $schema, $id, $anchor and $comment.
// Keywords that a dialect does not have but whose meaning can't be mistaken have the same row in all: documents use
// them, and what the author meant is plain.
var keywords = func() map[string]*keyword {
	table := []keyword{
		{"$ref", always(refRule)},
		{"$dynamicRef", since31(refRule)},
		{"type", always(typeRule)},
		{"nullable", always(nullRule)},
		{"x-nullable", always(nullRule)},
		{"exclusiveMinimum", always(exclusiveRule)},
		{"exclusiveMaximum", always(exclusiveRule)},

		{"title", always(titleRule)},
		{"description", always(descriptionRule)},
		{"deprecated", always(deprecatedRule)},
		{"default", always(defaultRule)},
		{"example", always(exampleRule)},
		{"x-example", [3]rule{Swagger20: exampleRule}},
		{"examples", since31(examplesRule)},
		{"format", always(formatRule)},
		{"contentEncoding", since31(mediaRule)},
		{"contentMediaType", since31(mediaRule)},
		{"contentSchema", since31(innerRule)},

		{"enum", always(valuesRule)},
		{"const", always(constRule)},
		{"minimum", always(numberRule)},
		{"maximum", always(numberRule)},
		{"multipleOf", always(stepRule)},
		{"minLength", always(countRule)},
		{"maxLength", always(countRule)},
		{"minItems", always(countRule)},
		{"maxItems", always(countRule)},
		{"minProperties", always(countRule)},
		{"maxProperties", always(countRule)},
		{"minContains", since31(countRule)},
		{"maxContains", since31(countRule)},
		{"uniqueItems", always(flagRule)},
		{"pattern", always(patternRule)},
		{"required", always(namesRule)},
		{"dependentRequired", since31(needsRule)},

		{"properties", always(propertiesRule)},
		{"patternProperties", always(patternsRule)},
		{"additionalProperties", always(closedRule)},
		{"unevaluatedProperties", since31(closedRule)},
		{"unevaluatedItems", since31(closedRule)},
		{"items", always(itemsRule)},
		{"prefixItems", always(tupleRule)},
		{"contains", since31(innerRule)},
		{"propertyNames", always(innerRule)},
		{"not", always(inPlaceRule)},
		{"if", since31(inPlaceRule)},
		{"then", since31(inPlaceRule)},
		{"else", since31(inPlaceRule)},
		{"allOf", always(allOfRule)},
		{"anyOf", always(unionRule)},
		{"oneOf", always(unionRule)},
		{"dependentSchemas", since31(dependsRule)},
	}
	m := make(map[string]*keyword, len(table))
	for i := range table {
		m[table[i].name] = &table[i]
	}
	return m
}()

// ruleOf returns what to do with a keyword in a dialect.
func ruleOf(name string, d Dialect) rule {
	if k := keywords[name]; k != nil {
		return k.meaning[d]
	}
	return dropped
}

func (r rule) annotation() bool { return r >= descriptionRule && r <= examplesRule }

// holdsSchemas reports whether the value of the keyword contains schemas.
func (r rule) holdsSchemas() bool { return r >= propertiesRule }

// keyword writes one keyword after its rule.
func (e *emitter) keyword(n *tree.Node, name string, v *tree.Node, r rule, at place, f *schemaFacts) {
	switch r {
	case nullRule: // part of type, enum or the alternative to all the rest
	case refRule:
		if f.target != nil && v == f.ref {
			e.hole(f.target, f.in, at, false)
		}
	case typeRule:
		e.writtenType(n, at, f)
	case titleRule, deprecatedRule, defaultRule, formatRule, mediaRule:
		e.annotation(n, name, v, r, at, f)
	default:
		if r.holdsSchemas() {
			e.applicator(n, name, v, r, at, f)
		} else {
			e.assertion(n, name, v, r, at, f)
		}
	}
}

// writtenType writes the type that the document has, with the format that the word for it implies.
func (e *emitter) writtenType(n *tree.Node, at place, f *schemaFacts) {
	if added := f.inferred || at.extra != nil && at.extra.object; added || f.types == 0 || f.dropType {
		return
	}
	e.typeKeyword(f.types)
	if f.format != "" && n.Get("format") == nil {
		e.member("format")
		e.raw(`"` + f.format + `"`)
	}
}

// annotation writes a keyword that describes a value and does not restrict it. Descriptions and examples are not among
// these: what their schema's owner says belongs to them.
func (e *emitter) annotation(n *tree.Node, name string, v *tree.Node, r rule, at place, f *schemaFacts) {
	switch r {
	case titleRule:
		described := at.said(n.Get("description").Text()) != "" || at.extra != nil && at.said(at.extra.description) != ""
		if !described && !sameWords(v.Text(), at.name) {
			e.text(name, v, maxTitle)
		}
	case formatRule:
		if v.Text() != "" {
			e.text(name, v, maxFormat)
		}
	case mediaRule:
		e.text(name, v, maxFormat)
	case deprecatedRule:
		if v.Bool() {
			e.member(name)
			e.raw("true")
		}
	case defaultRule:
		if _, ok := at.extra.accepts(literal(v, f.types)); ok {
			e.value(name, v, f)
		}
	}
}

// assertion writes a keyword that restricts values and holds no schema.
func (e *emitter) assertion(n *tree.Node, name string, v *tree.Node, r rule, at place, f *schemaFacts) {
	switch r {
	case constRule:
		e.value(name, v, f)
	case valuesRule:
		if f.misplaced == nil {
			e.values(v, f)
		}
	case exclusiveRule:
		if v.Kind() != tree.Bool {
			e.number(name, v, false)
		}
	case numberRule:
		exclusive := "exclusive" + strings.ToUpper(name[:1]) + name[1:]
		if n.Get(exclusive).Bool() {
			name = exclusive
		}
		e.number(name, v, false)
	case stepRule:
		e.number(name, v, true)
	case countRule:
		e.count(name, v)
	case flagRule:
		switch {
		case v.Bool():
			e.member(name)
			e.raw("true")
		case v.Kind() != tree.Bool:
			e.refuse(v, name)
		}
	case patternRule:
		if !e.leaveOut(n, v, at, f) {
			e.pattern(v)
		}
	case namesRule:
		e.required(v, at, f)
	case needsRule:
		e.dependentRequired(v, at)
	default:
		panic(fmt.Sprintf("schema: keyword %q has a rule without code", name))
	}
}

// typeName returns the JSON Schema type of a word under "type", and the format that the word implies. Besides the seven types of JSON
// Schema it knows Swagger 2.0's "file" and words of documents in the wild. kind is 0 for other words.
func typeName(word string) (kind types, format string) {
	switch word {
	case "null", "Null", "NULL":
		return nullType, ""
	case "boolean", "Boolean", "bool":
		return booleanType, ""
	case "object", "Object", "map", "dict", "hash":
		return objectType, ""
	case "array", "Array", "list":
		return arrayType, ""
	case "string", "String", "str", "text", "enum":
		return stringType, ""
	case "number", "Number":
		return numberType, ""
	case "integer", "Integer", "int", "bigint":
		return integerType, ""
	case "int32", "int64":
		return integerType, word
	case "long":
		return integerType, "int64"
	case "float", "double":
		return numberType, word
	case "decimal":
		return numberType, ""
	case "file", "File", "binary":
		return stringType, "binary"
	case "date", "date-time", "uuid", "uri", "email", "byte", "password":
		return stringType, word
	case "datetime", "timestamp":
		return stringType, "date-time"
	}
	return 0, ""
}

// types is a set of JSON Schema types.
type types uint8

const (
	stringType types = 1 << iota
	integerType
	numberType
	booleanType
	objectType
	arrayType
	nullType
)

// names returns the words of the set, null last.
func (t types) names() []string {
	var out []string
	for i, name := range [...]string{"string", "integer", "number", "boolean", "object", "array", "null"} {
		if t&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}
