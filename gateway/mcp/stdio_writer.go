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

// lineOutput is where the messages of all requests go, each in one piece.
type stdioWriter struct {
	mu     sync.Mutex // held from the first byte of a message to its line feed
	w      io.Writer
	err    error // the first; nothing is written after it
	broken context.CancelCauseFunc
}

// write writes a part of a message. The caller holds mu.
func (o *stdioWriter) write(b []byte) error {
	if o.err == nil {
		if _, err := o.w.Write(b); err != nil {
			o.err = fmt.Errorf("write messages: %w", err)
			o.broken(o.err)
		}
	}
	return o.err
}

// lineAnswer makes lines of one HTTP answer: a JSON body becomes one, an event stream one for each event, as whoever reads
// the stream would take it apart. So all that goes out over HTTP goes out here, in the same order. It is used by one
// goroutine at a time.
type stdioResponse struct {
	out    *stdioWriter
	header http.Header
	events bool
	inLine bool // a line is begun, and out.mu held

	state   fieldState
	matched int // bytes of dataField

	// silent drops all lines that are not begun: the request is cancelled (2026-07-28 patterns/cancellation).
	muted atomic.Bool
}

// fieldPlace is where in a line of an event stream an answer is.
type fieldState uint8

const (
	inField fieldState = iota // at its start, or as far into dataField as matched says
	inData
	inOther // the line is no data
)

// dataField begins the line of an event that holds the message. There is one in each event.
const dataField = "data: "

// Header implements [http.ResponseWriter].
func (a *stdioResponse) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter]. There is no status in a line.
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

// json writes a part of a JSON text, in which a line break can only be white space.
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

// data writes a part of a line.
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

// end ends the line that is begun.
func (a *stdioResponse) endLine() {
	if a.inLine {
		_ = a.out.write(lineFeed) // kept in out, and told by broken
		a.inLine = false
		a.out.mu.Unlock()
	}
}
