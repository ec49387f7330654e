package openapi

import (
	"drawbridge/openapi/tree"
)

// liftBody makes the request body of an operation of 3.x from the parameters that are in "body" or "formData", as in
// Swagger 2.0.
func (c *compiler) liftBody(f found) found {
	if !c.hasBodyParameter(f) {
		return f
	}
	var body *tree.Node
	var form []*tree.Node
	others := tree.NewArray(f.node)
	for _, p := range c.parameters(f) {
		in := p.node.Get("in").Text()
		switch {
		case in != "body" && in != "formData":
			others.Append(p.node)
		case f.node.Get("requestBody") != nil:
			c.problems.at(p.node, codeBodyParameter, "the parameter %q in %q is left out: the operation has a requestBody", shortCopy(p.node.Get("name").Text()), in)
		case in == "body" && body != nil:
			c.problems.at(p.node, codeBodySeveral, "second body parameter is left out: a request has one body")
		case in == "body":
			c.problems.at(p.node, codeBodyParameter, "the parameter %q is in \"body\" as in Swagger 2.0; it is read as the requestBody", shortCopy(p.node.Get("name").Text()))
			body = p.node
		default:
			c.problems.at(p.node, codeBodyParameter, "the parameter %q is in \"formData\" as in Swagger 2.0; it is read as a member of the requestBody", shortCopy(p.node.Get("name").Text()))
			form = append(form, p.node)
		}
	}
	op := tree.Copy(f.node)
	op.Set("parameters", others)
	consumes := c.mediaTypes(f, "consumes")
	switch {
	case body != nil && len(form) > 0:
		c.problems.at(body, codeBodySeveral, "form parameters beside a body are left out: a request has one body")
		fallthrough
	case body != nil:
		if len(consumes) == 0 {
			consumes = []string{"application/json"}
		}
		op.Set("requestBody", upgradeBody(body, consumes))
	case len(form) > 0:
		op.Set("requestBody", c.upgradeForm(f.node, form, consumes))
	}
	f.node, f.item = op, withoutParameters(f.item)
	return f
}

// hasBodyParameter reports whether a parameter of the operation is in "body" or "formData".
func (c *compiler) hasBodyParameter(f found) bool {
	for _, list := range []*tree.Node{f.item.Get("parameters"), f.node.Get("parameters")} {
		for _, item := range list.Items() {
			if in := c.follow(item).Get("in").Text(); in == "body" || in == "formData" {
				return true
			}
		}
	}
	return false
}

// withoutParameters returns a path item whose parameters have been merged into those of its operation.
func withoutParameters(item *tree.Node) *tree.Node {
	if item.Get("parameters") == nil {
		return item
	}
	item = tree.Copy(item)
	item.Set("parameters", nil)
	return item
}
