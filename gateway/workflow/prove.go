package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi"
	"drawbridge/openapi/arazzo"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/text"
	"drawbridge/openapi/tree"
)

// prover compares the expressions and criteria of a workflow with what the documents declare. What they leave open is not a fault.
type prover struct {
	binder *binder
	tool   *Tool
}

func (p *prover) wrong(at tree.Position, format string, args ...any) {
	p.binder.wrong(at, format, args...)
}

func (p *prover) prove() {
	for i, s := range p.tool.steps {
		needed := p.needs(s)
		before := func(at tree.Position, expressions []arazzo.Expression) { p.ordered(at, expressions, i) }
		given := map[string]bool{}
		for n := range s.Parameters {
			of := &s.Parameters[n]
			before(of.Position, of.Value.Expressions())
			p.parameter(s, of, given, needed)
		}
		if s.Body != nil {
			before(s.Body.Position, s.Body.Payload.Expressions())
			p.body(s, given, needed)
		}
		p.required(s, given)
		p.statuses(s)
		for _, c := range s.Success {
			p.expressions(c.Position, c.Expressions(), s)
		}
		for _, a := range slices.Concat(s.OnSuccess, s.OnFailure) {
			for _, c := range a.Criteria {
				p.expressions(c.Position, c.Expressions(), s)
			}
		}
		for n := range s.Outputs {
			o := &s.Outputs[n]
			p.undeclared(o.Position, o.Value.Expressions(), s, false)
		}
	}
	for n := range p.tool.workflow.Outputs {
		o := &p.tool.workflow.Outputs[n]
		p.undeclared(o.Position, o.Value.Expressions(), nil, false)
	}
}

// needs returns the names of the arguments that every call of a step's tool needs.
func (p *prover) needs(s *step) map[string]bool {
	needed := map[string]bool{}
	for _, name := range s.input().Required() {
		needed[name] = true
	}
	return needed
}

// ordered reports expressions that refer to a step which has not run before, unless the workflow jumps.
func (p *prover) ordered(at tree.Position, expressions []arazzo.Expression, index int) {
	for _, s := range p.tool.steps {
		if slices.ContainsFunc(slices.Concat(s.OnSuccess, s.OnFailure), func(a arazzo.Action) bool { return a.Type == "goto" }) {
			return
		}
	}
	for _, e := range expressions {
		if e.Source == arazzo.Steps && p.indexOf(e.ID) >= index {
			p.wrong(at, "%s refers to the step %q, which has not run by then", e.String(), e.ID)
		}
	}
}

func (p *prover) indexOf(id string) int {
	return slices.IndexFunc(p.tool.steps, func(s *step) bool { return s.ID == id })
}

// parameter checks a parameter, and notes the argument that it becomes in given.
func (p *prover) parameter(s *step, of *arazzo.Parameter, given, needed map[string]bool) {
	value := p.valueOf(&of.Value, nil)
	if s.nested != nil {
		p.undeclared(of.Position, of.Value.Expressions(), nil, needed[of.Name])
		p.argument(of.Position, s, of.Name, s.nested.inputs.schema, value, given)
		return
	}
	name, _, ok := s.operation.ArgumentFor(of.In, of.Name, "")
	if !ok {
		p.wrong(of.Position, "%s has no %s parameter %q%s", s.describe(), of.In, of.Name, text.DidYouMean(text.NearestFew(of.Name, s.argumentNames(), 1)...))
		return
	}
	if !s.accepts(name) {
		p.wrong(of.Position, "the %s parameter %q of %s is not for callers, because a rule of the configuration sets or hides it", of.In, of.Name, s.describe())
		return
	}
	p.undeclared(of.Position, of.Value.Expressions(), nil, needed[name])
	p.argument(of.Position, s, name, s.input(), value, given)
}

// report returns the function that reports a fault if it is one, and a warning otherwise.
func (p *prover) report(isFault bool) func(at tree.Position, format string, args ...any) {
	if isFault {
		return p.wrong
	}
	return p.binder.warn
}

// argument compares a value with the schema of the argument that it becomes.
func (p *prover) argument(at tree.Position, s *step, name string, input *jsonschema.Schema, value *jsonscan.Shape, given map[string]bool) {
	given[name] = true
	target := input.Property(name)
	if s.nested != nil && target == nil {
		p.wrong(at, "the workflow %q has no input %q", s.name, name)
		return
	}
	if !fits(value, target) {
		p.wrong(at, "%q of %s must be %s, and the value is %s", name, s.describe(), kindsText(kindsOf(target)), kindsText(value.Kinds))
	}
}

// kindsText names kinds, without null.
func kindsText(kinds jsonscan.Kinds) string {
	if more := kinds &^ jsonscan.Of(jsonscan.Null); more != 0 {
		kinds = more
	}
	return kinds.String()
}

// body checks a request body.
func (p *prover) body(s *step, given, needed map[string]bool) {
	b := s.Body
	for i := range b.Replacements {
		p.undeclared(b.Replacements[i].Position, b.Replacements[i].Value.Expressions(), nil, true)
	}
	if b.Payload.Kind() != tree.Object {
		p.undeclared(b.Position, b.Payload.Expressions(), nil, false)
	}
	if s.nested != nil {
		p.wrong(b.Position, "a workflow has no request body: give it parameters")
		return
	}
	given[""] = b.Payload.Kind() != tree.Object || len(b.Replacements) > 0
	if whole, _, ok := s.operation.ArgumentFor("body", "", ""); ok && whole != "" {
		given[whole] = true
		if !s.accepts(whole) {
			p.wrong(b.Position, "the body of %s is not for callers", s.describe())
			return
		}
		target := s.input().Property(whole)
		p.payload(s, &b.Payload, target, "the body")
		if value, want := p.valueOf(&b.Payload, nil), kindsOf(target); value != nil && value.Kinds == jsonscan.Of(jsonscan.Object) && want&jsonscan.Of(jsonscan.Array) != 0 && want&value.Kinds == 0 {
			p.wrong(b.Position, "the body of %s must be %s, and the value is object", s.describe(), kindsText(want)) // one value stands for a list only within a body
		}
		return
	}
	if !s.operation.HasBody() {
		p.wrong(b.Position, "%s has no request body", s.describe())
		return
	}
	if b.Payload.Kind() != tree.Object {
		return
	}
	for member, value := range b.Payload.Members() {
		name, ok, withheld := s.memberArgument(member)
		if withheld {
			p.wrong(b.Position, "the member %q of the body of %s is not for callers, because a rule of the configuration sets or hides it", member, s.describe())
			continue
		}
		if !ok {
			closed, unsent := s.operation.ForbidsMembers(), ", which is not sent"
			if closed {
				unsent = ""
			}
			p.report(closed)(b.Position, "the body of %s has no member %q%s%s", s.describe(), member, unsent, text.DidYouMean(text.NearestFew(member, s.argumentNames(), 1)...))
			continue
		}
		given[name] = true
		p.undeclared(b.Position, value.Expressions(), nil, needed[name])
		p.payload(s, value, s.input().Property(name), strconv.Quote(name))
	}
}

// maxPayload is the depth to which the members of a payload are compared with the schema of the body.
const maxPayload = 10

// payload compares a payload or a member of it with its schema.
func (p *prover) payload(s *step, v *arazzo.Value, target *jsonschema.Schema, name string) {
	if strings.Count(name, "/") > maxPayload {
		return
	}
	target = target.Resolve()
	value, want := p.valueOf(v, nil), kindsOf(target)
	if !v.IsText() && !fits(value, target) {
		p.wrong(s.Body.Position, "%s of %s must be %s, and the value is %s", name, s.describe(), kindsText(want), kindsText(value.Kinds))
	}
	if v.Kind() != tree.Object {
		return
	}
	required := target.Required()
	for member, inner := range v.Members() {
		of := target.Property(member)
		p.undeclared(s.Body.Position, inner.Expressions(), nil, slices.Contains(required, member))
		if of != nil {
			p.payload(s, inner, of, name+"/"+member)
		}
	}
}

// required reports arguments that every call needs and the step does not give.
func (p *prover) required(s *step, given map[string]bool) {
	if given[""] { // a body whose members are not known
		return
	}
	required := s.input().Required()
	if s.nested != nil {
		required = s.nested.inputs.schema.Required()
	}
	for _, name := range required {
		if !given[name] {
			p.wrong(s.Position, "%s needs %q, which the step does not give", s.describe(), name)
		}
	}
}

// statuses reports a step whose success criteria hold for no status that its operation declares.
func (p *prover) statuses(s *step) {
	if s.nested != nil {
		return
	}
	var about []*arazzo.Criterion
	for _, c := range s.Success {
		if !slices.ContainsFunc(c.Expressions(), func(e arazzo.Expression) bool { return e.Source != arazzo.StatusCode }) && len(c.Expressions()) > 0 {
			about = append(about, c)
		}
	}
	if len(about) == 0 {
		return
	}
	statuses := s.operation.Answers.Statuses()
	if slices.ContainsFunc(statuses, func(status int) bool {
		return !slices.ContainsFunc(about, func(c *arazzo.Criterion) bool {
			holds, err := c.Holds(onlyStatus(status))
			return err != nil || !holds
		})
	}) {
		return
	}
	var names []string
	for _, status := range statuses {
		names = append(names, strconv.Itoa(status))
	}
	switch {
	case len(statuses) > maxListed:
		names = append(names[:maxListed], "and others")
	case len(statuses) == 0:
		return
	}
	p.wrong(about[0].Position, "the criterion holds for no status that %s declares: %s", s.describe(), strings.Join(names, ", "))
}

// maxListed is the most statuses that a fault lists.
const maxListed = 12

// onlyStatus is a scope in which only the status is known.
type onlyStatus int

// Value implements [arazzo.Scope].
func (s onlyStatus) Value(e arazzo.Expression) (json.RawMessage, bool) {
	return strconv.AppendInt(nil, int64(s), 10), e.Source == arazzo.StatusCode
}

// expressions reports those of a criterion that refer to what no document declares, so that it can't hold.
func (p *prover) expressions(at tree.Position, all []arazzo.Expression, s *step) {
	p.undeclared(at, all, s, true)
}

// undeclared reports expressions that are not supported as faults, and those that refer to what no document declares: as warnings if the
// document leaves it open, or if the step does not need the value.
func (p *prover) undeclared(at tree.Position, all []arazzo.Expression, s *step, needed bool) {
	for _, e := range all {
		_, err := p.shapeOf(e, s)
		var missing *undeclaredError
		switch {
		case errors.As(err, &missing) && missing.open && needed:
			p.binder.warn(at, "%s %v (the workflow stops if the service does not answer it)", e.String(), err)
		case errors.As(err, &missing):
			p.report(needed && !missing.open)(at, "%s %v", e.String(), err)
		case err != nil:
			p.wrong(at, "%s %v", e.String(), err)
		}
	}
}

// undeclaredError is the error of an expression that refers to what no document declares.
type undeclaredError struct {
	text string
	open bool // the service may answer it nevertheless, as a schema of an object allows further members
}

func (e *undeclaredError) Error() string { return e.text }

func undeclared(format string, args ...any) error {
	return &undeclaredError{text: fmt.Sprintf(format, args...)}
}

// valueOf returns what is known of a value, in the response of a step if s is not nil; nil if nothing is.
func (p *prover) valueOf(v *arazzo.Value, s *step) *jsonscan.Shape {
	switch e := v.Expression(); {
	case e != nil:
		shape, _ := p.shapeOf(*e, s)
		return shape
	case v.IsText():
		return &jsonscan.Shape{Kinds: jsonscan.Of(jsonscan.String)}
	case v.Constant() != nil:
		return &jsonscan.Shape{Kinds: jsonscan.Of(jsonscan.KindOf(v.Constant()))}
	case v.Kind() == tree.Object:
		return &jsonscan.Shape{Kinds: jsonscan.Of(jsonscan.Object)}
	case v.Kind() == tree.Array:
		return &jsonscan.Shape{Kinds: jsonscan.Of(jsonscan.Array)}
	}
	return nil
}

// shapeOf returns what is known of the value of an expression; nil if nothing is. The error completes a sentence that begins with the
// expression.
func (p *prover) shapeOf(e arazzo.Expression, s *step) (*jsonscan.Shape, error) {
	text := &jsonscan.Shape{Kinds: jsonscan.Of(jsonscan.String)}
	switch e.Source {
	case arazzo.StatusCode:
		return &jsonscan.Shape{Kinds: jsonscan.Of(jsonscan.Number)}, nil
	case arazzo.Method:
		return text, nil
	case arazzo.Inputs:
		in := p.tool.inputs.schema
		bound, ok := e.Bind(func(name string) bool { return in.Property(name) != nil })
		if !ok {
			return nil, nil //nolint:nilnil // the description declares it otherwise
		}
		if bound.Pointer != "" {
			return nil, nil //nolint:nilnil // as above
		}
		return &jsonscan.Shape{Kinds: kindsOf(in.Property(bound.Name))}, nil
	case arazzo.Steps:
		return p.outputOf(e)
	case arazzo.Response:
		if s == nil {
			return nil, fmt.Errorf("refers to a response, which there is none of here")
		}
		return p.responseOf(e, s)
	case arazzo.Request:
		if e.Field == "body" || s == nil || s.nested != nil {
			return nil, fmt.Errorf("is not supported: refer to the value itself")
		}
		if _, _, ok := s.operation.ArgumentFor(e.Field, e.Name, ""); !ok {
			return nil, fmt.Errorf("refers to a parameter that %s doesn't have", s.describe())
		}
		return nil, nil //nolint:nilnil // its value is that of the step
	case arazzo.Outputs:
		if s != nil && s.nested != nil {
			return p.nestedOutput(e, s)
		}
		return nil, fmt.Errorf("has no value here: an output of a step is $steps.ID.outputs.NAME")
	case arazzo.Workflows:
		if s != nil && s.nested != nil && e.ID == s.name && e.Field == "outputs" {
			return p.nestedOutput(e, s)
		}
		return nil, fmt.Errorf("is not supported here: make the workflow a step, and refer to the outputs of that")
	case arazzo.URL, arazzo.SourceDescriptions, arazzo.Components, arazzo.Self:
	}
	return nil, fmt.Errorf("is not supported as a value")
}

// outputOf returns what is known of an output of a step.
func (p *prover) outputOf(e arazzo.Expression) (*jsonscan.Shape, error) {
	i := p.indexOf(e.ID)
	if i < 0 {
		return nil, nil //nolint:nilnil // the description has reported it
	}
	of := p.tool.steps[i]
	find := func(name string) int {
		return slices.IndexFunc(of.Outputs, func(o arazzo.Output) bool { return o.Name == name })
	}
	bound, ok := e.Bind(func(name string) bool { return find(name) >= 0 })
	if !ok {
		return nil, nil //nolint:nilnil // as above
	}
	value := &of.Outputs[find(bound.Name)].Value
	if from := value.Expression(); from != nil && from.Source == arazzo.Response {
		if _, err := p.shapeOf(*from, of); err != nil {
			var missing *undeclaredError
			return nil, &undeclaredError{fmt.Sprintf("is %s, which %v", from.String(), err), errors.As(err, &missing) && missing.open}
		}
	}
	return descend(p.valueOf(value, of), bound.Pointer, of)
}

func (p *prover) nestedOutput(e arazzo.Expression, s *step) (*jsonscan.Shape, error) {
	of := &prover{tool: s.nested}
	outputs := s.nested.workflow.Outputs
	find := func(name string) int {
		return slices.IndexFunc(outputs, func(o arazzo.Output) bool { return o.Name == name })
	}
	bound, ok := e.Bind(func(name string) bool { return find(name) >= 0 })
	if !ok {
		return nil, fmt.Errorf("refers to an output that the workflow %q does not declare", s.name)
	}
	return descend(of.valueOf(&outputs[find(bound.Name)].Value, nil), bound.Pointer, s)
}

// responseOf returns what is known of a part of a response.
func (p *prover) responseOf(e arazzo.Expression, s *step) (*jsonscan.Shape, error) {
	if s.nested != nil {
		return nil, fmt.Errorf("refers to a response, which a workflow does not have: its outputs are $outputs.NAME")
	}
	if e.Field == "header" {
		return &jsonscan.Shape{Kinds: jsonscan.Of(jsonscan.String)}, nil
	}
	if s.operation.Answers.NeverJSON() && e.Pointer != "" {
		return nil, undeclared("refers to a part of JSON, and %s declares no JSON in its responses", s.describe())
	}
	if s.operation.Answers.Bodiless() {
		return nil, undeclared("refers to the body of a response, and %s declares none with a body", s.describe())
	}
	return descend(s.operation.Answers.Shape(), e.Pointer, s)
}

// descend follows a JSON Pointer in a shape.
func descend(shape *jsonscan.Shape, pointer string, s *step) (*jsonscan.Shape, error) {
	for _, token := range jsonscan.Tokens(pointer) {
		if shape == nil {
			return nil, nil //nolint:nilnil // nothing is known of it
		}
		i := slices.IndexFunc(shape.Properties, func(m jsonscan.Property) bool { return m.Name == token })
		switch _, err := strconv.ParseUint(token, 10, 31); {
		case i >= 0:
			shape = shape.Properties[i].Shape
		case err == nil && shape.Items != nil:
			shape = shape.Items
		case shape.Kinds != 0 && shape.Kinds&jsonscan.Of(jsonscan.Object, jsonscan.Array) == 0,
			shape.Kinds != 0 && shape.Kinds&jsonscan.Of(jsonscan.Object) == 0 && err != nil:
			return nil, undeclared("refers to %q of a value that is %s, as %s declares it", token, kindsText(shape.Kinds), s.describe())
		case len(shape.Properties) > 0:
			var known []string
			for _, m := range shape.Properties {
				known = append(known, m.Name)
			}
			return nil, &undeclaredError{fmt.Sprintf("refers to %q, which %s does not declare%s", token, s.describe(), text.DidYouMean(text.NearestFew(token, known, 1)...)), true}
		default:
			return nil, nil //nolint:nilnil // the members are not declared
		}
	}
	return shape, nil
}

// kindsOf returns the kinds that a schema allows; 0 if it does not say.
func kindsOf(s *jsonschema.Schema) (kinds jsonscan.Kinds) {
	for _, name := range s.Resolve().Types() {
		for _, k := range []jsonscan.Kind{jsonscan.Null, jsonscan.Bool, jsonscan.Number, jsonscan.String, jsonscan.Array, jsonscan.Object} {
			if k.String() == name || k == jsonscan.Number && name == "integer" {
				kinds |= jsonscan.Of(k)
			}
		}
	}
	return kinds
}

// fits reports whether a value may be of a kind that is wanted. Texts and numbers are converted into each other, JSON in a text is read,
// and one value stands for a list of it, as for the arguments of any call.
func fits(value *jsonscan.Shape, target *jsonschema.Schema) bool {
	target = target.Resolve()
	want := kindsOf(target)
	scalar, list := jsonscan.Of(jsonscan.Bool, jsonscan.Number, jsonscan.String), jsonscan.Of(jsonscan.Array)
	if value == nil || value.Kinds == 0 || want == 0 || value.Kinds&want != 0 {
		return true
	}
	if want&list != 0 { // of one element
		return fits(value, target.Schema("items"))
	}
	text := value.Kinds&jsonscan.Of(jsonscan.String) != 0
	return text || value.Kinds&scalar != 0 && want&scalar != 0
}

// describe names the step's operation or workflow in faults.
func (s *step) describe() string {
	if s.nested != nil {
		return fmt.Sprintf("the workflow %q", s.name)
	}
	return fmt.Sprintf("%s %s of %s", s.plan.Tool.Method, s.plan.Tool.Path, s.plan.Tool.API)
}

// input returns the schema of the arguments of the step's operation; nil for a workflow.
func (s *step) input() *jsonschema.Schema {
	if s.nested != nil {
		return s.nested.inputs.schema
	}
	if s.arguments == nil {
		s.arguments = jsonschema.Parse(s.operation.Input)
	}
	return s.arguments
}

// argumentNames returns the names of the arguments of the step's operation.
func (s *step) argumentNames() (names []string) {
	for _, m := range s.input().Members() {
		names = append(names, m.Name)
	}
	return names
}

// accepts reports whether callers can give an argument.
func (s *step) accepts(name string) bool { return accepts(s.operation, name) }

// accepts reports whether an operation has an argument. The call decides about the members of a body whose names are not all known.
func accepts(o *openapi.Operation, name string) bool {
	all := o.Arguments()
	return len(all) == 0 && o.AcceptsArgument(name) || slices.ContainsFunc(all, func(a openapi.Argument) bool { return a.Name == name })
}

// memberArgument returns the argument that becomes a member of the body; false if the body has no such member. withheld reports that the
// argument is not for callers.
func (s *step) memberArgument(member string) (name string, ok, withheld bool) {
	at := jsonscan.PointerTo(member)
	if name, rest, found := s.operation.ArgumentFor("body", "", at); found && rest == "" && s.accepts(name) {
		return name, true, false
	}
	name, _, ok = s.plan.Operation.ArgumentFor("body", "", at)
	return "", false, ok && accepts(s.plan.Operation, name)
}

// isSafe reports whether a step may be repeated although it is not known whether the service has done it.
func (s *step) isSafe() bool {
	return s.plan != nil && (s.plan.ChangesNothing() || s.plan.Key != nil || s.plan.Tool.Method == http.MethodPut)
}
