package answer

import "bytes"

// scanLines finds JSON lines.
func (sc *eventScanner) scanLines(p []byte) {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			sc.hold(p)
			return
		}
		sc.reportText(sc.complete(p[:i]))
		p = p[i+1:]
	}
}

// recordState is the position within a text of a JSON text sequence.
type recordState struct {
	depth    int
	quoted   bool // within a string
	escape   bool // after a backslash
	started  bool // the text has more than white space
	reported bool // the text was complete
}

// scanRecords finds the texts of a JSON text sequence. A text is complete at the line feed after its value (RFC 7464
// section 2.2), before the next text arrives; anything between the two is ignored.
func (sc *eventScanner) scanRecords(p []byte) {
	s := &sc.record
	from := 0
	for i, c := range p {
		switch {
		case c == recordSeparator:
			if !s.reported {
				sc.reportText(sc.complete(p[from:i]))
			}
			*s, from = recordState{}, i+1
		case s.reported:
		case s.escape:
			s.escape = false
		case s.quoted:
			s.escape, s.quoted = c == '\\', c != '"'
		case c == '"':
			s.quoted, s.started = true, true
		case c == '{', c == '[':
			s.depth++
			s.started = true
		case c == '}', c == ']':
			s.depth--
		case c == '\n' && s.depth <= 0 && s.started:
			sc.reportText(sc.complete(p[from:i]))
			s.reported = true
		case c > ' ':
			s.started = true
		}
	}
	if !s.reported {
		sc.hold(p[from:])
	}
}

// eventState is the part of a server-sent event that has arrived.
type eventState struct {
	data    []byte
	hasData bool // data may be empty
	tooLong bool // data exceeds the limit
	afterCR bool // the last byte was a carriage return, which a line feed may follow
}

// scanFields finds server-sent events by the rules of the function events.
func (sc *eventScanner) scanFields(p []byte) {
	for len(p) > 0 {
		if sc.event.afterCR {
			sc.event.afterCR = false
			if p[0] == '\n' {
				p = p[1:]
				continue
			}
		}
		i := bytes.IndexAny(p, "\r\n")
		if i < 0 {
			sc.hold(p)
			return
		}
		sc.event.afterCR = p[i] == '\r'
		sc.field(sc.complete(p[:i]))
		p = p[i+1:]
	}
}

// field handles one line; long reports that it is only the beginning of one.
func (sc *eventScanner) field(line []byte, long bool) {
	e := &sc.event
	if len(line) == 0 {
		sc.dispatch()
		return
	}
	name, value, valued := bytes.Cut(line, []byte(":"))
	if string(name) != "data" {
		return
	}
	value = bytes.TrimPrefix(value, []byte(" "))
	switch {
	case long, len(e.data)+1+len(value) > sc.limit:
		e.tooLong, e.data = true, e.data[:0]
	case e.tooLong:
	case !e.hasData:
		e.data, e.hasData = append(e.data[:0], value...), valued
	default:
		e.data = append(append(e.data, '\n'), value...)
	}
}

// dispatch reports the complete event, if it has data.
func (sc *eventScanner) dispatch() {
	e := &sc.event
	if e.tooLong || len(e.data) > 0 && string(e.data) != endOfEvents {
		sc.report(e.data, e.tooLong)
	}
	e.data, e.hasData, e.tooLong = e.data[:0], false, false
}

// finishFields handles the end of the stream.
func (sc *eventScanner) finishFields() {
	if line, long := sc.complete(nil); len(line) > 0 {
		sc.field(line, long)
	}
	sc.dispatch()
}
