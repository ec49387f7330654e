package gateway

import (
	"fmt"

	"drawbridge/config"
	"drawbridge/gateway/elicit"
	"drawbridge/openapi"
)

// codeExtension is the problem code of an extension that can't be used.
const codeExtension = "extension"

// extended holds the settings that the operations of a trusted document declare by extensions. It is immutable.
type extended struct {
	of       map[*openapi.Operation]config.Settings
	problems []openapi.Problem
	faulty   map[*openapi.Operation][]int // indexes into problems, by operation
}

func newExtended(api *openapi.API) *extended {
	e := &extended{of: map[*openapi.Operation]config.Settings{}, faulty: map[*openapi.Operation][]int{}}
	for _, op := range api.Operations {
		for _, extension := range op.Extensions {
			own, problems := config.ParseExtension(extension.Name, extension.Value)
			problems = append(problems, unaskable(extension.Name, own, op)...)
			for _, p := range problems {
				e.faulty[op] = append(e.faulty[op], len(e.problems))
				e.problems = append(e.problems, openapi.Problem{
					Position: extension.Position, Pointer: extension.Pointer, Code: codeExtension, Message: p.Key + ": " + p.Message,
				})
			}
			if len(problems.Errors()) == 0 {
				set := e.of[op]
				set.Apply(own)
				e.of[op] = set
			}
		}
	}
	return e
}

// unaskable returns the problems of inputs that the operation can't elicit.
func unaskable(name string, own config.Settings, op *openapi.Operation) config.Problems {
	if len(own.Inputs) == 0 {
		return nil
	}
	if _, err := elicit.ForOperation(own.Inputs, op); err != nil {
		return config.Problems{{Key: fmt.Sprintf("%s[%d]%s", name, err.Index, err.Key), Message: err.Error()}}
	}
	return nil
}
