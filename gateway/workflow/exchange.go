package workflow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"drawbridge/gateway/call"
	"drawbridge/gateway/projection"
	"drawbridge/gateway/render"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/arazzo"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/tree"
)

// exchange is one run of a step: its arguments and its outcome.
type exchange struct {
	step      *step
	arguments json.RawMessage // without the sensitive fields of the step's tool
	failure   *call.Failure   // nil if the call succeeded
	status    int             // of the response; 0 if there was none
	headers   json.RawMessage // an object of those that callers see, or nil
	body      json.RawMessage // nil if there is none
}

// newExchange takes what expressions may refer to from an outcome, which can be closed then.
func newExchange(s *step, args json.RawMessage, out *call.Outcome) *exchange {
	x := &exchange{step: s, arguments: args}
	if hidden := s.tool().Redaction().Sensitive; hidden != nil {
		x.arguments = hidden.JSON(args)
	}
	if out.Failure != nil {
		failed := *out.Failure
		x.failure = &failed
	}
	if len(out.Parts) == 1 {
		x.body = bodyOf(out.Parts[0])
	}
	if resp := out.Response; resp != nil && s.plan != nil {
		x.status = resp.StatusCode
		notes := s.plan.ResponseHeaders.Read(render.Exchange{
			Response: resp, Declared: s.plan.Operation.Answers.Headers(resp.StatusCode), Target: out.Target(), Redactor: out.Redactor(), Sensitive: s.plan.Sensitive, Location: out.Location(),
		})
		if notes.Meta != nil {
			x.headers = jsonscan.At(slices.Concat([]byte{'{'}, notes.Meta, []byte{'}'}), "/"+jsonscan.EscapeToken("drawbridge/headers"))
		}
	}
	return x
}

// bodyOf returns the body as JSON: a text that is none is a string. It is nil for binary data.
func bodyOf(part answer.Part) json.RawMessage {
	switch part.Kind { //nolint:exhaustive // the others are binary
	case answer.JSON:
		return part.Data
	case answer.Text:
		if data, ok := projection.Structure(part.Data); ok {
			return data
		}
		return jsonscan.AppendString(nil, part.Data)
	}
	return nil
}

// cause returns the cause of the failure, or nil.
func (x *exchange) cause() error {
	if x.failure == nil {
		return nil
	}
	return x.failure.Cause
}

// scope has the values of a run, and of the exchange of a step that has run. It implements [arazzo.Scope].
type scope struct {
	run      *run
	exchange *exchange // nil before the step runs, and after the last one
}

// Value implements [arazzo.Scope].
func (s *scope) Value(e arazzo.Expression) (json.RawMessage, bool) {
	switch e.Source { //nolint:exhaustive // the others are refused when the workflow is compiled
	case arazzo.Inputs:
		return member(e, func(name string) json.RawMessage { return jsonscan.Lookup(s.run.inputs, name) })
	case arazzo.Steps:
		return member(e, func(name string) json.RawMessage { return s.run.Outputs[e.ID][name] })
	}
	x := s.exchange
	if x == nil {
		return nil, false
	}
	switch e.Source { //nolint:exhaustive // as above
	case arazzo.StatusCode:
		return strconv.AppendInt(nil, int64(x.status), 10), x.status != 0
	case arazzo.Method:
		if x.step.plan == nil {
			return nil, false
		}
		return jsonscan.AppendString(nil, x.step.plan.Tool.Method), true
	case arazzo.Outputs, arazzo.Workflows:
		return member(e, func(name string) json.RawMessage { return jsonscan.Lookup(x.body, name) })
	case arazzo.Request:
		if name, _, ok := x.step.operation.ArgumentFor(e.Field, e.Name, ""); ok {
			value := jsonscan.Lookup(x.arguments, name)
			return value, value != nil
		}
	case arazzo.Response:
		if e.Field == "header" {
			for name, value := range jsonscan.Members(x.headers) {
				if strings.EqualFold(string(name), e.Name) {
					return value, true
				}
			}
			return nil, false
		}
		return x.body, x.body != nil
	}
	return nil, false
}

// member returns the value of a name, behind which a path may stand. The pointer of the expression is left to the caller.
func member(e arazzo.Expression, value func(name string) json.RawMessage) (json.RawMessage, bool) {
	bound, ok := e.Bind(func(name string) bool { return value(name) != nil })
	if !ok {
		return nil, false
	}
	found := jsonscan.At(value(bound.Name), strings.TrimSuffix(bound.Pointer, e.Pointer))
	return found, found != nil
}

// arguments returns the arguments of a step's tool. A parameter whose expression has no value is left out.
func (r *run) arguments(s *step) (json.RawMessage, error) {
	at := &scope{run: r}
	dst := []byte{'{'}
	add := func(name string, value json.RawMessage) {
		dst = jsonscan.AppendMember(dst, name, value)
	}
	for i := range s.Parameters {
		p := &s.Parameters[i]
		value, err := p.Value.Evaluate(at)
		if err != nil {
			return nil, fmt.Errorf("the parameter %q: %w", p.Name, err)
		}
		if value == nil {
			continue
		}
		name := p.Name
		if s.nested == nil {
			name, _, _ = s.operation.ArgumentFor(p.In, p.Name, "")
		}
		add(name, value)
	}
	if s.Body == nil {
		return append(dst, '}'), nil
	}
	body, err := s.body(at)
	if err != nil {
		return nil, fmt.Errorf("the request body: %w", err)
	}
	if body == nil {
		return append(dst, '}'), nil
	}
	if whole, _, ok := s.operation.ArgumentFor("body", "", ""); ok && whole != "" {
		add(whole, body)
		return append(dst, '}'), nil
	}
	if jsonscan.KindOf(body) != jsonscan.Object {
		return nil, fmt.Errorf("the request body must be an object, and is %s", jsonscan.KindOf(body))
	}
	for member, value := range jsonscan.Members(body) {
		name, ok, withheld := s.memberArgument(string(member))
		if withheld {
			return nil, fmt.Errorf("the member %q of the request body is not for callers", member)
		}
		if ok { // a service answers more than it takes, and its answers may become bodies
			add(name, value)
		}
	}
	return append(dst, '}'), nil
}

// body returns the body of a step with its replacements; nil if it has no value.
func (s *step) body(at *scope) (json.RawMessage, error) {
	b := s.Body
	if b.Payload.IsZero() {
		return nil, nil
	}
	body, isJSON, err := b.Payload.JSONText(at)
	if err != nil {
		return nil, err
	}
	if !isJSON {
		if body, err = b.Payload.Evaluate(at); err != nil || body == nil {
			return nil, err
		}
		if value, ok := asObject(body); ok && b.Payload.Kind() == tree.Invalid {
			body = value
		}
	}
	for i := range b.Replacements {
		value, err := b.Replacements[i].Value.Evaluate(at)
		if err != nil {
			return nil, err
		}
		if value == nil {
			continue
		}
		var ok bool
		if body, ok = replaced(body, b.Replacements[i].Target, value); !ok {
			return nil, fmt.Errorf("the payload has nothing at %q to be replaced", b.Replacements[i].Target)
		}
	}
	return body, nil
}

// asObject returns the object that a text holds as JSON, as an input of type string may.
func asObject(value json.RawMessage) (json.RawMessage, bool) {
	if jsonscan.KindOf(value) != jsonscan.String {
		return nil, false
	}
	inside := jsonscan.Unquote(value)
	info, err := jsonscan.Scan(inside, jsonscan.Options{Unique: true})
	return inside, err == nil && info.Kind == jsonscan.Object
}

// replaced returns a value with another one at a JSON Pointer. The last member of the pointer may be missing; false if anything else is.
func replaced(value json.RawMessage, pointer string, by json.RawMessage) (json.RawMessage, bool) {
	if pointer == "" {
		return by, true
	}
	token, rest := jsonscan.CutToken(pointer)
	found, ok := false, true
	var dst []byte
	next := func(old json.RawMessage) json.RawMessage {
		found = true
		changed, fits := replaced(old, rest, by)
		ok = ok && fits
		return changed
	}
	comma := func() {
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
	}
	switch jsonscan.KindOf(value) { //nolint:exhaustive // the others have no members
	case jsonscan.Object:
		dst = []byte{'{'}
		for name, member := range jsonscan.Members(value) {
			comma()
			if dst = append(jsonscan.AppendString(dst, name), ':'); string(name) == token {
				member = next(member)
			}
			dst = append(dst, member...)
		}
		if !found && rest == "" {
			comma()
			dst, found = append(append(jsonscan.AppendString(dst, token), ':'), by...), true
		}
		return append(dst, '}'), ok && found
	case jsonscan.Array:
		dst = []byte{'['}
		index := 0
		for element := range jsonscan.Elements(value) {
			comma()
			if strconv.Itoa(index) == token {
				element = next(element)
			}
			dst = append(dst, element...)
			index++
		}
		return append(dst, ']'), ok && found
	}
	return nil, false
}
