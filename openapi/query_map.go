package openapi

import (
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"drawbridge/openapi/tree"
	"drawbridge/openapi/wire"
)

// A map of a protocol buffer in the query is a parameter "weight[string]" in the documents of grpc-gateway, with the
// type of its keys in the brackets and that of its values as its own. It is sent as "weight[front]=7&weight[rear]=9",
// which is the deepObject encoding of an object.
var mapName = regexp.MustCompile(`^([^\[\]]+)\[(string|bool|boolean|integer|number|u?int(?:32|64)|sint(?:32|64)|s?fixed(?:32|64))\]$`)

// keyPatterns are those of keys that are not strings.
var keyPatterns = map[bool]string{true: "^-?[0-9]+$", false: "^(true|false)$"}

// mapInQuery turns a parameter that is a map into an object. A name that ends in "[string]" is one; with another type
// of keys the description must confirm it.
func (b *binder) mapInQuery(next *binding) {
	found := mapName.FindStringSubmatch(next.wire)
	if found == nil || found[2] != "string" && !strings.Contains(strings.ToLower(next.description), "map") {
		return
	}
	for _, p := range b.model.parameters {
		if p.typed.In == wire.Query.String() && p.typed.Name == found[1] {
			return // it would be sent under the same names
		}
	}
	b.problems.at(next.node, codeQueryMap, "the query parameter %q is read as an object whose members are sent as %q", next.wire, found[1]+"[name]=value")
	object := tree.NewObject(next.node)
	object.Set("type", tree.NewString(next.node, "object"))
	if next.schema != nil {
		object.Set("additionalProperties", withoutExample(next.schema))
	}
	if found[2] != "string" {
		names := tree.NewObject(next.node)
		names.Set("pattern", tree.NewString(next.node, keyPatterns[!strings.HasPrefix(found[2], "bool")]))
		object.Set("propertyNames", names)
	}
	typed := openapi3.Parameter{Name: found[1], In: next.parameter.typed.In, Required: next.required, Style: wire.DeepObject.String()}
	next.wire, next.schema = found[1], object
	next.parameter = &parameter{typed: &typed, node: next.node, schema: object, description: next.description}
}

// withoutExample returns a schema without its examples, which describe the object that contains it.
func withoutExample(s *tree.Node) *tree.Node {
	if s.Get("example") == nil && s.Get("examples") == nil && s.Get("description") == nil {
		return s
	}
	plain := tree.Copy(s)
	for _, name := range []string{"example", "examples", "description"} {
		plain.Set(name, nil)
	}
	return plain
}
