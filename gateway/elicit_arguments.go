package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

// questions is what a plan asks before its calls.
type questions struct {
	*inputs
	// shown is the operation as callers see it. open is it with all that is asked for, which an answer is held against as
	// long as others are missing.
	shown, open *openapi.Operation
	// broken says that the configuration can't be carried out, and so no call can.
	broken bool
}

// wantedOf is what may be asked for an operation.
func wantedOf(op *openapi.Operation) *wanted {
	w := &wanted{root: op.Input}
	for _, a := range op.Declares() {
		w.values = append(w.values, wantedValue{a.Name, a.Schema, a.Required})
	}
	return w
}

// askedNote keeps models from making up what they don't know.
const askedNote = "If it is left out, the user is asked for it."

// newQuestions makes the questions of an operation. The error says which input can't be used.
func newQuestions(list []config.Input, op *openapi.Operation) (*questions, *inputError) {
	all, err := newInputs(list, wantedOf(op))
	if err != nil {
		return nil, err
	}
	q := &questions{inputs: all, shown: op.Asked(all.optional, all.withheld, askedNote)}
	q.open = q.shown
	if len(all.withheld) > 0 {
		q.open = op.Asked(slices.Concat(all.withheld, all.optional), nil, "")
	}
	return q, nil
}

// codeInputs is the code of questions that an operation can't ask, as that of the document's problems.
const codeInputs = "inputs"

// questions makes those of an operation, given being the operation with the arguments that come from callers. Where they can't be asked nothing is, unless something is to be asked always: no
// call is made then, since what the user has to say would come from somebody else.
func (gen *generation) questions(g *Gateway, s *source, op, given *openapi.Operation, list []config.Input) *questions {
	q, err := newQuestions(list, given)
	if err == nil {
		return q
	}
	gen.unusable(g, s, op, codeInputs, fmt.Sprintf("inputs[%d]%s", err.index, err.key), err.Error(),
		func(set *config.Settings) bool { return len(set.Inputs) > 0 && &set.Inputs[0] == &list[0] })
	if slices.ContainsFunc(list, func(in config.Input) bool { return in.When == config.InputAlways || in.Kind == config.InputURL }) {
		return &questions{inputs: &inputs{}, shown: given, open: given, broken: true}
	}
	return nil
}

const notAskedAtAll = "This tool can't be called: what it has to ask the user does not fit its document any more. Nothing was sent. " +
	"The operator of the gateway finds the reason in its log."

// fill checks the arguments of a call, asks for those that are missing, and returns all of them. What was asked for fits,
// as far as it can be told from each answer alone. The error is a *failure, or that of the answer.
func (c *call) fill(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	q := c.plan.questions
	if q.broken {
		return nil, &failure{outcome: outcomeUnanswered, text: notAskedAtAll}
	}
	args, dropped, err := q.shown.Check(args)
	if err != nil {
		return nil, c.unbuilt(err)
	}
	c.addDropped(dropped)
	values, err := q.ask(ctx, &asking{
		asker: c.reply, of: c.plan.title() + " of " + c.plan.Tool.API, given: args, revision: c.req.Revision, legacy: c.req.Era == mcp.Legacy,
		known: func(name string) bool { return jsonscan.Lookup(args, name) != nil },
		fits: func(values map[string]json.RawMessage) error {
			_, _, err := q.open.Check(filled(args, values))
			var bad *openapi.ArgumentError
			if errors.As(err, &bad) {
				return errors.New(faultsOf(bad))
			}
			return err
		},
	})
	var none *notAnswered
	switch {
	case err == nil:
		return filled(args, values), nil
	case errors.As(err, &none):
		return nil, c.unanswered(none)
	}
	return nil, c.unasked(err)
}

// filled returns arguments with more of them. The values of answers come last.
func filled(args json.RawMessage, values map[string]json.RawMessage) json.RawMessage {
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

// faultsOf says what is wrong with an answer, for the user who gave it.
func faultsOf(bad *openapi.ArgumentError) string {
	var all []string
	for _, f := range bad.Faults {
		all = append(all, strings.TrimPrefix(strings.TrimPrefix(f.Pointer, "/")+": ", ": ")+f.Message)
	}
	return strings.Join(all, "; ")
}

// unanswered tells the model of a call that the user has not given what it needs.
func (c *call) unanswered(e *notAnswered) error {
	names := strings.Join(e.names, ", ")
	fail := func(format string, args ...any) error {
		return &failure{outcome: outcomeUnanswered, cause: e, text: fmt.Sprintf(format, args...)}
	}
	var unable *mcp.UnableError
	switch {
	case e.action == mcp.Declined && names == "":
		return fail("The user declined what this call needs. Nothing was sent. Do not call again without being told to; ask the user what to do instead.")
	case e.action == mcp.Declined:
		return fail("The user declined to give what this call needs (%s). Nothing was sent. Do not call again without being told to; "+
			"ask the user what to do instead.", names)
	case e.action == mcp.Cancelled:
		return fail("The user was asked for what this call needs, and has not answered. Nothing was sent. Ask the user how to go on, and call again " +
			"when told to.")
	case errors.As(e.cause, &unable) && c.req.Era == mcp.Modern && unable.Missing&(mcp.ClientSampling|mcp.ClientRoots) != 0:
		return unable // the client has to know what it lacks
	case !errors.As(e.cause, &unable) && !errors.Is(e.cause, errOldForm):
		return fail("The user was asked for what this call needs (%s), and the answers did not fit. Nothing was sent. Ask the user how to go on.", names)
	case e.in.always:
		return fail("This call has to ask the user something, and this client can't do that (it does not support such questions). " +
			"Nothing was sent. Tell the user that the call has to be made in another way.")
	}
	return fail("This call also needs: %s. The user would be asked, but this client can't do that. Nothing was sent. "+
		"Ask the user yourself, and call again with these arguments.", names)
}
