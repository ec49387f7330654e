package mcp

import "drawbridge/openapi/jsonscan"

// StringArguments reads params.arguments of prompts/get, whose values are strings. The error is an *Error.
func (r *Request) StringArguments() (map[string]string, error) {
	return stringMap("params.arguments", r.Arguments)
}

// stringMap decodes an object of strings; nil if it is absent.
func stringMap(where string, object []byte) (map[string]string, error) {
	switch objectKind(object) {
	case jsonscan.Object:
	case 0, jsonscan.Null:
		return nil, nil
	default:
		return nil, InvalidParams("%s must be an object", where)
	}
	m := make(map[string]string)
	for name, value := range jsonscan.Members(object) {
		v, ok := decodeString(value)
		if !ok {
			return nil, InvalidParams("%s: the value of %q must be a string", where, shorten(name))
		}
		m[string(name)] = v
	}
	return m, nil
}

// InputResponses reads the responses that tasks/update brings to the input requests of a task, by their keys. Values
// that are not valid responses are left out, so that their requests stay open, and so are responses to other keys. The
// error is an *Error.
func (r *Request) InputResponses(requests []InputRequest) (map[string]InputResponse, error) {
	responses := jsonscan.Lookup(r.Params, "inputResponses")
	if objectKind(responses) != jsonscan.Object {
		return nil, InvalidParams("params.inputResponses must be an object")
	}
	parsed := make(map[string]InputResponse)
	for i := range requests {
		if a, ok := ParseInputResponse(requests[i].Kind, jsonscan.Lookup(responses, requests[i].Key)); ok {
			parsed[requests[i].Key] = a
		}
	}
	return parsed, nil
}
