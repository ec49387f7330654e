package openapi

import "bytes"

// lines finds JSON lines.
func (w *watcher) lines(p []byte) {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			w.hold(p)
			return
		}
		w.text(w.whole(p[:i]))
		p = p[i+1:]
	}
}

// recordState is where in a text of a JSON text sequence the stream is.
type recordState struct {
	depth  int
	quoted bool // within a string
	escape bool // behind a backslash
	begun  bool // something stands in the text but white space
	told   bool // the text was whole
}

// records finds the texts of a JSON text sequence. A text ends at the line feed behind its value (RFC 7464 section 2.2), so
// that nobody needs to wait for the next text to know it; what stands between the two is no part of either.
func (w *watcher) records(p []byte) {
	s := &w.sequence
	from := 0
	for i, c := range p {
		switch {
		case c == recordSeparator:
			if !s.told {
				w.text(w.whole(p[from:i]))
			}
			*s, from = recordState{}, i+1
		case s.told:
		case s.escape:
			s.escape = false
		case s.quoted:
			s.escape, s.quoted = c == '\\', c != '"'
		case c == '"':
			s.quoted, s.begun = true, true
		case c == '{', c == '[':
			s.depth++
			s.begun = true
		case c == '}', c == ']':
			s.depth--
		case c == '\n' && s.depth <= 0 && s.begun:
			w.text(w.whole(p[from:i]))
			s.told = true
		case c > ' ':
			s.begun = true
		}
	}
	if !s.told {
		w.hold(p[from:])
	}
}

// eventState is what the stream has told of a server-sent event so far.
type eventState struct {
	data   []byte
	some   bool // there is data, which may be empty
	long   bool // there is more than is held
	behind bool // a carriage return was the last byte: a line feed behind it ends no other line
}

// fields finds server-sent events, by the rules of the function events.
func (w *watcher) fields(p []byte) {
	for len(p) > 0 {
		if w.event.behind {
			w.event.behind = false
			if p[0] == '\n' {
				p = p[1:]
				continue
			}
		}
		i := bytes.IndexAny(p, "\r\n")
		if i < 0 {
			w.hold(p)
			return
		}
		w.event.behind = p[i] == '\r'
		w.field(w.whole(p[:i]))
		p = p[i+1:]
	}
}

// field takes one line; long tells that it is only the beginning of one.
func (w *watcher) field(line []byte, long bool) {
	e := &w.event
	if len(line) == 0 {
		w.dispatch()
		return
	}
	name, value, valued := bytes.Cut(line, []byte(":"))
	if string(name) != "data" {
		return
	}
	value = bytes.TrimPrefix(value, []byte(" "))
	switch {
	case long, len(e.data)+1+len(value) > w.most:
		e.long, e.data = true, e.data[:0]
	case e.long:
	case !e.some:
		e.data, e.some = append(e.data[:0], value...), valued
	default:
		e.data = append(append(e.data, '\n'), value...)
	}
}

// dispatch shows the event whose lines have come, if there is one.
func (w *watcher) dispatch() {
	e := &w.event
	if e.long || len(e.data) > 0 && string(e.data) != endOfEvents {
		w.tell(e.data, e.long)
	}
	e.data, e.some, e.long = e.data[:0], false, false
}

// lastFields takes the end of the stream.
func (w *watcher) lastFields() {
	if line, long := w.whole(nil); len(line) > 0 {
		w.field(line, long)
	}
	w.dispatch()
}
