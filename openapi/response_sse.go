package openapi

import (
	"bytes"
	"iter"
	"unicode/utf8"

	"drawbridge/openapi/jsonscan"
)

// An event is one server-sent event (HTML, section 9.2).
type event struct {
	name, id []byte // nil: the stream gives none
	data     []byte // valid until the next event
}

// endOfEvents is the data that some services send last, as OpenAI's does. It says nothing but that, and is not JSON where
// all before it is.
const endOfEvents = "[DONE]"

// events reads a stream of events as one JSON array. Its elements are the data of the events: as JSON if that of every
// event is, else as strings. If any event has a name or an id, the elements are objects {"event", "id", "data"}
// instead, as in the schemas of OAS 3.2 (server-sent event streams); "retry" is for the transport, and left out.
func (r *answerReader) events(e entity) (p Part, found bool, err error) {
	data := bytes.TrimPrefix(e.data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) { // it always is UTF-8
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	asJSON, asObjects, ended := true, false, false
	count := 0
	for ev := range events(data, !e.cut) {
		count++
		asObjects = asObjects || ev.name != nil || ev.id != nil
		if ended = string(ev.data) == endOfEvents; ended {
			count--
			continue
		}
		if asJSON {
			_, err := jsonscan.Scan(ev.data, jsonscan.Options{})
			asJSON = err == nil
		}
	}
	size := len(data) + len("[]")
	if !asJSON || asObjects { // names and ids are texts, too
		if size = sizeOfEvents(events(data, !e.cut), asJSON, asObjects); size > max(maxMade, 2*len(e.data)) {
			return Part{}, false, &AnswerError{MediaType: e.media, Reason: "holds mostly control characters, and would be several times as large as it is as JSON"}
		}
		size += escapeRoom
	}
	_, root := r.elements()
	out := append(r.buffer(size).data, '[')
	for ev := range events(data, !e.cut) {
		if string(ev.data) == endOfEvents {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		if asObjects {
			out = append(out, '{')
			if ev.name != nil {
				out = append(jsonscan.AppendString(append(out, `"event":`...), ev.name), ',')
			}
			if ev.id != nil {
				out = append(jsonscan.AppendString(append(out, `"id":`...), ev.id), ',')
			}
			out = append(out, `"data":`...)
		}
		if asJSON {
			out = jsonscan.AppendCompact(out, ev.data)
		} else {
			out = jsonscan.AppendString(out, ev.data)
		}
		if asObjects {
			out = append(out, '}')
		}
	}
	if count == 0 {
		return Part{}, false, nil
	}
	p = r.array(e.media, append(out, ']'), root)
	if asObjects {
		p.row = rowOfEvents
	}
	if e.cut && !ended {
		p.Events = count
	}
	return p, true, nil
}

// maxMade is what events that are texts may have as JSON in any case, in bytes. If that is more, it may be twice what came, as much as
// quotes and line ends make of it: six times that, which control characters can be, nobody has counted on.
const maxMade = 1 << 20

// escapeRoom is what [jsonscan.AppendEscaped] wants to have beside what it writes.
const escapeRoom = 9 << 10

// sizeOfEvents is how many bytes events have in JSON, at most: their data as they are, if they are JSON, or as strings.
func sizeOfEvents(all iter.Seq[event], asJSON, asObjects bool) int {
	size := len("[]")
	for ev := range all {
		if asJSON {
			size += len(ev.data) + len(",")
		} else {
			size += jsonscan.EscapedLen(ev.data) + len(`"",`)
		}
		if asObjects {
			size += len(`{"data":}`)
			if ev.name != nil {
				size += jsonscan.EscapedLen(ev.name) + len(`"event":"",`)
			}
			if ev.id != nil {
				size += jsonscan.EscapedLen(ev.id) + len(`"id":"",`)
			}
		}
	}
	return size
}

// hasEvent tells whether a stream that was cut off holds one whole event.
func hasEvent(data []byte) bool {
	for range events(data, false) {
		return true
	}
	return false
}

// events yields the events of a stream. Those without data are none. The last one needs no blank line behind it if the
// stream came to its end: the standard drops it then, but many services leave the line out.
func events(data []byte, ended bool) iter.Seq[event] {
	return func(yield func(event) bool) {
		var ev event
		var joined []byte // data of several lines
		several := false
		for len(data) > 0 {
			line, rest, whole := cutLine(data)
			if data = rest; !whole && !ended {
				return
			}
			if len(line) == 0 {
				if len(ev.data) > 0 && !yield(ev) {
					return
				}
				ev, several = event{}, false
				continue
			}
			field, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(field) {
			case "data":
				switch {
				case ev.data == nil:
					ev.data = value
				default:
					if !several {
						joined, several = append(joined[:0], ev.data...), true
					}
					joined = append(append(joined, '\n'), value...)
					ev.data = joined
				}
			case "event":
				ev.name = nil
				if len(value) > 0 && string(value) != "message" {
					ev.name = value
				}
			case "id":
				if bytes.IndexByte(value, 0) < 0 {
					ev.id = value
				}
			}
		}
		if ended && len(ev.data) > 0 {
			yield(ev)
		}
	}
}

// cutLine returns the first line without its end, which is LF, CR LF or CR, and what follows it; whole tells that the line
// has an end.
func cutLine(data []byte) (line, rest []byte, whole bool) {
	i := bytes.IndexAny(data, "\r\n")
	switch {
	case i < 0:
		return data, nil, false
	case data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n':
		return data[:i], data[i+2:], true
	default:
		return data[:i], data[i+1:], true
	}
}
