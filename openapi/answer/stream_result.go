package answer

import (
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
)

// assembly is the kind of elements of an array that was assembled from a stream.
type assembly uint8

const (
	notAssembled assembly = iota
	ofValues              // the values of the stream
	ofEvents              // objects with the data of server-sent events as "data"
)

// Result replaces a streamed response by its result, the value at a JSON Pointer in the last event that has one other
// than null; a string becomes text. It returns false and changes nothing if the part is not a streamed response or has
// no such event.
func (p *Part) Result(pointer string) bool {
	if p.assembly == notAssembled {
		return false
	}
	var result []byte
	for event := range jsonscan.Elements(p.Data) {
		if p.assembly == ofEvents {
			event = jsonscan.Lookup(event, "data")
		}
		if jsonscan.KindOf(event) == jsonscan.String { // another event is not JSON, so all are strings
			text := jsonscan.Unquote(event)
			info, err := jsonscan.Scan(text, jsonscan.Options{})
			if err != nil {
				continue
			}
			event = jsonscan.AppendNormal(nil, text, info)
		}
		if at := jsonscan.At(event, pointer); at != nil && jsonscan.KindOf(at) != jsonscan.Null {
			result = at
		}
	}
	if result == nil {
		return false
	}
	p.Drift, p.DuplicateName, p.Wrapped, p.Events, p.assembly = "", false, false, 0, notAssembled
	if p.Data = result; jsonscan.KindOf(result) == jsonscan.String {
		p.Kind, p.Data = Text, jsonscan.Unquote(result)
	}
	return true
}

// ReplaceTexts replaces each event of a stream that is text rather than JSON by the result of replace. Other parts stay
// unchanged.
func (p *Part) ReplaceTexts(replace func(text []byte) []byte) {
	if p.assembly == notAssembled || p.MediaType != mediatype.EventStream {
		return
	}
	value := func(out, value []byte) []byte {
		if jsonscan.KindOf(value) == jsonscan.String {
			text := jsonscan.Unquote(value)
			if _, err := jsonscan.Scan(text, jsonscan.Options{}); err != nil || jsonscan.KindOf(text) == jsonscan.String {
				return jsonscan.AppendString(out, replace(text))
			}
		}
		return append(out, value...)
	}
	out := append(make([]byte, 0, len(p.Data)), '[')
	for event := range jsonscan.Elements(p.Data) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		if p.assembly == ofValues {
			out = value(out, event)
			continue
		}
		sign := byte('{')
		for name, member := range jsonscan.Members(event) {
			out = append(jsonscan.AppendString(append(out, sign), name), ':')
			if sign = ','; string(name) == "data" {
				out = value(out, member)
			} else {
				out = append(out, member...)
			}
		}
		if sign == '{' {
			out = append(out, sign)
		}
		out = append(out, '}')
	}
	p.Data = append(out, ']')
}
