package mcp

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"drawbridge/openapi/jsonscan"
)

const (
	// bufferSize is what a write buffer holds at first. It grows with the answer.
	bufferSize = 64 << 10
	// leanSize is the same for an answer that is borrowed but for a few bytes: who reads it
	// slowly holds the buffer as long.
	leanSize = 1 << 10
	// holdLimit bounds what is held of one answer. One that fits is sent with its
	// length, in few writes; a longer one is sent in chunks as it is made.
	holdLimit = 1 << 20
	// writeStep is how much is given to the connection at once.
	writeStep = 256 << 10
	// borrowSize is from where on a piece of JSON text is not worth copying.
	borrowSize = 16 << 10
	// escapeStep is how much text is escaped at once. A control character becomes
	// six bytes, so that much room must be free.
	escapeStep = 4 << 10
	escapeRoom = 6*escapeStep + 256
)

// What stands around a message in an event stream.
const (
	eventStart = "event: message\ndata: "
	eventEnd   = "\n\n"
)

// buffers hands out write buffers. Safe for concurrent use.
type buffers struct {
	size int // of a new one
	pool sync.Pool
}

func (b *buffers) get() *[]byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return p
	}
	p := make([]byte, 0, b.size)
	return &p
}

func (b *buffers) put(p *[]byte) {
	*p = (*p)[:0]
	b.pool.Put(p)
}

// stream writes one HTTP answer through a pooled buffer: as one JSON body, or as
// the event of an event stream. Nothing is sent before holdLimit is reached or the
// answer is finished, so that an error can still replace what was begun. What may
// go before the answer is in sse.go.
type stream struct {
	h        *Handler
	w        http.ResponseWriter
	control  *http.ResponseController
	pool     *buffers
	held     *[]byte // from pool; nil when there is no answer under way
	stall    time.Duration
	buf      []byte
	borrowed []borrowed  // long pieces that stand between those in buf
	lent     int         // bytes of all of them
	place    [2]borrowed // of the first borrowed, so that they cost no allocation

	status   int32
	event    bool // the answer is an event of a text/event-stream
	http1    bool
	sent     bool  // the header is out
	complete bool  // the answer is out
	size     int64 // bytes of the body written so far
	err      error // the connection's; everything after it is dropped

	live live
}

// borrowed is a piece of the answer that is not copied: it stands before the byte
// buf[at]. Its owner waits until the answer is finished.
type borrowed struct {
	at    int
	bytes []byte
}

// fixedHeaders are header values that never change, kept so that an answer does
// not allocate them. They are shared: nobody may write to them.
type fixedHeaders struct {
	json, events, gzip, acceptEncoding, noBuffering, close []string
}

func newFixedHeaders() *fixedHeaders {
	return &fixedHeaders{
		json:           []string{"application/json"},
		events:         []string{"text/event-stream"},
		gzip:           []string{"gzip"},
		acceptEncoding: []string{"Accept-Encoding"},
		noBuffering:    []string{"no"},
		close:          []string{"close"},
	}
}

// begin starts an answer; what an earlier begin has left unsent is dropped.
func (s *stream) begin(status int) {
	s.settle()
	if !s.live.open { // else the status is out
		s.status = int32(status)
	}
	s.start()
}

// start takes a buffer for a message.
func (s *stream) start() {
	if s.held == nil {
		s.held = s.pool.get()
	}
	s.buf, s.borrowed, s.lent = (*s.held)[:0], s.place[:0], 0
	if s.event {
		s.buf = append(s.buf, eventStart...)
	}
}

// expect makes room for an answer of about n bytes, so that the buffer need not
// grow step by step.
func (s *stream) expect(n int) {
	if n = min(n, holdLimit); cap(s.buf) < n {
		s.buf = append(make([]byte, 0, n), s.buf...)
	}
}

// raw appends JSON text.
func (s *stream) raw(b []byte) {
	switch {
	case s.event && bytes.ContainsAny(b, "\r\n"):
		// A line break would end the event's data. In JSON text it can only be white space.
		for len(b) > 0 && s.err == nil {
			n := min(len(b), borrowSize)
			s.room(n)
			start := len(s.buf)
			s.buf = append(s.buf, b[:n]...)
			for i, c := range s.buf[start:] {
				if c == '\r' || c == '\n' {
					s.buf[start+i] = ' '
				}
			}
			b = b[n:]
		}
	case len(b) >= borrowSize:
		s.borrowed = append(s.borrowed, borrowed{at: len(s.buf), bytes: b})
		if s.lent += len(b); s.lent+len(s.buf) > holdLimit {
			s.flush()
		}
	default:
		s.room(len(b))
		s.buf = append(s.buf, b...)
	}
}

// str appends JSON text that was made here.
func (s *stream) str(t string) {
	s.room(len(t))
	s.buf = append(s.buf, t...)
}

// escaped appends text as the inside of a JSON string.
func (s *stream) escaped(text []byte) {
	for len(text) > 0 && s.err == nil {
		n := min(len(text), escapeStep)
		s.room(escapeRoom)
		s.buf = jsonscan.AppendEscaped(s.buf, text[:n])
		text = text[n:]
	}
}

// room makes sure that n bytes, much less than holdLimit, fit into the buffer: it
// grows until holdLimit is reached, and is sent then.
func (s *stream) room(n int) {
	switch {
	case cap(s.buf)-len(s.buf) >= n:
	case s.sent || s.lent+len(s.buf)+n > holdLimit:
		s.flush()
	default:
		s.expect(2*cap(s.buf) + n)
	}
}

// flush sends what is held of an answer whose length is not known yet.
func (s *stream) flush() {
	if !s.sent {
		s.header(-1)
	}
	s.send()
}

// send writes what is held, each piece in its place.
func (s *stream) send() {
	from := 0
	for _, b := range s.borrowed {
		s.write(s.buf[from:b.at])
		s.write(b.bytes)
		from = b.at
	}
	s.write(s.buf[from:])
	s.buf, s.borrowed, s.lent = s.buf[:0], s.borrowed[:0], 0
}

// header sends the header; a length below 0 is unknown.
func (s *stream) header(length int64) {
	h := s.w.Header()
	if s.event {
		h["Content-Type"] = s.h.fixed.events
		h["X-Accel-Buffering"] = s.h.fixed.noBuffering // mcp-T13
	} else {
		h["Content-Type"] = s.h.fixed.json
	}
	if length >= 0 {
		h["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	}
	s.w.WriteHeader(int(s.status))
	s.sent = true
}

// write sends b, giving each piece its own time to get through.
func (s *stream) write(b []byte) {
	for len(b) > 0 && s.err == nil {
		n := min(len(b), writeStep)
		s.deadline(time.Now().Add(s.stall))
		var written int
		written, s.err = s.w.Write(b[:n])
		s.size += int64(written)
		b = b[n:]
	}
}

// deadline sets the time until which writing must be done. Where the writer has no
// deadlines there is nothing to guard.
func (s *stream) deadline(t time.Time) { _ = s.control.SetWriteDeadline(t) }

// finish sends the rest of the answer.
func (s *stream) finish() error {
	if s.event {
		s.str(eventEnd)
	}
	if !s.sent {
		s.header(int64(len(s.buf) + s.lent))
	}
	s.send()
	return s.close()
}

// close returns the buffer and lets go of the connection. On HTTP/1 what net/http holds
// is sent now, so that an error is known. The last deadline stays: what net/http writes
// after the handler, such as the last chunk, must not wait for ever either. It takes the
// deadline back before the next request.
func (s *stream) close() error {
	s.complete = true
	s.release()
	if s.http1 && s.err == nil {
		s.flushed()
	}
	return s.err
}

// release returns the buffer.
func (s *stream) release() {
	if s.held != nil {
		*s.held = s.buf // it may have grown
		s.pool.put(s.held)
		s.held, s.buf, s.borrowed = nil, nil, nil
	}
}

// flushed sends what net/http holds.
func (s *stream) flushed() {
	if s.err = s.control.Flush(); errors.Is(s.err, http.ErrNotSupported) {
		s.err = nil // an answer in memory
	}
}

// push sends what net/http holds, and takes back the deadline.
func (s *stream) push() {
	s.flushed()
	s.deadline(time.Time{})
}

// unfinished tells whether a part of an answer is out and the rest is missing.
func (s *stream) unfinished() bool { return s.sent && s.held != nil }

// empty answers without a body.
func (s *stream) empty(status int) {
	s.status, s.sent, s.complete = int32(status), true, true
	s.deadline(time.Now().Add(s.stall)) // net/http sends the header after the handler
	s.w.WriteHeader(status)
}
