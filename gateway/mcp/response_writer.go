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
	// bufferSize is the initial size of a write buffer, which grows with the response.
	bufferSize = 64 << 10
	// smallBufferSize is that for a response that is borrowed but for a few bytes; a slow reader keeps the buffer from
	// the pool for long.
	smallBufferSize = 1 << 10
	// maxHeld limits how much of a response is held back. A response that fits is sent with its length and in few
	// writes, a longer one in chunks as it is made.
	maxHeld = 1 << 20
	// writeStep is the maximum size of one write to the connection.
	writeStep = 256 << 10
	// minBorrowed is the minimum size of JSON text that is not copied into the buffer.
	minBorrowed = 16 << 10
	// escapeStep is how much text is escaped at once. A control character becomes six bytes, so escapeRoom must be
	// free.
	escapeStep = 4 << 10
	escapeRoom = 6*escapeStep + 256
)

// An event with a message is framed by these.
const (
	eventStart = "event: message\ndata: "
	eventEnd   = "\n\n"
)

// bufferPool is a pool of write buffers. It is safe for concurrent use.
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

// responseWriter writes one HTTP response through a pooled buffer, as one JSON body or as an event of an event stream.
// Nothing is sent before maxHeld is reached or the response is finished, so that an error can still replace a response
// that has begun. Events before the response are in sse.go.
type responseWriter struct {
	h             *Handler
	rw            http.ResponseWriter
	controller    *http.ResponseController
	pool          *bufferPool
	pooled        *[]byte // from pool; nil if no response is in progress
	stallTimeout  time.Duration
	buf           []byte
	borrowed      []borrowed  // long pieces that belong between those in buf
	borrowedBytes int         // total length of borrowed
	borrowedArray [2]borrowed // backs the first of borrowed without an allocation

	status     int32
	event      bool // the response is an event of a text/event-stream
	http1      bool
	headerSent bool
	complete   bool  // the whole response has been sent
	written    int64 // bytes of the body written so far
	err        error // of the connection; nothing is written after it

	sse sseState
}

// borrowed is a piece of the response that is not copied; it belongs before buf[at]. It must not change until the
// response is finished.
type borrowed struct {
	at    int
	bytes []byte
}

// headerValues are constant header values, kept so that a response does not allocate them. They are shared and must not
// be modified.
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

// begin starts a response and drops what an earlier begin has left unsent.
func (w *responseWriter) begin(status int) {
	w.endEvents()
	if !w.sse.started { // else the status has been sent
		w.status = int32(status)
	}
	w.startMessage()
}

// startMessage gets a buffer for a message.
func (w *responseWriter) startMessage() {
	if w.pooled == nil {
		w.pooled = w.pool.get()
	}
	w.buf, w.borrowed, w.borrowedBytes = (*w.pooled)[:0], w.borrowedArray[:0], 0
	if w.event {
		w.buf = append(w.buf, eventStart...)
	}
}

// grow makes room for a response of about n bytes in one step.
func (w *responseWriter) grow(n int) {
	if n = min(n, maxHeld); cap(w.buf) < n {
		w.buf = append(make([]byte, 0, n), w.buf...)
	}
}

// writeJSON appends JSON text.
func (w *responseWriter) writeJSON(b []byte) {
	switch {
	case w.event && bytes.ContainsAny(b, "\r\n"):
		// A line break would end the event's data. In JSON text it can only be white space, so a space replaces it.
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

// writeString appends JSON text of this package.
func (w *responseWriter) writeString(t string) {
	w.reserve(len(t))
	w.buf = append(w.buf, t...)
}

// writeEscaped appends text as the inside of a JSON string.
func (w *responseWriter) writeEscaped(text []byte) {
	for len(text) > 0 && w.err == nil {
		n := min(len(text), escapeStep)
		w.reserve(escapeRoom)
		w.buf = jsonscan.AppendEscaped(w.buf, text[:n])
		text = text[n:]
	}
}

// reserve makes room for n bytes, which is much less than maxHeld. The buffer grows until maxHeld is reached and is
// then flushed.
func (w *responseWriter) reserve(n int) {
	switch {
	case cap(w.buf)-len(w.buf) >= n:
	case w.headerSent || w.borrowedBytes+len(w.buf)+n > maxHeld:
		w.flush()
	default:
		w.grow(2*cap(w.buf) + n)
	}
}

// flush sends what is held of a response whose length is not known yet.
func (w *responseWriter) flush() {
	if !w.headerSent {
		w.sendHeader(-1)
	}
	w.sendHeld()
}

// sendHeld writes the held pieces in order.
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

// sendHeader sends the header; a negative length is unknown.
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

// writeConn writes b, with a new deadline for each writeStep.
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

// setWriteDeadline sets the write deadline. Not every writer has deadlines.
func (w *responseWriter) setWriteDeadline(t time.Time) { _ = w.controller.SetWriteDeadline(t) }

// finish sends the rest of the response.
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

// close releases the buffer and ends the response. On HTTP/1 it flushes net/http's buffer, so that an error is known.
// The last deadline stays, since what net/http writes after the handler, such as the last chunk, must not block
// forever; net/http resets it before the next request.
func (w *responseWriter) close() error {
	w.complete = true
	w.release()
	if w.http1 && w.err == nil {
		w.flushConn()
	}
	return w.err
}

// release returns the buffer to the pool.
func (w *responseWriter) release() {
	if w.pooled != nil {
		*w.pooled = w.buf // it may have grown
		w.pool.put(w.pooled)
		w.pooled, w.buf, w.borrowed = nil, nil, nil
	}
}

// flushConn flushes net/http's buffer.
func (w *responseWriter) flushConn() {
	if w.err = w.controller.Flush(); errors.Is(w.err, http.ErrNotSupported) {
		w.err = nil // a response in memory
	}
}

// flushAndClearDeadline flushes net/http's buffer and clears the write deadline.
func (w *responseWriter) flushAndClearDeadline() {
	w.flushConn()
	w.setWriteDeadline(time.Time{})
}

// unfinished reports whether part of a response has been sent and the rest is missing.
func (w *responseWriter) unfinished() bool { return w.headerSent && w.pooled != nil }

// writeStatus sends a response without a body.
func (w *responseWriter) writeStatus(status int) {
	w.status, w.headerSent, w.complete = int32(status), true, true
	w.setWriteDeadline(time.Now().Add(w.stallTimeout)) // net/http sends the header after the handler
	w.rw.WriteHeader(status)
}
