package answer

import (
	"bytes"
	"io"
	"net/http"

	"drawbridge/openapi/mediatype"
)

// maxEvent is the maximum size of an event that is reported, in bytes. It limits the memory in addition to that of the
// response.
const maxEvent = 64 << 10

// OnEvent arranges for f to be called with each event of a streamed response as soon as it is complete, while
// [Plan.Read], which must follow, reads the response: with each text of JSON lines or of a JSON text sequence, and with
// the data of each server-sent event. It returns false, and f is never called, if the response is not such a stream in
// UTF-8.
//
// The result of Read stays the same. The bytes are unmodified and unchecked, and valid until f returns; they are nil
// for an event of more than 64 KiB. Once f has returned false it is not called again. Reading waits for f.
func (p *Plan) OnEvent(resp *http.Response, f func(event []byte) (more bool)) bool {
	contentType := resp.Header.Get("Content-Type")
	media := mediatype.Essence(contentType)
	if mediatype.IsGeneric(media) && p.success.media != "" {
		media = p.success.media
	}
	if !mediatype.IsSequential(media) {
		return false
	}
	switch mediatype.Charset(contentType) {
	case "", "utf-8", "utf8", "us-ascii":
	default:
		return false
	}
	sc := &eventScanner{onEvent: f, limit: maxEvent}
	switch {
	case mediatype.IsJSONLines(media):
		sc.scan = sc.scanLines
	case mediatype.IsJSONSequence(media):
		sc.scan = sc.scanRecords
	default:
		sc.scan, sc.finish = sc.scanFields, sc.finishFields
	}
	resp.Body = scannedBody{resp.Body, sc}
	return true
}

// scannedBody passes the bytes that are read to a scanner.
type scannedBody struct {
	io.ReadCloser
	scanner *eventScanner
}

func (b scannedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.scanner.feed(p[:n])
	if err == io.EOF {
		b.scanner.end()
	}
	return n, err
}

// eventScanner finds the events of a stream that arrives in pieces. It buffers at most one event.
type eventScanner struct {
	onEvent func(event []byte) bool // nil once it has returned false
	limit   int                     // maximum size of an event
	scan    func(piece []byte)      // by media type
	finish  func()                  // handles the end of the stream; nil if that only completes the held event

	bom     int    // bytes of a byte order mark at the beginning of the stream; bomDone after it
	held    []byte // the beginning of an event, or of a line of one
	tooLong bool   // the held event exceeds the limit

	record recordState
	event  eventState
}

// The byte order mark is not part of the first event.
const (
	byteOrderMark = "\xef\xbb\xbf"
	bomDone       = len(byteOrderMark)
)

// feed scans the next piece of the stream.
func (sc *eventScanner) feed(p []byte) {
	for sc.bom < bomDone && len(p) > 0 {
		if p[0] != byteOrderMark[sc.bom] {
			begun := byteOrderMark[:sc.bom]
			sc.bom = bomDone
			sc.scan([]byte(begun))
			break
		}
		sc.bom++
		p = p[1:]
	}
	if sc.onEvent != nil && len(p) > 0 {
		sc.scan(p)
	}
}

// end handles the end of the stream, which may also be that of its last event.
func (sc *eventScanner) end() {
	if sc.finish != nil {
		sc.finish()
	} else if !sc.record.reported {
		sc.reportText(sc.complete(nil))
	}
	sc.onEvent = nil
}

// hold appends the beginning of an event or line that the next piece continues.
func (sc *eventScanner) hold(part []byte) {
	if room := sc.limit - len(sc.held); len(part) > room {
		part, sc.tooLong = part[:room], true
	}
	sc.held = append(sc.held, part...)
}

// complete returns the held bytes with their last part, and clears them; long reports that only the beginning was held.
func (sc *eventScanner) complete(last []byte) (all []byte, long bool) {
	if len(sc.held) == 0 && len(last) <= sc.limit {
		return last, false
	}
	sc.hold(last)
	all, long = sc.held, sc.tooLong
	sc.held, sc.tooLong = sc.held[:0], false
	return all, long
}

// reportText reports an event that is a JSON text with white space around it, unless it is only white space.
func (sc *eventScanner) reportText(event []byte, long bool) {
	if event = bytes.Trim(event, whiteSpace); long || len(event) > 0 {
		sc.report(event, long)
	}
}

// report calls onEvent with an event.
func (sc *eventScanner) report(event []byte, long bool) {
	if long {
		event = nil
	}
	if sc.onEvent != nil && !sc.onEvent(event) {
		sc.onEvent = nil
	}
}
