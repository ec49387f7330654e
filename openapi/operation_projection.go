package openapi

import (
	"bytes"
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

// WithArgument returns the operation as callers see it with one more argument, which is not part of the
// request. The caller must remove it from the arguments before they are checked.
func (o *Operation) WithArgument(name string, of json.RawMessage, required bool) *Operation {
	other := *o
	other.Input = withProperty(o.Input, name, of, required)
	other.showLike(o, len(of)+len(name)+len(`"":,`))
	other.validator = sync.OnceValues(func() (*schema.Validator, error) { return schema.Compile(other.Input) })
	return &other
}

// withProperty returns an object schema with one more property.
func withProperty(object []byte, name string, of []byte, required bool) []byte {
	dst, found := []byte{'{'}, false
	names := [][]byte{jsonscan.AppendString(nil, name)}
	for key, value := range jsonscan.Members(object) {
		if string(key) == "properties" {
			properties := []byte{'{'}
			for property, schema := range jsonscan.Members(value) {
				properties = jsonscan.AppendMember(properties, string(property), schema)
			}
			value, found = append(jsonscan.AppendMember(properties, name, of), '}'), true
		}
		if required && string(key) == "required" {
			for one := range jsonscan.Elements(value) {
				names = append(names, one)
			}
			continue
		}
		dst = jsonscan.AppendMember(dst, string(key), value)
	}
	if required {
		dst = jsonscan.AppendMember(dst, "required", append(append([]byte{'['}, bytes.Join(names, []byte{','})...), ']'))
	}
	if !found {
		dst = jsonscan.AppendMember(dst, "properties", append(jsonscan.AppendMember([]byte{'{'}, name, of), '}'))
	}
	return append(dst, '}')
}
