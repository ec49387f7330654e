package mcp

import (
	"strconv"

	"drawbridge/openapi/jsonscan"
)

// maxCompletions is the maximum number of values in a result of completion/complete (2025-11-25 and 2026-07-28
// utilities/completion).
const maxCompletions = 100

// Completion holds the params of completion/complete.
type Completion struct {
	// Prompt is the name of a prompt, and Resource the URI template of a resource; exactly one of them is set.
	Prompt, Resource string
	// Argument is the name of the argument that is completed, and Value its text so far.
	Argument, Value string
	// Arguments are the arguments that have values already.
	Arguments map[string]string
}

// Completion reads the params of completion/complete. The error is an *Error.
func (r *Request) Completion() (c Completion, err error) {
	ref, argument := jsonscan.Lookup(r.Params, "ref"), jsonscan.Lookup(r.Params, "argument")
	if jsonscan.KindOf(ref) != jsonscan.Object || jsonscan.KindOf(argument) != jsonscan.Object {
		return c, InvalidParams("params.ref and params.argument must be objects")
	}
	kind, _ := decodeString(jsonscan.Lookup(ref, "type"))
	var ok bool
	switch kind {
	case "ref/prompt":
		if c.Prompt, ok = decodeString(jsonscan.Lookup(ref, "name")); !ok {
			return c, InvalidParams("params.ref.name must be a string")
		}
	case "ref/resource":
		if c.Resource, ok = decodeString(jsonscan.Lookup(ref, "uri")); !ok {
			return c, InvalidParams("params.ref.uri must be a string")
		}
	default:
		return c, InvalidParams(`params.ref.type must be "ref/prompt" or "ref/resource"`)
	}
	if c.Argument, ok = decodeString(jsonscan.Lookup(argument, "name")); !ok {
		return c, InvalidParams("params.argument.name must be a string")
	}
	if c.Value, ok = decodeString(jsonscan.Lookup(argument, "value")); !ok {
		return c, InvalidParams("params.argument.value must be a string")
	}
	c.Arguments, err = stringMap("params.context.arguments", jsonscan.Lookup(jsonscan.Lookup(r.Params, "context"), "arguments"))
	return c, err
}

// Completions answers completion/complete with values, best first. Values above the limit of 100 are left out but
// counted in the total.
func (r *Reply) Completions(values []string) error {
	b := []byte(`"completion":{"values":[`)
	for i, v := range values {
		if i == maxCompletions {
			break
		}
		b = append(jsonscan.AppendString(b, v), ',')
	}
	b = append(trimComma(b), `],"total":`...)
	b = strconv.AppendInt(b, int64(len(values)), 10)
	b = strconv.AppendBool(append(b, `,"hasMore":`...), len(values) > maxCompletions)
	return r.Result(Chunk{Bytes: append(b, '}')})
}
