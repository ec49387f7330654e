package job

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

// Request is a request about a job. It is immutable.
type Request struct {
	// Operation is the operation that is called; nil if Method is sent to the job's URL.
	Operation *openapi.Operation
	Method    string
	// Credential authenticates a request that has an operation.
	Credential *credential.Choice
	// Linked reports whether a link of the document describes the request. Such a link may be wrong, so a job is used without it too.
	Linked bool
	// Named reports whether the operator's rule names the request.
	Named bool

	bind map[string]openapi.Expression // arguments of the operation
}

// Finder returns the operation of the API with an operationId, or nil; its credential; and the arguments that rules fill in.
type Finder func(id string) (op *openapi.Operation, choice *credential.Choice, filled []string)

// newRequest compiles a request. own are arguments that the caller adds to those that it binds.
func newRequest(o *config.JobOperation, find Finder, own ...string) (*Request, error) {
	if o.Operation == "" {
		return &Request{Method: cmp.Or(string(o.Method), http.MethodGet)}, nil
	}
	op, choice, filled := find(o.Operation)
	if op == nil {
		return nil, fmt.Errorf("the document has no operation %q", o.Operation)
	}
	r := &Request{Operation: op, Credential: OrDefault(choice), Method: op.Method, bind: map[string]openapi.Expression{}}
	var errs []error
	for _, argument := range own {
		if !op.AcceptsArgument(argument) {
			errs = append(errs, fmt.Errorf("operation %q has no argument %q", o.Operation, argument))
		}
	}
	for argument, text := range o.Bind {
		if !op.AcceptsArgument(argument) {
			errs = append(errs, &Error{"bind." + argument, fmt.Errorf("operation %q has no argument %q", o.Operation, argument)})
			continue
		}
		if text != "" && text[0] == '/' {
			text = "$response.body#" + text
		}
		e, err := openapi.ParseExpression(text)
		if err != nil {
			errs = append(errs, &Error{"bind." + argument, err})
		}
		r.bind[argument] = e
	}
	for _, argument := range op.Required() {
		if _, bound := r.bind[argument]; !bound && !slices.Contains(own, argument) && !slices.Contains(filled, argument) {
			errs = append(errs, &Error{"bind", fmt.Errorf("operation %q needs the argument %q", o.Operation, argument)})
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return r, errors.Join(errs...)
}

// OrDefault returns a choice of no credential set for an operation without a choice: the API's default credential authenticates the
// request, even if the call that began the job had another one.
func OrDefault(choice *credential.Choice) *credential.Choice {
	return cmp.Or(choice, &credential.Choice{})
}

// arguments evaluates the bound arguments on an exchange. Those without a value are left out; complete reports whether all have one.
func (r *Request) arguments(x *openapi.Exchange) (text json.RawMessage, complete bool) {
	text, complete = json.RawMessage("{"), true
	for argument, e := range r.bind {
		value, ok := e.Evaluate(x)
		if !ok {
			complete = false
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(jsonscan.AppendString(text, argument), ':')
		text = append(text, value...)
	}
	return append(text, '}'), complete
}

// Complete adds arguments to those that were known when the job began: those whose values are in the body that reports success.
func (r *Request) Complete(known json.RawMessage, body []byte) json.RawMessage {
	missing := &Request{bind: map[string]openapi.Expression{}}
	for argument, e := range r.bind {
		if jsonscan.Lookup(known, argument) == nil {
			missing.bind[argument] = e
		}
	}
	more, _ := missing.arguments(&openapi.Exchange{Operation: r.Operation, Response: &http.Response{}, Body: body}) // an argument that is missing is an error when the request is built
	switch {
	case len(more) <= len("{}"):
		return known
	case len(known) <= len("{}"):
		return more
	}
	return append(append(bytes.Clone(known[:len(known)-1]), ','), more[1:]...)
}
