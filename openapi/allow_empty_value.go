package openapi

import (
	"strings"

	"drawbridge/openapi/tree"

	"drawbridge/openapi/jsonschema"
)

// withEmpty returns the schema of a query parameter with allowEmptyValue: the empty string, which is sent as "name=", is
// one of its values, though the type or the enum of the schema hasn't got it (OAS 3.0.4 Parameter Object,
// allowEmptyValue).
func (c *compiler) withEmpty(s *tree.Node) *tree.Node {
	n := c.follow(s)
	if n.Kind() != tree.Object {
		return s
	}
	text := n.Get("type").Text() == "string"
	values := n.Get("enum")
	for _, v := range values.Items() {
		if v.Kind() == tree.String && v.Text() == "" {
			return s
		}
	}
	limited := composed(n)
	for _, key := range []string{"const", "pattern", "minLength"} {
		limited = limited || n.Get(key) != nil
	}
	switch {
	case n.Get("type") == nil && values == nil && !limited:
		return s // anything
	case text && values == nil && !limited:
		return s
	case text && values != nil && !limited:
		more := tree.NewArray(values)
		for _, v := range values.Items() {
			more.Append(v)
		}
		more.Append(tree.NewString(values, ""))
		out := tree.Copy(n)
		out.Set("enum", more)
		return out
	}
	nothing := tree.NewObject(n)
	nothing.Set("type", tree.NewString(n, "string"))
	only := tree.NewArray(n)
	only.Append(tree.NewString(n, ""))
	nothing.Set("enum", only)
	either := tree.NewArray(n)
	either.Append(s)
	either.Append(nothing)
	out := tree.NewObject(n)
	if d := n.Get("description"); d != nil {
		out.Set("description", d)
	}
	out.Set("anyOf", either)
	return out
}

// nested returns the delimiters of lists within lists by the collectionFormat of their items (Swagger 2.0), whose
// default is csv as everywhere.
func (c *compiler) nested(s *tree.Node) (marks []byte) {
	if c.doc.dialect != swagger2 {
		return nil
	}
	for range jsonschema.MaxDepth {
		s = c.follow(s).Get("items")
		if n := c.follow(s); strings.ToLower(n.Get("type").Text()) != "array" {
			return marks
		} else if mark, ok := map[string]byte{"": ',', "csv": ',', "ssv": ' ', "tsv": '\t', "pipes": '|'}[n.Get("collectionFormat").Text()]; ok {
			marks = append(marks, mark)
		} else {
			c.problems.at(n, codeCollectionFormat, "collectionFormat %q is not known here; csv is used", n.Get("collectionFormat").Text())
			marks = append(marks, ',')
		}
	}
	return marks
}
