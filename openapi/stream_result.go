package openapi

import (
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
)

// row says what the elements of an array are that was put together of a streamed answer.
type row uint8

const (
	noRow       row = iota
	rowOfValues     // the values of the stream
	rowOfEvents     // objects with the data of server-sent events as "data"
)

// Result makes of a streamed answer its result: the value at a JSON Pointer in the last event that has one there, other than
// null. A string becomes a text. It reports false and changes nothing if the part is no such answer, or has no such event.
func (p *Part) Result(pointer string) bool {
	if p.row == noRow {
		return false
	}
	var result []byte
	for event := range jsonscan.Elements(p.Data) {
		if p.row == rowOfEvents {
			event = jsonscan.Lookup(event, "data")
		}
		if jsonscan.KindOf(event) == jsonscan.String { // beside it stands an event that is not JSON
			text := jsonscan.Unquote(event)
			if _, err := jsonscan.Scan(text, jsonscan.Options{}); err != nil {
				continue
			}
			event = jsonscan.AppendCompact(nil, text)
		}
		if at := jsonscan.At(event, pointer); at != nil && jsonscan.KindOf(at) != jsonscan.Null {
			result = at
		}
	}
	if result == nil {
		return false
	}
	p.Drift, p.Doubled, p.Wrapped, p.Events, p.row = "", false, false, 0, noRow
	if p.Data = result; jsonscan.KindOf(result) == jsonscan.String {
		p.Kind, p.Data = Text, jsonscan.Unquote(result)
	}
	return true
}

// ReplaceTexts puts in the place of each event of a stream that is a text rather than JSON what replace returns for it. It does nothing to
// what is no stream of events.
func (p *Part) ReplaceTexts(replace func(text []byte) []byte) {
	if p.row == noRow || p.MediaType != mediatype.EventStream {
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
		if p.row == rowOfValues {
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
