package mcp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
)

// stdioWriter writes the messages of all requests, each as a whole.
type stdioWriter struct {
	mu     sync.Mutex // held from the first byte of a message to its line feed
	w      io.Writer
	err    error // the first; nothing is written after it
	broken context.CancelCauseFunc
}

// write writes part of a message. The caller holds mu.
func (o *stdioWriter) write(b []byte) error {
	if o.err == nil {
		if _, err := o.w.Write(b); err != nil {
			o.err = fmt.Errorf("write messages: %w", err)
			o.broken(o.err)
		}
	}
	return o.err
}

// stdioResponse is an http.ResponseWriter that turns one HTTP response into lines: a JSON body into one, an event
// stream into one per event. So all that is sent over HTTP is sent over stdio too, in the same order. It is used by one
// goroutine at a time.
type stdioResponse struct {
	out    *stdioWriter
	header http.Header
	events bool
	inLine bool // a line has begun, and out.mu is held

	state   fieldState
	matched int // number of bytes that match dataField

	// muted drops all lines that have not begun, since the request is cancelled (2026-07-28 patterns/cancellation).
	muted atomic.Bool
}

// fieldState is a position within a line of an event stream.
type fieldState uint8

const (
	inField fieldState = iota // at the start of the line, or after the matched bytes of dataField
	inData
	inOther // in a field other than data
)

// dataField begins the line of an event that holds the message. Each event has one.
const dataField = "data: "

// Header implements [http.ResponseWriter].
func (a *stdioResponse) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter]. Lines have no status.
func (a *stdioResponse) WriteHeader(int) {
	a.events = a.header.Get("Content-Type") == "text/event-stream"
}

// Write implements [http.ResponseWriter].
func (a *stdioResponse) Write(b []byte) (int, error) {
	n := len(b)
	if !a.events {
		return n, a.writeJSON(b)
	}
	for len(b) > 0 {
		switch a.state {
		case inField:
			c := b[0]
			switch b = b[1:]; {
			case c == '\n':
				a.matched = 0
			case c != dataField[a.matched]:
				a.state, a.matched = inOther, 0
			case a.matched+1 == len(dataField):
				a.state, a.matched = inData, 0
			default:
				a.matched++
			}
		case inData:
			piece, rest, found := bytes.Cut(b, lineFeed)
			if err := a.writeData(piece); err != nil {
				return 0, err
			}
			if b = rest; found {
				a.state = inField
				a.endLine()
			}
		case inOther:
			var found bool
			if _, b, found = bytes.Cut(b, lineFeed); found {
				a.state = inField
			}
		}
	}
	return n, nil
}

var lineFeed = []byte("\n")

// writeJSON writes part of a JSON text, in which a line break can only be white space.
func (a *stdioResponse) writeJSON(b []byte) error {
	for len(b) > 0 {
		i := bytes.IndexAny(b, "\r\n")
		if i < 0 {
			i = len(b)
		}
		if err := a.writeData(b[:i]); err != nil {
			return err
		}
		b = b[min(i+1, len(b)):]
	}
	return nil
}

// writeData writes part of a line.
func (a *stdioResponse) writeData(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if !a.inLine {
		if a.muted.Load() {
			return nil
		}
		a.out.mu.Lock()
		a.inLine = true
	}
	return a.out.write(b)
}

// endLine ends a line that has begun.
func (a *stdioResponse) endLine() {
	if a.inLine {
		_ = a.out.write(lineFeed) // the error stays in out and cancels the connection's context
		a.inLine = false
		a.out.mu.Unlock()
	}
}
