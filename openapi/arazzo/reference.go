package arazzo

import (
	"drawbridge/openapi/text"
	"drawbridge/openapi/tree"
)

// use is where an expression is used.
type use struct {
	workflow    *tree.Node // Workflow Object
	hasResponse bool       // the step has been done
}

func (r *reader) refersAll(at *tree.Node, all []Expression, use use) {
	for _, e := range all {
		r.refers(at, e, use)
	}
}

// refers reports an expression that refers to nothing that the description declares.
func (r *reader) refers(at *tree.Node, e Expression, use use) {
	switch e.Source { //nolint:exhaustive // the others are known at run time
	case StatusCode, Response:
		if !use.hasResponse {
			r.wrong(at, "%s refers to a response, which there is none of here; give the value a name in the outputs of its step", e.String())
		}
	case Inputs:
		r.declares(at, e, r.target(use.workflow.Get("inputs")).Get("properties"), "input")
	case Steps:
		step := find(use.workflow.Get("steps"), "stepId", e.ID)
		if step == nil {
			r.wrong(at, "%s refers to the step %q, which the workflow doesn't have", e.String(), e.ID)
			return
		}
		r.declares(at, e, step.Get("outputs"), "output")
	case Workflows:
		workflow := find(r.root.Get("workflows"), "workflowId", e.ID)
		if workflow == nil {
			r.wrong(at, "%s refers to the workflow %q, which the description doesn't have", e.String(), e.ID)
			return
		}
		if e.Field == "inputs" {
			r.declares(at, e, r.target(workflow.Get("inputs")).Get("properties"), "input")
			return
		}
		r.declares(at, e, workflow.Get("outputs"), "output")
	case SourceDescriptions:
		if find(r.root.Get("sourceDescriptions"), "name", e.ID) == nil {
			r.wrong(at, "%s refers to the source description %q, which doesn't exist", e.String(), e.ID)
		}
	}
}

// declares reports an expression whose name is not among those that are declared.
func (r *reader) declares(at *tree.Node, e Expression, names *tree.Node, kind string) {
	if _, ok := e.Bind(func(name string) bool { return names.Get(name) != nil }); ok {
		return
	}
	var known []string
	for name := range names.Members() {
		known = append(known, name)
	}
	near := text.NearestFew(e.Name, known, 1)
	r.wrong(at, "%s refers to the %s %q, which is not declared%s", e.String(), kind, e.Name, text.DidYouMean(near...))
}

// target returns the value that a reference to the inputs of the components leads to, or the value itself; nil if there is none.
func (r *reader) target(n *tree.Node) *tree.Node {
	for range maxDepth {
		ref := n.Get("$ref")
		if ref.Kind() != tree.String {
			return n
		}
		const inputs = "#/components/inputs/"
		name := ref.Text()
		if len(name) <= len(inputs) || name[:len(inputs)] != inputs {
			return n
		}
		if n = r.root.Get("components").Get("inputs").Get(name[len(inputs):]); n == nil {
			return nil
		}
	}
	return nil
}

// find returns the object of a list whose member has a text.
func find(list *tree.Node, name, value string) *tree.Node {
	for _, n := range list.Items() {
		if id := n.Get(name); id.Kind() == tree.String && id.Text() == value {
			return n
		}
	}
	return nil
}
