package elicit

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

// Operation is an operation whose missing arguments are elicited. It is immutable.
type Operation struct {
	elicitor *Elicitor
	// shown is the operation as callers see it. open has all elicited arguments, none of them required: an answer is
	// validated against it while others are missing.
	shown, open *openapi.Operation
	broken      bool
}

// elicitedNote keeps models from inventing values that they don't know.
const elicitedNote = "If it is left out, the user is asked for it."

// ForOperation makes the elicitation of an operation. The error names the input that can't be asked, and the reason.
func ForOperation(list []config.Input, op *openapi.Operation) (*Operation, *InputError) {
	var args Arguments
	for _, a := range op.Declares() {
		args = append(args, Argument(a))
	}
	e, err := New(list, args)
	if err != nil {
		return nil, err
	}
	o := &Operation{elicitor: e, shown: op.Variant(e.optional, e.withheld, elicitedNote)}
	o.open = o.shown
	if len(e.withheld) > 0 {
		o.open = op.Variant(slices.Concat(e.withheld, e.optional), nil, "")
	}
	return o, nil
}

// Broken returns the elicitation of an operation that can't ask a question that every call needs. It permits no calls.
func Broken(op *openapi.Operation) *Operation {
	return &Operation{elicitor: &Elicitor{}, shown: op, open: op, broken: true}
}

// IsBroken reports whether a question that every call needs can't be asked, so that no call is possible.
func (o *Operation) IsBroken() bool { return o.broken }

// Always reports whether each call asks the user.
func (o *Operation) Always() bool { return len(o.elicitor.withheld) > 0 }

// Shown returns the operation with the arguments that callers can give.
func (o *Operation) Shown() *openapi.Operation { return o.shown }

// Fill asks for the arguments that are missing in args, which [openapi.Operation.Check] has accepted for
// [Operation.Shown], and returns all of them. Each answer is checked alone; the arguments as a whole are not. Fill sets
// Given, Known and Check of the request. The errors are those of [Elicitor.Ask].
func (o *Operation) Fill(ctx context.Context, r *Request, args json.RawMessage) (json.RawMessage, error) {
	r.Given = args
	r.Known = func(name string) bool { return jsonscan.Lookup(args, name) != nil }
	r.Check = func(values map[string]json.RawMessage) error {
		_, _, err := o.open.Check(mergeArguments(args, values))
		var bad *openapi.ArgumentError
		if errors.As(err, &bad) {
			return errors.New(faultText(bad))
		}
		return err
	}
	values, err := o.elicitor.Ask(ctx, r)
	if err != nil {
		return nil, err
	}
	return mergeArguments(args, values), nil
}

// mergeArguments appends values to arguments.
func mergeArguments(args json.RawMessage, values map[string]json.RawMessage) json.RawMessage {
	if len(values) == 0 {
		return args
	}
	dst := []byte{'{'}
	add := func(name, value []byte) {
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(append(jsonscan.AppendString(dst, name), ':'), value...)
	}
	for name, value := range jsonscan.Members(args) {
		add(name, value)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		add([]byte(name), values[name])
	}
	return append(dst, '}')
}

// faultText describes the faults of an answer for the user who gave it.
func faultText(bad *openapi.ArgumentError) string {
	var all []string
	for _, f := range bad.Faults {
		all = append(all, strings.TrimPrefix(strings.TrimPrefix(f.Pointer, "/")+": ", ": ")+f.Message)
	}
	return strings.Join(all, "; ")
}
