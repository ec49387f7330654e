package openapi

import (
	"encoding/json"
	"sync"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema"
)

// WithOutput returns the operation with the output schema of responses of another shape, or without one if it would
// exceed the limit of output schemas. Only the published schema changes: Answers reads the service's responses.
func (o *Operation) WithOutput(shape *jsonscan.Shape) *Operation {
	other := *o
	other.Output = schema.OutputOf(shape)
	other.showLike(o, 0)
	return &other
}

// WithArgument returns the operation as callers see it with one more, optional, argument, which is not part of the
// request. The caller must remove it from the arguments before they are checked.
func (o *Operation) WithArgument(name string, of json.RawMessage) *Operation {
	other := *o
	other.Input = withProperty(o.Input, name, of)
	other.showLike(o, len(of)+len(name)+len(`"":,`))
	other.validator = sync.OnceValues(func() (*schema.Validator, error) { return schema.Compile(other.Input) })
	return &other
}

// withProperty returns an object schema with one more property.
func withProperty(object []byte, name string, of []byte) []byte {
	dst, found := []byte{'{'}, false
	for key, value := range jsonscan.Members(object) {
		if string(key) == "properties" {
			properties := []byte{'{'}
			for property, schema := range jsonscan.Members(value) {
				properties = appendMember(properties, string(property), schema)
			}
			value, found = append(appendMember(properties, name, of), '}'), true
		}
		dst = appendMember(dst, string(key), value)
	}
	if !found {
		dst = appendMember(dst, "properties", append(appendMember([]byte{'{'}, name, of), '}'))
	}
	return append(dst, '}')
}
