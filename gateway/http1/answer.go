package http1

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// held is how much of an answer is kept back: the head, and as much of the body as goes with it in one write, as net/http does.
const held = 4 << 10

// buffers are kept from one answer to the next.
var buffers = sync.Pool{New: func() any {
	b := new(bytes.Buffer)
	b.Grow(held)
	return b
}}

// answer is the [http.ResponseWriter] of a request. It also does what [http.ResponseController] asks for, and [io.ReaderFrom].
// Like that of net/http it is for one goroutine at a time. Trailers and informational answers (1xx) it does not send.
type answer struct {
	s      *Server
	conn   net.Conn
	cancel context.CancelFunc // ends the request's context
	watch  watch
	after  []byte // what came behind the request

	header http.Header
	buf    *bytes.Buffer // what is not sent yet; nil: nothing was written
	status int           // 0: the head is not decided
	length int64         // what Content-Length says; -1: there is none
	size   int64         // bytes of the body so far

	headed  bool // the head is in buf, or sent
	chunked bool
	last    bool // the connection is to be closed after this
	limited bool // a deadline for writing is set
	taken   bool // the connection belongs to who asked for it
	done    bool // the handler has returned, or the connection is not its any more
	left    bool // leave was called
	err     error
}

// Header implements [http.ResponseWriter].
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) {
	if a.taken || a.status != 0 || status < 200 {
		return
	}
	a.status, a.length = status, -1
	if v, ok := a.header["Content-Length"]; ok {
		if n, err := strconv.ParseInt(v[0], 10, 64); err == nil && n >= 0 && a.hasBody() {
			a.length = n
		} else {
			delete(a.header, "Content-Length")
		}
	}
}

// hasBody reports whether answers of that status have one (RFC 9110 section 6.4.1).
func (a *answer) hasBody() bool {
	return a.status != http.StatusNoContent && a.status != http.StatusNotModified
}

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) {
	if err := a.may(int64(len(p))); err != nil || len(p) == 0 {
		return 0, err
	}
	if a.buf == nil {
		a.buf = buffers.Get().(*bytes.Buffer) //nolint:errcheck // nothing else is in there
	}
	if !a.headed && a.length < 0 && a.buf.Len()+len(p) <= held/2 { // it may be all, so that its length is known
		a.size += int64(len(p))
		return a.buf.Write(p)
	}
	a.head(p)
	n, err := a.body(p)
	a.size += int64(n)
	return n, err
}

// may reports why n more bytes can't be written; nil: they can.
func (a *answer) may(n int64) error {
	switch {
	case a.taken:
		return http.ErrHijacked
	case a.done:
		return net.ErrClosed
	case a.err != nil:
		return a.err
	}
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	switch {
	case n > 0 && !a.hasBody():
		return http.ErrBodyNotAllowed
	case a.length >= 0 && a.size+n > a.length:
		a.size += n // so that the answer is none, as with net/http
		return http.ErrContentLength
	}
	return nil
}

// body puts p behind the head: into the buffer as far as there is room, and then to the connection.
func (a *answer) body(p []byte) (n int, err error) {
	if a.chunked {
		a.buf.Write(append(strconv.AppendInt(a.buf.AvailableBuffer(), int64(len(p)), 16), "\r\n"...))
		defer func() {
			if a.err == nil {
				a.buf.WriteString("\r\n")
			}
		}()
	}
	if n = min(len(p), max(held-a.buf.Len(), 0)); n > 0 {
		a.buf.Write(p[:n])
	}
	if n == len(p) {
		return n, nil
	}
	if a.send() != nil {
		return 0, a.err
	}
	written, err := a.write(p[n:])
	return n + written, err
}

// head puts the head in front of what is in the buffer, once. first is what the body goes on with.
func (a *answer) head(first []byte) {
	if a.headed {
		return
	}
	a.headed = true
	if a.buf == nil {
		a.buf = buffers.Get().(*bytes.Buffer) //nolint:errcheck // nothing else is in there
	}
	var begun []byte // of the body
	if a.buf.Len() > 0 {
		begun = bytes.Clone(a.buf.Bytes())
		a.buf.Reset()
		first = begun
	}
	h, b := a.header, a.buf
	announced := a.length >= 0
	if a.done && !announced && a.hasBody() && h["Transfer-Encoding"] == nil {
		a.length = a.size
	}
	closes := asksToClose(h["Connection"])
	a.last, a.chunked = a.last || closes, a.length < 0 && a.hasBody()
	b.WriteString("HTTP/1.1 ")
	b.Write(strconv.AppendInt(b.AvailableBuffer(), int64(a.status), 10))
	b.WriteByte(' ')
	if text := http.StatusText(a.status); text != "" {
		b.WriteString(text)
	} else {
		b.WriteString("status code ")
		b.Write(strconv.AppendInt(b.AvailableBuffer(), int64(a.status), 10))
	}
	b.WriteString("\r\n")
	_ = h.WriteSubset(b, framing) // memory takes all
	if _, dated := h["Date"]; !dated {
		b.WriteString("Date: ")
		b.Write(time.Now().UTC().AppendFormat(b.AvailableBuffer(), http.TimeFormat))
		b.WriteString("\r\n")
	}
	if a.length >= 0 && !announced {
		b.WriteString("Content-Length: ")
		b.Write(strconv.AppendInt(b.AvailableBuffer(), a.length, 10))
		b.WriteString("\r\n")
	}
	if _, typed := h["Content-Type"]; !typed && len(first) > 0 && a.hasBody() && h.Get("Content-Encoding") == "" {
		b.WriteString("Content-Type: ")
		b.WriteString(http.DetectContentType(first))
		b.WriteString("\r\n")
	}
	if a.last && !closes {
		b.WriteString("Connection: close\r\n")
	}
	if a.chunked {
		b.WriteString("Transfer-Encoding: chunked\r\n")
	}
	b.WriteString("\r\n")
	if len(begun) > 0 {
		_, _ = a.body(begun) // it has room, and an error stays in a.err
	}
}

// framing is not the handler's to set.
var framing = map[string]bool{"Transfer-Encoding": true}

func asksToClose(values []string) bool {
	for _, v := range values {
		if v == "close" {
			return true
		}
	}
	return false
}

// send writes what the buffer holds to the connection.
func (a *answer) send() error {
	if a.buf == nil || a.buf.Len() == 0 || a.err != nil {
		return a.err
	}
	_, err := a.write(a.buf.Bytes())
	a.buf.Reset()
	return err
}

// write writes to the connection, which has time for it.
func (a *answer) write(p []byte) (int, error) {
	if !a.limited {
		_ = a.SetWriteDeadline(time.Now().Add(a.s.AnswerTimeout))
	}
	n, err := a.conn.Write(p)
	return n, a.failed(err)
}

// failed keeps the first error of the connection. What cannot be sent has nobody who waits for it.
func (a *answer) failed(err error) error {
	if err != nil && a.err == nil {
		a.err = err
		a.cancel()
	}
	return err
}

// FlushError sends what is held back; [http.ResponseController.Flush] calls it.
func (a *answer) FlushError() error {
	if err := a.may(0); err != nil {
		return err
	}
	a.head(nil)
	return a.send()
}

// Flush implements [http.Flusher].
func (a *answer) Flush() { _ = a.FlushError() }

// ReadFrom sends what r reads: as long as its length was announced, by the connection itself.
func (a *answer) ReadFrom(r io.Reader) (int64, error) {
	if err := a.may(0); err != nil {
		return 0, err
	}
	if a.length < 0 {
		return io.Copy(struct{ io.Writer }{a}, r)
	}
	if err := a.FlushError(); err != nil {
		return 0, err
	}
	n, err := io.Copy(a.conn, r)
	a.size += n
	return n, a.failed(err)
}

// SetWriteDeadline is that of the connection.
func (a *answer) SetWriteDeadline(t time.Time) error {
	a.limited = true
	return a.conn.SetWriteDeadline(t)
}

// SetReadDeadline does nothing: all of the request is there.
func (a *answer) SetReadDeadline(time.Time) error { return nil }

// EnableFullDuplex does nothing, for the same reason.
func (a *answer) EnableFullDuplex() error { return nil }

// Hijack implements [http.Hijacker]. The reader has what came behind the request; what was written is sent.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	switch {
	case a.taken:
		return nil, nil, http.ErrHijacked
	case a.done:
		return nil, nil, net.ErrClosed
	}
	if a.status != 0 {
		a.head(nil)
	}
	if err := a.send(); err != nil {
		return nil, nil, err
	}
	a.taken = true
	a.leave()
	_ = a.conn.SetDeadline(time.Time{}) // who has it now will see what is wrong with it
	a.s.Took(a.conn)
	r := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(a.after), a.conn), max(len(a.after), 16))
	_, _ = r.Peek(len(a.after)) // they are there
	return a.conn, bufio.NewReadWriter(r, bufio.NewWriterSize(a.conn, 16)), nil
}

// leave takes the connection from the watch, and gives the buffer back.
func (a *answer) leave() {
	if a.left {
		return
	}
	a.left, a.done = true, true
	a.after = a.watch.end(a.after)
	if a.buf != nil {
		if a.buf.Cap() <= 4*held { // else a large head made it grow
			a.buf.Reset()
			buffers.Put(a.buf)
		}
		a.buf = nil
	}
}

// finish sends the rest, and tells whether another request may follow.
func (a *answer) finish() (again bool) {
	a.done = true
	if a.taken {
		return false
	}
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if a.s.Closing() {
		a.last = true
	}
	a.head(nil)
	if a.chunked && a.err == nil {
		a.buf.WriteString("0\r\n\r\n")
	}
	err := a.send()
	a.leave()
	return err == nil && !a.last && (a.length < 0 || a.size == a.length)
}
