package schema

import (
	"strings"
	"unicode"

	"drawbridge/openapi/text"
	"drawbridge/openapi/tree"
)

const maxSummaryName = 60

// Summary says in a phrase what a value of the schema is, for "Returns …": "an Order object", "an array of Order", "a
// string"; "" when there is nothing to say.
func (c *Converter) Summary(schema *tree.Node) string {
	name, n := c.nameOf(schema)
	set, format := c.typesOf(schema)&^nullType, n.Get("format").Text()
	switch set {
	case objectType:
		switch {
		case name != "":
			return article(name) + " object"
		case n.Get("properties").Len() > 0:
			return "an object with " + c.someNames(n)
		}
		return "an object"
	case arrayType:
		if of := c.plural(n.Get("items")); of != "" {
			return "an array of " + of
		}
		return "an array"
	case stringType:
		if _, implied := writtenTypes(n.Get("type")); implied == "binary" || format == "binary" {
			return "binary data"
		}
		return "a string"
	case integerType:
		return "an integer"
	case numberType, numberType | integerType:
		return "a number"
	case booleanType:
		return "true or false"
	}
	if name != "" {
		return article(name)
	}
	return ""
}

// plural names the items of an array.
func (c *Converter) plural(items *tree.Node) string {
	name, n := c.nameOf(items)
	if name != "" {
		return name
	}
	switch c.typesOf(n) &^ nullType {
	case objectType:
		return "objects"
	case arrayType:
		return "arrays"
	case stringType:
		return "strings"
	case integerType:
		return "integers"
	case numberType, numberType | integerType:
		return "numbers"
	}
	return ""
}

// nameOf returns the name of a schema, if it is a component of the document or has a title, and the schema.
func (c *Converter) nameOf(n *tree.Node) (string, *tree.Node) {
	named := c.resolve(n)
	if all := named.Get("allOf"); all.Len() == 1 && named.Get("properties") == nil {
		if part := c.resolve(all.At(0)); part != nil {
			named = part
		}
	}
	switch named.Parent().Key() {
	case "schemas", "definitions", "$defs":
		if name := Clean(lastPart(named.Key()), maxSummaryName); name != "" && !strings.Contains(name, "\n") {
			return name, named
		}
	}
	if title := Clean(named.Get("title").Text(), maxSummaryName); !strings.Contains(title, "\n") {
		return title, named
	}
	return "", named
}

// lastPart returns the last part of a name that is qualified by packages: ConfigMap of io.k8s.api.core.v1.ConfigMap.
func lastPart(name string) string {
	parts := strings.Split(name, ".")
	if len(parts) < 3 {
		return name
	}
	for _, part := range parts {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool { return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) ||
			!unicode.IsLetter(rune(part[0])) {
			return name
		}
	}
	return parts[len(parts)-1]
}

func (c *Converter) someNames(n *tree.Node) string {
	var names []string
	for name, s := range n.Get("properties").Members() {
		if len(names) == 4 {
			names = append(names, "…")
			break
		}
		if !c.hidden(s, Response) && !unclean(name) {
			names = append(names, text.TruncateWords(name, 40))
		}
	}
	if len(names) == 0 {
		return "no members"
	}
	return strings.Join(names, ", ")
}

// article puts "a" or "an" before a name, after its first letter.
func article(name string) string {
	if strings.IndexByte("aeioAEIO", name[0]) >= 0 {
		return "an " + name
	}
	return "a " + name
}
