package schema

// rule says what becomes of a keyword. A rule that finds a value of the wrong kind leaves the keyword out and warns.
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

	// Applicators. "In place" are those that apply to the very value of the schema they stand in.
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

// holdsSchemas tells whether schemas stand below the keyword.
func (r rule) holdsSchemas() bool { return r >= propertiesRule }

// typeName is what a word under "type" means in JSON Schema, with the format that the word implies. Besides the seven
// of JSON Schema these are Swagger 2.0's "file" and what documents in the wild write. kind 0: the word says nothing.
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
