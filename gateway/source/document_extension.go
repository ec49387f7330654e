package source

import (
	"fmt"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/elicit"
	"drawbridge/openapi"
)

// codeHidden is the problem code of an operation that a document hides without being trusted to do so.
const codeHidden = "extension-hidden"

// codeExtension is the problem code of an extension that can't be used.
const codeExtension = "extension"

// Extensions holds the settings that the operations of a trusted document declare by extensions. It is immutable.
type Extensions struct {
	// Settings holds the settings by operation.
	Settings map[*openapi.Operation]config.Settings
	// Problems lists extensions that can't be used.
	Problems []openapi.Problem
	// Faulty holds indexes into Problems, by operation.
	Faulty map[*openapi.Operation][]int
}

func newExtensionSettings() *Extensions {
	return &Extensions{Settings: map[*openapi.Operation]config.Settings{}, Faulty: map[*openapi.Operation][]int{}}
}

func newExtensions(api *openapi.API, settings *config.API) *Extensions {
	e := newExtensionSettings()
	for _, op := range api.Operations {
		if h := op.HiddenBy; h != nil && !settings.TrustExtensions && settings.Exposes(apiNames{}.subject(op)) {
			remedy := "exclude the operation"
			if strings.HasPrefix(h.Text, "x-internal") {
				remedy = "exclude {extension: x-internal}"
			}
			e.Faulty[op] = append(e.Faulty[op], len(e.Problems))
			e.Problems = append(e.Problems, openapi.Problem{Position: h.Position, Pointer: h.Pointer, Code: codeHidden, Message: fmt.Sprintf(
				"%s hides the operation from models, and it is a tool all the same: the document is not trusted; set trust_extensions, or %s", h.Text, remedy)})
		}
		for _, extension := range op.Extensions {
			own, problems := config.ParseExtension(extension.Name, extension.Value)
			problems = append(problems, unaskable(extension.Name, own, op)...)
			for _, p := range problems {
				e.Faulty[op] = append(e.Faulty[op], len(e.Problems))
				e.Problems = append(e.Problems, openapi.Problem{
					Position: extension.Position, Pointer: extension.Pointer, Code: codeExtension, Message: p.Key + ": " + p.Message,
				})
			}
			if len(problems.Errors()) == 0 {
				set := e.Settings[op]
				set.Apply(own)
				e.Settings[op] = set
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
