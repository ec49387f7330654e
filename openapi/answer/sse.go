package answer

import (
	"bytes"
	"iter"
	"unicode/utf8"

	"drawbridge/openapi/jsonscan"
)

// event is one server-sent event (HTML, section 9.2).
type event struct {
	name, id []byte // nil if the stream has none
	data     []byte // valid until the next event
}

// endOfEvents is the data of the last event of some services, such as OpenAI's. It carries no information, and isn't
// JSON even if all other events are.
const endOfEvents = "[DONE]"

// events reads a stream of events as one JSON array. Its elements are the data of the events: JSON if all of them are,
// otherwise strings. If any event has a name or an id, the elements are objects {"event", "id", "data"} instead, as in
// the schemas of OAS 3.2 (server-sent event streams); "retry" concerns the transport and is left out.
func (r *reader) events(e entity) (p Part, found bool, err error) {
	data := bytes.TrimPrefix(e.data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) { // the charset is always UTF-8
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	asJSON, asObjects, ended := true, false, false
	info := jsonscan.Info{Spaced: true} // of all events
	count := 0
	for ev := range events(data, !e.timedOut) {
		count++
		asObjects = asObjects || ev.name != nil || ev.id != nil
		if ended = string(ev.data) == endOfEvents; ended {
			count--
			continue
		}
		if asJSON {
			of, err := jsonscan.Scan(ev.data, jsonscan.Options{})
			asJSON, info.Escapes = err == nil, info.Escapes || of.Escapes
		}
	}
	size := len(data) + len("[]")
	if !asJSON || asObjects { // names and ids are escaped, too
		if size = eventsSize(events(data, !e.timedOut), asJSON, asObjects); size > max(maxTextEvents, 2*len(e.data)) {
			return Part{}, false, &Error{MediaType: e.media, Reason: "holds mostly control characters, and would be several times as large as it is as JSON"}
		}
		size += escapeRoom
	}
	_, root := r.elements()
	out := append(r.buffer(size).data, '[')
	for ev := range events(data, !e.timedOut) {
		if string(ev.data) == endOfEvents {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = appendEvent(out, ev, info, asJSON, asObjects)
	}
	if count == 0 {
		return Part{}, false, nil
	}
	p = r.array(e.media, append(out, ']'), root)
	if asObjects {
		p.assembly = ofEvents
	}
	if e.timedOut && !ended {
		p.Events = count
	}
	return p, true, nil
}

// appendEvent appends the data of an event, as JSON or as a string, and with asObject its name and id as well.
func appendEvent(dst []byte, ev event, info jsonscan.Info, asJSON, asObject bool) []byte {
	if asObject {
		dst = append(dst, '{')
		if ev.name != nil {
			dst = append(jsonscan.AppendString(append(dst, `"event":`...), ev.name), ',')
		}
		if ev.id != nil {
			dst = append(jsonscan.AppendString(append(dst, `"id":`...), ev.id), ',')
		}
		dst = append(dst, `"data":`...)
	}
	if asJSON {
		dst = jsonscan.AppendNormal(dst, ev.data, info)
	} else {
		dst = jsonscan.AppendString(dst, ev.data)
	}
	if asObject {
		dst = append(dst, '}')
	}
	return dst
}

// maxTextEvents is the size in bytes up to which text events may expand freely as JSON. Larger ones may be twice the
// size of the response, which suffices for quotes and line ends; control characters could make it six times the size.
const maxTextEvents = 1 << 20

// escapeRoom is the spare capacity that [jsonscan.AppendEscaped] needs.
const escapeRoom = 9 << 10

// eventsSize returns an upper bound of the size of events as JSON, with JSON or strings as data.
func eventsSize(all iter.Seq[event], asJSON, asObjects bool) int {
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

// hasEvent reports whether a stream that was cut off contains a complete event.
func hasEvent(data []byte) bool {
	for range events(data, false) {
		return true
	}
	return false
}

// events yields the events of a stream that have data. If the stream ended, its last event needs no blank line after
// it: the standard drops such an event, but many services omit the line.
func events(data []byte, ended bool) iter.Seq[event] {
	return func(yield func(event) bool) {
		var ev event
		var joined []byte // data of several lines
		several := false
		for len(data) > 0 {
			line, rest, complete := cutLine(data)
			if data = rest; !complete && !ended {
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

// cutLine returns the first line without its end, LF, CR LF or CR, and the rest; complete is false if the line has no
// end.
func cutLine(data []byte) (line, rest []byte, complete bool) {
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
