package plan

import (
	"fmt"
	"slices"

	"drawbridge/config"
	"drawbridge/gateway/elicit"
	"drawbridge/openapi"
)

// codeInputs is the problem code of inputs that can't be elicited for an operation, in the form of the document's problem
// codes.
const codeInputs = "inputs"

// newElicitation returns the elicitation of an operation, which has the arguments that callers pass. Inputs that can't be
// elicited are reported and left out, unless one of them must always be asked of the user: then no call is made, since
// the caller would supply a value that is the user's to give.
func newElicitation(op *openapi.Operation, list []config.Input, r reporter) *elicit.Operation {
	e, err := elicit.ForOperation(list, op)
	if err == nil {
		return e
	}
	r.reject(codeInputs, fmt.Sprintf("inputs[%d]%s", err.Index, err.Key), err.Error(),
		func(set *config.Settings) bool { return len(set.Inputs) > 0 && &set.Inputs[0] == &list[0] })
	if slices.ContainsFunc(list, func(in config.Input) bool { return in.When == config.InputAlways || in.Kind == config.InputURL }) {
		return elicit.Broken(op)
	}
	return nil
}
