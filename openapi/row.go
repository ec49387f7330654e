package openapi

import "drawbridge/openapi/jsonscan"

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
	p.Drift, p.Wrapped, p.Events, p.Unended, p.row = "", false, 0, false, noRow
	if p.Data = result; jsonscan.KindOf(result) == jsonscan.String {
		p.Kind, p.Data = Text, jsonscan.Unquote(result)
	}
	return true
}
