package tree

// role is the kind of OpenAPI object that a value is: the walk repairs a value by the role in which it is reached.
type role uint8

// The roles that references lead to come first: nodes record those (roleSet).
const (
	roleSchema role = iota
	roleParameter
	roleHeader
	roleBody
	roleMedia
	roleResponse
	rolePathItem
	roleOperation
	roleCallback
	roleLink
	roleSecurity
	roleEncoding
	recordedRoles // number of recorded roles; a roleSet has room for 16

	roleDocument
	roleInfo
	roleNamed // contact, license: text members only
	roleTag
	roleServer
	roleVariable
	roleComponents
	roleRequirement
	roleFlows
	roleFlow
	roleDocs
	roleCount
)

// roleSet is a set of the recorded roles.
type roleSet uint16

func (s roleSet) has(r role) bool { return r < recordedRoles && s&(1<<r) != 0 }

// shape is the JSON shape that a field requires.
type shape uint8

const (
	shapeAny    shape = iota // the author's own: never changed
	shapeText                // a string
	shapeFlag                // true or false
	shapeNumber              // a number
	shapeBound               // a number or, in older drafts, a boolean
	shapeTexts               // a list of strings
	shapeOne                 // one object of a role
	shapeList                // a list of objects of a role
	shapeDict                // objects of a role by name
)

// field describes the value that a field requires.
type field struct {
	shape shape
	role  role
	open  bool // of a dict: members named x-… are extensions, not entries
	empty bool // null counts as an empty object or list
}

// object describes the objects of one role.
type object struct {
	fields map[string]field
	other  field // of members that are not in fields
}

// MSPaths is the member of Microsoft's documents with paths that differ by their query: "/shares?comp=list".
const MSPaths = "x-ms-paths"

// newGrammar returns the objects of OpenAPI 2.0 to 3.2. The versions hardly differ in shapes, so one table serves all.
func newGrammar() *[roleCount]object {
	text, flag, number, texts := field{shape: shapeText}, field{shape: shapeFlag}, field{shape: shapeNumber}, field{shape: shapeTexts}
	bound := field{shape: shapeBound}
	one := func(r role) field { return field{shape: shapeOne, role: r} }
	list := func(r role) field { return field{shape: shapeList, role: r} }
	dict := func(r role) field { return field{shape: shapeDict, role: r} }
	open := func(r role) field { return field{shape: shapeDict, role: r, open: true} }

	g := new([roleCount]object)
	g[roleDocument].fields = map[string]field{
		"info": one(roleInfo), "paths": open(rolePathItem), MSPaths: open(rolePathItem), "webhooks": open(rolePathItem),
		"servers": list(roleServer), "tags": list(roleTag), "security": list(roleRequirement),
		"components": one(roleComponents), "externalDocs": one(roleDocs),
		"jsonSchemaDialect": text, "$self": text,
		"host": text, "basePath": text, "schemes": texts, "consumes": texts, "produces": texts,
		"definitions": dict(roleSchema), "parameters": dict(roleParameter),
		"responses": dict(roleResponse), "securityDefinitions": dict(roleSecurity),
	}
	g[roleInfo].fields = map[string]field{
		"title": text, "version": text, "summary": text, "description": text, "termsOfService": text,
		"contact": one(roleNamed), "license": one(roleNamed),
	}
	g[roleNamed].fields = map[string]field{"name": text, "url": text, "email": text, "identifier": text}
	g[roleDocs].fields = map[string]field{"url": text, "description": text}
	g[roleTag].fields = map[string]field{
		"name": text, "summary": text, "description": text, "parent": text, "kind": text, "externalDocs": one(roleDocs),
	}
	g[roleServer].fields = map[string]field{
		"url": text, "name": text, "description": text, "variables": dict(roleVariable),
	}
	g[roleVariable].fields = map[string]field{"default": text, "description": text, "enum": texts}
	g[roleComponents].fields = map[string]field{
		"schemas": dict(roleSchema), "parameters": dict(roleParameter), "headers": dict(roleHeader),
		"requestBodies": dict(roleBody), "responses": dict(roleResponse), "securitySchemes": dict(roleSecurity),
		"links": dict(roleLink), "callbacks": dict(roleCallback), "pathItems": dict(rolePathItem), "mediaTypes": dict(roleMedia),
	}
	// Never leave a scheme out: without it the requirement would be weaker.
	g[roleRequirement].other = field{shape: shapeTexts, empty: true}

	operation := one(roleOperation)
	g[rolePathItem].fields = map[string]field{
		"summary": text, "description": text, "servers": list(roleServer), "parameters": list(roleParameter),
		"get": operation, "put": operation, "post": operation, "delete": operation, "options": operation,
		"head": operation, "patch": operation, "trace": operation, "query": operation,
		"additionalOperations": dict(roleOperation),
	}
	g[roleOperation].fields = map[string]field{
		"tags": texts, "summary": text, "description": text, "operationId": text, "deprecated": flag,
		"parameters": list(roleParameter), "requestBody": one(roleBody), "responses": open(roleResponse),
		"callbacks": dict(roleCallback), "security": list(roleRequirement), "servers": list(roleServer),
		"externalDocs": one(roleDocs), "consumes": texts, "produces": texts, "schemes": texts,
	}
	g[roleCallback].other = one(rolePathItem)
	g[roleLink].fields = map[string]field{
		"operationRef": text, "operationId": text, "description": text, "server": one(roleServer),
	}

	parameter := map[string]field{
		"name": text, "in": text, "description": text, "required": flag, "deprecated": flag, "allowEmptyValue": flag,
		"style": text, "explode": flag, "allowReserved": flag, "schema": one(roleSchema), "content": dict(roleMedia),
		// Swagger 2.0: the schema is in the parameter itself.
		"type": text, "format": text, "items": one(roleSchema), "collectionFormat": text, "pattern": text,
		"maximum": number, "minimum": number, "maxLength": number, "minLength": number, "maxItems": number,
		"minItems": number, "multipleOf": number, "uniqueItems": flag, "exclusiveMaximum": bound, "exclusiveMinimum": bound,
	}
	g[roleParameter].fields = parameter
	g[roleHeader].fields = parameter
	g[roleBody].fields = map[string]field{"description": text, "required": flag, "content": dict(roleMedia)}
	g[roleMedia].fields = map[string]field{
		"schema": one(roleSchema), "itemSchema": one(roleSchema), "encoding": dict(roleEncoding),
		"itemEncoding": one(roleEncoding), "prefixEncoding": list(roleEncoding),
	}
	g[roleEncoding].fields = map[string]field{
		"contentType": text, "headers": dict(roleHeader), "style": text, "explode": flag, "allowReserved": flag,
		"encoding": dict(roleEncoding), "itemEncoding": one(roleEncoding), "prefixEncoding": list(roleEncoding),
	}
	g[roleResponse].fields = map[string]field{
		"description": text, "summary": text, "headers": dict(roleHeader), "content": dict(roleMedia),
		"links": dict(roleLink), "schema": one(roleSchema),
	}
	g[roleSecurity].fields = map[string]field{
		"type": text, "description": text, "name": text, "in": text, "scheme": text, "bearerFormat": text,
		"openIdConnectUrl": text, "oauth2MetadataUrl": text, "flows": one(roleFlows), "deprecated": flag,
		"flow": text, "authorizationUrl": text, "tokenUrl": text,
	}
	g[roleFlows].fields = map[string]field{
		"implicit": one(roleFlow), "password": one(roleFlow), "clientCredentials": one(roleFlow),
		"authorizationCode": one(roleFlow), "deviceAuthorization": one(roleFlow),
	}
	g[roleFlow].fields = map[string]field{
		"authorizationUrl": text, "tokenUrl": text, "refreshUrl": text, "deviceAuthorizationUrl": text,
	}

	schema, schemas, named := one(roleSchema), list(roleSchema), dict(roleSchema)
	g[roleSchema].fields = map[string]field{
		"title": text, "description": text, "format": text, "pattern": text,
		"contentEncoding": text, "contentMediaType": text, "contentSchema": schema,
		"nullable": flag, "readOnly": flag, "writeOnly": flag, "deprecated": flag, "uniqueItems": flag,
		"maximum": number, "minimum": number, "exclusiveMaximum": bound, "exclusiveMinimum": bound, "multipleOf": number,
		"maxLength": number, "minLength": number, "maxItems": number, "minItems": number,
		"maxProperties": number, "minProperties": number, "maxContains": number, "minContains": number,
		"required": texts, "properties": named, "patternProperties": named, "additionalProperties": schema,
		"propertyNames": schema, "unevaluatedProperties": schema, "dependentSchemas": named,
		"items": schema, "prefixItems": schemas, "additionalItems": schema, "unevaluatedItems": schema, "contains": schema,
		"allOf": schemas, "anyOf": schemas, "oneOf": schemas, "not": schema,
		"if": schema, "then": schema, "else": schema, "$defs": named, "definitions": named,
	}
	return g
}

// describe returns the name of a role for messages.
func (r role) describe() string {
	switch r {
	case roleSchema:
		return "a schema"
	case roleParameter:
		return "a parameter"
	case roleHeader:
		return "a header"
	case roleBody:
		return "a request body"
	case roleMedia:
		return "a media type"
	case roleResponse:
		return "a response"
	case rolePathItem:
		return "a path item"
	case roleOperation:
		return "an operation"
	case roleCallback:
		return "a callback"
	case roleLink:
		return "a link"
	case roleSecurity:
		return "a security scheme"
	case roleEncoding:
		return "an encoding"
	case roleTag:
		return "a tag"
	case roleServer:
		return "a server"
	case roleRequirement:
		return "a security requirement"
	case roleDocument:
		return "the document"
	case roleInfo:
		return "\"info\""
	case roleComponents:
		return "\"components\""
	case roleVariable:
		return "a server variable"
	default:
		return "an object"
	}
}
