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
	smallBufferSize = 1 << 10
	// holdLimit bounds what is held of one answer. One that fits is sent with its
	// length, in few writes; a longer one is sent in chunks as it is made.
	maxHeld = 1 << 20
	// writeStep is how much is given to the connection at once.
	writeStep = 256 << 10
	// borrowSize is from where on a piece of JSON text is not worth copying.
	minBorrowed = 16 << 10
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
type bufferPool struct {
	size int // of a new one
	pool sync.Pool
}

func (b *bufferPool) get() *[]byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return p
	}
	p := make([]byte, 0, b.size)
	return &p
}

func (b *bufferPool) put(p *[]byte) {
	*p = (*p)[:0]
	b.pool.Put(p)
}

// stream writes one HTTP answer through a pooled buffer: as one JSON body, or as
// the event of an event stream. Nothing is sent before holdLimit is reached or the
// answer is finished, so that an error can still replace what was begun. What may
// go before the answer is in sse.go.
type responseWriter struct {
	h             *Handler
	rw            http.ResponseWriter
	controller    *http.ResponseController
	pool          *bufferPool
	pooled        *[]byte // from pool; nil when there is no answer under way
	stallTimeout  time.Duration
	buf           []byte
	borrowed      []borrowed  // long pieces that stand between those in buf
	borrowedBytes int         // bytes of all of them
	borrowedArray [2]borrowed // of the first borrowed, so that they cost no allocation

	status     int32
	event      bool // the answer is an event of a text/event-stream
	http1      bool
	headerSent bool  // the header is out
	complete   bool  // the answer is out
	written    int64 // bytes of the body written so far
	err        error // the connection's; everything after it is dropped

	sse sseState
}

// borrowed is a piece of the answer that is not copied: it stands before the byte
// buf[at]. Its owner waits until the answer is finished.
type borrowed struct {
	at    int
	bytes []byte
}

// fixedHeaders are header values that never change, kept so that an answer does
// not allocate them. They are shared: nobody may write to them.
type headerValues struct {
	json, events, gzip, acceptEncoding, noBuffering, close []string
}

func newHeaderValues() *headerValues {
	return &headerValues{
		json:           []string{"application/json"},
		events:         []string{"text/event-stream"},
		gzip:           []string{"gzip"},
		acceptEncoding: []string{"Accept-Encoding"},
		noBuffering:    []string{"no"},
		close:          []string{"close"},
	}
}

// begin starts an answer; what an earlier begin has left unsent is dropped.
func (w *responseWriter) begin(status int) {
	w.endEvents()
	if !w.sse.started { // else the status is out
		w.status = int32(status)
	}
	w.startMessage()
}

// start takes a buffer for a message.
func (w *responseWriter) startMessage() {
	if w.pooled == nil {
		w.pooled = w.pool.get()
	}
	w.buf, w.borrowed, w.borrowedBytes = (*w.pooled)[:0], w.borrowedArray[:0], 0
	if w.event {
		w.buf = append(w.buf, eventStart...)
	}
}

// expect makes room for an answer of about n bytes, so that the buffer need not
// grow step by step.
func (w *responseWriter) grow(n int) {
	if n = min(n, maxHeld); cap(w.buf) < n {
		w.buf = append(make([]byte, 0, n), w.buf...)
	}
}

// raw appends JSON text.
func (w *responseWriter) writeJSON(b []byte) {
	switch {
	case w.event && bytes.ContainsAny(b, "\r\n"):
		// A line break would end the event's data. In JSON text it can only be white space.
		for len(b) > 0 && w.err == nil {
			n := min(len(b), minBorrowed)
			w.reserve(n)
			start := len(w.buf)
			w.buf = append(w.buf, b[:n]...)
			for i, c := range w.buf[start:] {
				if c == '\r' || c == '\n' {
					w.buf[start+i] = ' '
				}
			}
			b = b[n:]
		}
	case len(b) >= minBorrowed:
		w.borrowed = append(w.borrowed, borrowed{at: len(w.buf), bytes: b})
		if w.borrowedBytes += len(b); w.borrowedBytes+len(w.buf) > maxHeld {
			w.flush()
		}
	default:
		w.reserve(len(b))
		w.buf = append(w.buf, b...)
	}
}

// str appends JSON text that was made here.
func (w *responseWriter) writeString(t string) {
	w.reserve(len(t))
	w.buf = append(w.buf, t...)
}

// escaped appends text as the inside of a JSON string.
func (w *responseWriter) writeEscaped(text []byte) {
	for len(text) > 0 && w.err == nil {
		n := min(len(text), escapeStep)
		w.reserve(escapeRoom)
		w.buf = jsonscan.AppendEscaped(w.buf, text[:n])
		text = text[n:]
	}
}

// room makes sure that n bytes, much less than holdLimit, fit into the buffer: it
// grows until holdLimit is reached, and is sent then.
func (w *responseWriter) reserve(n int) {
	switch {
	case cap(w.buf)-len(w.buf) >= n:
	case w.headerSent || w.borrowedBytes+len(w.buf)+n > maxHeld:
		w.flush()
	default:
		w.grow(2*cap(w.buf) + n)
	}
}

// flush sends what is held of an answer whose length is not known yet.
func (w *responseWriter) flush() {
	if !w.headerSent {
		w.sendHeader(-1)
	}
	w.sendHeld()
}

// send writes what is held, each piece in its place.
func (w *responseWriter) sendHeld() {
	from := 0
	for _, b := range w.borrowed {
		w.writeConn(w.buf[from:b.at])
		w.writeConn(b.bytes)
		from = b.at
	}
	w.writeConn(w.buf[from:])
	w.buf, w.borrowed, w.borrowedBytes = w.buf[:0], w.borrowed[:0], 0
}

// header sends the header; a length below 0 is unknown.
func (w *responseWriter) sendHeader(length int64) {
	h := w.rw.Header()
	if w.event {
		h["Content-Type"] = w.h.headers.events
		h["X-Accel-Buffering"] = w.h.headers.noBuffering // mcp-T13
	} else {
		h["Content-Type"] = w.h.headers.json
	}
	if length >= 0 {
		h["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	}
	w.rw.WriteHeader(int(w.status))
	w.headerSent = true
}

// write sends b, giving each piece its own time to get through.
func (w *responseWriter) writeConn(b []byte) {
	for len(b) > 0 && w.err == nil {
		n := min(len(b), writeStep)
		w.setWriteDeadline(time.Now().Add(w.stallTimeout))
		var written int
		written, w.err = w.rw.Write(b[:n])
		w.written += int64(written)
		b = b[n:]
	}
}

// deadline sets the time until which writing must be done. Where the writer has no
// deadlines there is nothing to guard.
func (w *responseWriter) setWriteDeadline(t time.Time) { _ = w.controller.SetWriteDeadline(t) }

// finish sends the rest of the answer.
func (w *responseWriter) finish() error {
	if w.event {
		w.writeString(eventEnd)
	}
	if !w.headerSent {
		w.sendHeader(int64(len(w.buf) + w.borrowedBytes))
	}
	w.sendHeld()
	return w.close()
}

// close returns the buffer and lets go of the connection. On HTTP/1 what net/http holds
// is sent now, so that an error is known. The last deadline stays: what net/http writes
// after the handler, such as the last chunk, must not wait for ever either. It takes the
// deadline back before the next request.
func (w *responseWriter) close() error {
	w.complete = true
	w.release()
	if w.http1 && w.err == nil {
		w.flushConn()
	}
	return w.err
}

// release returns the buffer.
func (w *responseWriter) release() {
	if w.pooled != nil {
		*w.pooled = w.buf // it may have grown
		w.pool.put(w.pooled)
		w.pooled, w.buf, w.borrowed = nil, nil, nil
	}
}

// flushed sends what net/http holds.
func (w *responseWriter) flushConn() {
	if w.err = w.controller.Flush(); errors.Is(w.err, http.ErrNotSupported) {
		w.err = nil // an answer in memory
	}
}

// push sends what net/http holds, and takes back the deadline.
func (w *responseWriter) flushAndClearDeadline() {
	w.flushConn()
	w.setWriteDeadline(time.Time{})
}

// unfinished tells whether a part of an answer is out and the rest is missing.
func (w *responseWriter) unfinished() bool { return w.headerSent && w.pooled != nil }

// empty answers without a body.
func (w *responseWriter) writeStatus(status int) {
	w.status, w.headerSent, w.complete = int32(status), true, true
	w.setWriteDeadline(time.Now().Add(w.stallTimeout)) // net/http sends the header after the handler
	w.rw.WriteHeader(status)
}
