package workflow

import (
	"encoding/json"
	"strconv"

	"drawbridge/gateway/call"
	"drawbridge/gateway/redact"
	"drawbridge/openapi/arazzo"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/tree"
)

// unionOfRedactions returns the redaction of the workflow's records: the secrets and names that one of the steps hides, and of the inputs what
// a step hides of the arguments that they become.
func (t *Tool) unionOfRedactions() (all call.Redaction) {
	hidden := &redact.Sensitive{}
	for _, s := range t.steps {
		of := s.tool().Redaction()
		all.Secrets = all.Secrets.And(of.Secrets)
		hidden.Add(of.Sensitive)
		(&inputRedaction{tool: t, of: of, hidden: hidden}).add(s)
	}
	if !hidden.IsEmpty() {
		all.Sensitive = hidden
	}
	return all
}

// inputRedaction adds to hidden what the redaction of a step hides of the inputs in the step's arguments.
type inputRedaction struct {
	tool   *Tool
	of     call.Redaction
	hidden *redact.Sensitive
}

func (r *inputRedaction) add(s *step) {
	for i := range s.Parameters {
		p := &s.Parameters[i]
		name := p.Name
		if s.nested == nil {
			name, _, _ = s.operation.ArgumentFor(p.In, p.Name, "")
		}
		r.value(&p.Value, []string{name})
	}
	if s.Body == nil {
		return
	}
	var at []string
	if whole, _, ok := s.operation.ArgumentFor("body", "", ""); ok && whole != "" {
		at = []string{whole}
	}
	r.value(&s.Body.Payload, at)
	for i := range s.Body.Replacements {
		b := &s.Body.Replacements[i]
		r.value(&b.Value, append(at[:len(at):len(at)], jsonscan.Tokens(b.Target)...))
	}
}

// value adds what is hidden of a value at a place in the arguments.
func (r *inputRedaction) value(v *arazzo.Value, at []string) {
	if v.Kind() != tree.Invalid {
		index := 0
		for name, member := range v.Members() {
			if v.Kind() == tree.Array {
				name = strconv.Itoa(index)
			}
			r.value(member, append(at[:len(at):len(at)], name))
			index++
		}
		return
	}
	for _, e := range v.Expressions() {
		bound, ok := e.Bind(func(name string) bool { return r.tool.inputs.schema.Property(name) != nil })
		if e.Source != arazzo.Inputs || !ok {
			continue
		}
		input := jsonscan.PointerTo(bound.Name) + bound.Pointer
		if v.Expression() != nil {
			r.hidden.AddAt(input, r.of.Sensitive, at)
		}
		if r.hides(v, at) {
			r.hidden.Drop(input)
		}
	}
}

// hides reports whether a value at a place in the arguments is hidden as a whole. A text may be a body with hidden members.
func (r *inputRedaction) hides(v *arazzo.Value, at []string) bool {
	switch {
	case len(at) == 0 || at[0] == "":
		return r.of.Sensitive != nil
	case v.Expression() == nil && (&redact.Sensitive{}).AddAt("/x", r.of.Sensitive, at):
		return true
	}
	given := json.RawMessage(append(jsonscan.AppendString([]byte{'{'}, at[0]), ":0}"...))
	return string(r.of.Arguments.Shown(given)) != string(given)
}
