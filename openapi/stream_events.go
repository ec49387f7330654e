package openapi

import (
	"bytes"
	"io"
	"net/http"

	"drawbridge/openapi/mediatype"
)

// maxWatched is the longest event that a watcher is shown, in bytes. It bounds what is held beside the answer.
const maxWatched = 64 << 10

// WatchEvents has see called with each event of a streamed answer as soon as it is whole, while [Operation.ReadResponse],
// which must follow, reads the answer: with each text of JSON lines or of a JSON text sequence, and with the data of each
// server-sent event. It reports false, and see is never called, if the answer is not a stream of these in UTF-8.
//
// What is seen changes nothing of what ReadResponse makes of the answer. The bytes are as the service sent them, need not
// be JSON, and are valid until see returns; they are nil in place of an event of more than 64 KiB. When see returns false
// it is not called again. Reading waits for it.
func (o *Operation) WatchEvents(resp *http.Response, see func(event []byte) (more bool)) bool {
	contentType := resp.Header.Get("Content-Type")
	media := mediatype.Essence(contentType)
	if mediatype.IsGeneric(media) && o.answer.media != "" {
		media = o.answer.media
	}
	if !mediatype.IsSequential(media) {
		return false
	}
	switch mediatype.Charset(contentType) {
	case "", "utf-8", "utf8", "us-ascii":
	default:
		return false
	}
	w := &watcher{see: see, most: maxWatched}
	switch {
	case mediatype.IsJSONLines(media):
		w.take = w.lines
	case mediatype.IsJSONSequence(media):
		w.take = w.records
	default:
		w.take, w.atEnd = w.fields, w.lastFields
	}
	resp.Body = watchedBody{resp.Body, w}
	return true
}

// watchedBody shows a watcher what is read.
type watchedBody struct {
	io.ReadCloser
	watcher *watcher
}

func (b watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.watcher.feed(p[:n])
	if err == io.EOF {
		b.watcher.end()
	}
	return n, err
}

// A watcher finds the events of a stream in its pieces, wherever the pieces part. It holds no more than one event.
type watcher struct {
	see   func(event []byte) bool // nil: nobody looks any more
	most  int
	take  func(piece []byte) // by media type
	atEnd func()             // what the end of the stream completes, besides what is held; nil: nothing

	mark int    // how much of a byte order mark stood at the beginning, markDone: all is behind that
	held []byte // the beginning of an event, or of a line of one
	long bool   // more than most came, and the rest is not held

	sequence recordState
	event    eventState
}

// A byte order mark, which is no part of the first event.
const (
	byteOrderMark = "\xef\xbb\xbf"
	markDone      = len(byteOrderMark)
)

// feed takes the next piece of the stream.
func (w *watcher) feed(p []byte) {
	for w.mark < markDone && len(p) > 0 {
		if p[0] != byteOrderMark[w.mark] {
			begun := byteOrderMark[:w.mark]
			w.mark = markDone
			w.take([]byte(begun))
			break
		}
		w.mark++
		p = p[1:]
	}
	if w.see != nil && len(p) > 0 {
		w.take(p)
	}
}

// end takes the end of the stream, which may stand in place of that of its last event.
func (w *watcher) end() {
	if w.atEnd != nil {
		w.atEnd()
	} else if !w.sequence.told {
		w.text(w.whole(nil))
	}
	w.see = nil
}

// hold keeps the beginning of what the next piece goes on with.
func (w *watcher) hold(part []byte) {
	if room := w.most - len(w.held); len(part) > room {
		part, w.long = part[:room], true
	}
	w.held = append(w.held, part...)
}

// whole returns what is held with its last part, and holds nothing any more; long tells that it is only the beginning.
func (w *watcher) whole(last []byte) (all []byte, long bool) {
	if len(w.held) == 0 && len(last) <= w.most {
		return last, false
	}
	w.hold(last)
	all, long = w.held, w.long
	w.held, w.long = w.held[:0], false
	return all, long
}

// text shows an event that is a text of JSON with white space around it, unless it is nothing else.
func (w *watcher) text(event []byte, long bool) {
	if event = bytes.Trim(event, whiteSpace); long || len(event) > 0 {
		w.tell(event, long)
	}
}

// tell shows an event.
func (w *watcher) tell(event []byte, long bool) {
	if long {
		event = nil
	}
	if w.see != nil && !w.see(event) {
		w.see = nil
	}
}
