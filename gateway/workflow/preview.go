package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"drawbridge/gateway/plan"
	"drawbridge/openapi/arazzo"
	"drawbridge/openapi/tree"
)

// Preview is a step as far as it is known before a workflow runs.
type Preview struct {
	Step string // its id, behind those of the workflows that it is part of: "outer.inner"
	Plan *plan.Plan
	// Arguments are those that follow from the inputs. Unknown has the others, each as "name: $steps.find.outputs.id".
	Arguments json.RawMessage
	Unknown   []string
}

// Preview returns the steps of a call with these arguments, in their order, without jumps. The error is that of invalid arguments.
func (t *Tool) Preview(args json.RawMessage) ([]Preview, error) {
	if failure := t.validate(args); failure != nil {
		return nil, errors.New(failure.Text)
	}
	return t.preview(args, "", nil), nil
}

// preview is Preview for a workflow within another one; unknown are the inputs that it gets from earlier answers there.
func (t *Tool) preview(args json.RawMessage, within string, unknown []string) (all []Preview) {
	r := &run{tool: t, inputs: args}
	for _, s := range t.steps {
		own := slices.Concat(unknown, s.unknown())
		given, err := r.arguments(s)
		if err != nil && len(own) == 0 {
			own = []string{err.Error()}
		}
		if s.nested != nil {
			all = append(all, s.nested.preview(given, within+s.ID+".", own)...)
			continue
		}
		all = append(all, Preview{Step: within + s.ID, Plan: s.plan, Arguments: given, Unknown: own})
	}
	return all
}

// unknown returns the values that come from earlier answers, with the names of the parameters or members that get them.
func (s *step) unknown() (all []string) {
	note := func(name string, v *arazzo.Value) {
		for _, e := range v.Expressions() {
			if e.Source != arazzo.Inputs {
				all = append(all, fmt.Sprintf("%s: %s", name, e.String()))
			}
		}
	}
	for i := range s.Parameters {
		note(s.Parameters[i].Name, &s.Parameters[i].Value)
	}
	if s.Body == nil {
		return all
	}
	if s.Body.Payload.Kind() != tree.Object {
		note("body", &s.Body.Payload)
	}
	for name, member := range s.Body.Payload.Members() {
		if s.Body.Payload.Kind() == tree.Object {
			note(name, member)
		}
	}
	for i := range s.Body.Replacements {
		note("body#"+s.Body.Replacements[i].Target, &s.Body.Replacements[i].Value)
	}
	return all
}
