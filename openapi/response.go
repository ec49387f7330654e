package openapi

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"drawbridge/openapi/charset"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
)

// PartKind says what the bytes of a Part are.
type PartKind uint8

// The kinds of parts.
const (
	JSON   PartKind = iota // one valid JSON text without white space around or between its tokens
	Text                   // valid UTF-8
	Image                  // bytes of an image/* type
	Audio                  // bytes of an audio/* type
	Binary                 // any other bytes
)

// A Part is one piece of an answer.
type Part struct {
	Kind      PartKind
	MediaType string // without parameters, lower case; "" when the service didn't say and the document doesn't know
	Data      []byte // valid until ReadResponse returns
	// Drift says where a JSON answer of status 2xx leaves the shape of Operation.Output, "" when it fits:
	// "/items/0/id: expected number, got string".
	Drift string
	// Doubled tells that Drift is of a member whose name stands twice in its object, and of nothing else: the answer fits whichever of
	// the two a reader takes. See [jsonscan.Info] for what is looked at.
	Doubled bool
	// Declared tells that the document promises an answer of this media type, beside the one that Operation.Output is of: that
	// it doesn't fit is no fault.
	Declared bool
	Wrapped  bool // JSON: Operation.Output has the answer under "result"
	More     bool // another part follows
	// File is the name of the file that the part is, "" when it has none: one segment, without anything unseen in it.
	File string
	// Location is where the part can be found by itself, Content-Location (RFC 9110 section 8.7), as the service wrote it; "" when it
	// did not, and of JSON and text.
	Location string
	// Field is the name under which a part of multipart/form-data stands, cleaned like File.
	Field string
	// Events is how many events of a stream the part holds, if the deadline cut the stream off; else 0.
	Events int
	// Unended tells that the answer ended with its connection and nothing in it tells that it is whole: see [Delimited]. It is never set for
	// an object or an array of JSON, which have an end of their own, nor for a stream that the deadline cut off.
	Unended bool

	row row
}

// ReadResponse reads and closes resp.Body, and then hands its parts to emit, in order. An empty answer has no part. The body is
// expected to be decoded and limited by the client already; an error while reading it is wrapped and returned, and no
// part is emitted of an answer that was cut off (P2). An answer that breaks the rules of its media type in such a way that
// nothing whole is left of it is an [*AnswerError].
//
// There is one exception: a stream of events (text/event-stream) may be meant never to end, and the call has a deadline.
// If the body fails with an error whose Timeout method says so, and events came before, these are the answer, and
// Part.Events counts them.
//
// Reading ends with the context of the request; the one given here is for answers that are streams.
func (o *Operation) ReadResponse(_ context.Context, resp *http.Response, emit func(Part) error) error {
	defer resp.Body.Close()
	length := resp.ContentLength
	if o.Method == http.MethodHead {
		length = 0 // it is that of an answer to GET
	}
	buffer := o.buffers.expect(length)
	defer o.buffers.put(buffer)
	contentType := resp.Header.Get("Content-Type")
	e := entity{contentType: contentType, media: mediatype.Essence(contentType), unended: !Delimited(resp)}
	err := buffer.readFrom(resp.Body)
	resp.Body.Close() // whoever takes the parts may take their time, and the service has done its work
	if err != nil {
		if e.cut = e.media == mediatype.EventStream && isTimeout(err) && hasEvent(buffer.data); !e.cut {
			return fmt.Errorf("read answer: %w", err)
		}
	}
	if e.data = buffer.data; len(e.data) == 0 {
		return nil
	}
	r := answerReader{o: o, known: &o.unplanned, failed: resp.StatusCode >= 300}
	defer r.release()
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		r.known = &o.answer
		if o.Output == nil && !e.unended && mediatype.IsJSON(e.media) && saysUTF8(contentType) && isCompactText(e.data) && !mediatype.IsJSONLines(e.media) {
			// Nobody will read it as JSON, so it need not be proved to be: it goes out as the text that it is.
			return emit(Part{Kind: Text, MediaType: e.media, Data: e.data})
		}
	}
	if strings.HasPrefix(e.media, "multipart/") {
		return o.multipart(e, slices.Contains(r.known.others, e.media), emit)
	}
	if disposition := resp.Header["Content-Disposition"]; len(disposition) > 0 {
		e.disposition = disposition[0]
	}
	if location := resp.Header["Content-Location"]; len(location) > 0 {
		e.location = location[0]
	}
	part, found, err := r.part(e)
	if err != nil || !found {
		return err
	}
	part.Unended = e.unended && !e.cut && !endsItself(part)
	part.Declared = r.known.others != nil && slices.Contains(r.known.others, part.MediaType)
	return emit(part)
}

// Delimited reports whether the end of an answer tells that it is whole: a length does, chunks, a compressed stream, HTTP/2. An answer
// of HTTP/1 that has none of these ends with its connection (RFC 9112 section 6.3), and one that was cut off does, too.
func Delimited(resp *http.Response) bool {
	return resp.ContentLength >= 0 || resp.Request != nil && resp.Request.Method == http.MethodHead || resp.ProtoMajor != 1 || resp.Uncompressed || len(resp.TransferEncoding) > 0
}

// endsItself tells whether the beginning of a part would not be one.
func endsItself(p Part) bool {
	switch jsonscan.KindOf(p.Data) {
	case jsonscan.Object, jsonscan.Array, jsonscan.String:
		return p.Kind == JSON && p.row == noRow
	case jsonscan.Number, jsonscan.Bool, jsonscan.Null:
	}
	return false
}

// isBeginning tells whether a text is JSON but for its end, which may be within an escape or a literal: what is wrong is found at the
// beginning of these.
func isBeginning(data []byte) bool {
	const longest = len(`\u00e`)
	var e *jsonscan.Error
	_, err := jsonscan.Scan(data, jsonscan.Options{})
	return errors.As(err, &e) && e.Offset+longest >= len(data)
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// saysUTF8 tells whether a Content-Type leaves JSON in UTF-8, which it is without a word.
func saysUTF8(contentType string) bool {
	name := mediatype.Parameter(contentType, "charset")
	return name == "" || strings.EqualFold(name, "utf-8") || strings.EqualFold(name, "utf8") || strings.EqualFold(name, "us-ascii")
}

// isCompactText tells whether a JSON answer is UTF-8 and seems to have no white space between its tokens: there is no
// line break, which JSON allows nowhere else, and no space behind one of the first colons; nor a zero, which each second byte of UTF-16 is. It is much cheaper than a scan.
func isCompactText(data []byte) bool {
	const begin = 512
	return data[0] > ' ' && data[0] < utf8.RuneSelf && bytes.IndexByte(data, '\n') < 0 && bytes.IndexByte(data, 0) < 0 &&
		!bytes.Contains(data[:min(len(data), begin)], []byte(`": `)) && utf8.Valid(data)
}

// An answerReader reads one answer.
type answerReader struct {
	o *Operation
	// known is what the document says of the answer: nothing if it is a failure, or a part among several.
	known  *answerPlan
	failed bool      // the answer says what went wrong
	spare  []*buffer // hold what was made of the bytes that came
}

func (r *answerReader) release() {
	for _, b := range r.spare {
		r.o.buffers.put(b)
	}
}

// buffer returns a buffer that lasts as long as the reader.
func (r *answerReader) buffer(length int) *buffer {
	b := r.o.buffers.get(length)
	r.spare = append(r.spare, b)
	return b
}

// An entity is an answer, or one of several parts of it: bytes, and what its headers say of them.
type entity struct {
	media       string // Content-Type without parameters
	contentType string
	disposition string // Content-Disposition
	location    string // Content-Location
	data        []byte
	cut         bool // a stream of events that the deadline cut off
	inForm      bool // a part of multipart/form-data
	unended     bool // nothing but the end of the connection ended it
}

// part makes a part of an entity that is not multipart. found is false if it is empty.
func (r *answerReader) part(e entity) (p Part, found bool, err error) {
	known, generic := r.known, mediatype.IsGeneric(e.media)
	if generic && known.media != "" {
		e.media = known.media
	}
	switch {
	case mediatype.IsJSONLines(e.media), mediatype.IsJSONSequence(e.media):
		return r.sequence(e)
	case e.media == mediatype.EventStream:
		return r.events(e)
	case mediatype.IsJSON(e.media), e.media == "", generic && known.json, known.json && labelsJSON(e.media, e.data):
		part, empty, ok := r.json(e)
		if ok {
			part.MediaType = cmp.Or(e.media, "application/json")
			return part, !empty, nil
		}
		if e.unended && isBeginning(charset.ToUTF8(e.data, mediatype.Charset(e.contentType))) {
			return Part{}, false, &AnswerError{Truncated: true, MediaType: cmp.Or(e.media, "application/json"), Reason: "ends too early, and has no length"}
		}
	}
	switch {
	case mediatype.IsHTML(e.media) && (r.failed || r.o.answer.readHTML): // the page of an error is no data
		return Part{Kind: Text, MediaType: e.media, Data: readableHTML(r.text(e))}, true, nil
	case strings.HasPrefix(e.media, "image/") && !mediatype.IsXML(e.media):
		return Part{Kind: Image, MediaType: e.media, Data: e.data}, true, nil
	case strings.HasPrefix(e.media, "audio/"):
		return Part{Kind: Audio, MediaType: e.media, Data: e.data, Location: e.location}, true, nil
	case generic && (mediatype.IsGeneric(e.media) || mediatype.IsJSON(e.media)):
		if isReadable(e.data) || e.media == "" && utf8.Valid(e.data) {
			return Part{Kind: Text, MediaType: e.media, Data: charset.ToUTF8(e.data, mediatype.Charset(e.contentType))}, true, nil
		}
		e.media = mediatype.Essence(e.contentType)
	case mediatype.IsText(e.media), mediatype.IsJSON(e.media):
		return Part{Kind: Text, MediaType: e.media, Data: r.text(e)}, true, nil
	}
	return Part{Kind: Binary, MediaType: e.media, Data: e.data, File: fileName(e.disposition), Location: e.location}, true, nil
}

// text returns an entity as UTF-8.
func (r *answerReader) text(e entity) []byte {
	return charset.ToUTF8(e.data, cmp.Or(mediatype.Charset(e.contentType), charset.Declared(e.media, e.data)))
}

// isReadable reports whether bytes without a media type can be shown as text: UTF-8 without controls.
func isReadable(data []byte) bool {
	for _, c := range data {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' || c == 0x7f {
			return false
		}
	}
	return utf8.Valid(data)
}

// labelsJSON tells whether a service that promises JSON may mean it by the label: text/plain now and then, and the default
// of some platforms, text/html. What is not JSON after all is text.
func labelsJSON(media string, data []byte) bool {
	switch media {
	case "text/plain":
		return true
	case "text/html", "text/javascript", "application/javascript", "application/x-javascript":
		data = bytes.TrimLeft(data, " \t\r\n\ufeff")
		return len(data) > 0 && (data[0] == '{' || data[0] == '[')
	}
	return false
}

// json reads an entity as JSON; ok tells whether it is. A text of white space alone is empty.
func (r *answerReader) json(e entity) (part Part, empty, ok bool) {
	data, label := e.data, mediatype.Charset(e.contentType)
	if label == "" && len(data) > 1 && (data[0] == 0 || data[1] == 0) {
		// The first two characters of JSON are ASCII but in a text of one string: RFC 4627 section 3.
		label = "utf-16le"
		if data[0] == 0 {
			label = "utf-16be"
		}
	}
	if label != "" || data[0] >= utf8.RuneSelf {
		data = charset.ToUTF8(data, label) // JSON is UTF-8 without a mark (RFC 8259 section 8.1); some services disagree
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return Part{}, true, true
	}
	info, err := jsonscan.Scan(data, jsonscan.Options{Shape: r.known.shape})
	if err != nil {
		return Part{}, false, false
	}
	part = Part{Kind: JSON, Wrapped: r.known.wrapped}
	switch {
	case info.Mismatch != nil:
		part.Drift = drift(data, info.Mismatch)
	case info.Twice > 0:
		part.Drift, part.Doubled = doubled(jsonscan.PointerAt(data, info.Twice)), true
	}
	if info.Spaced {
		data = jsonscan.AppendCompact(data[:0], data)
	}
	part.Data = data
	return part, false, true
}

func drift(data []byte, m *jsonscan.Mismatch) string {
	where := jsonscan.PointerAt(data, m.Offset)
	if where == "" {
		where = "the answer"
	}
	return describe(where, m)
}

func doubled(where string) string { return where + ": the name stands twice" }

func describe(where string, m *jsonscan.Mismatch) string {
	want := m.Want.String()
	if m.Integer {
		want = strings.Replace(want, "number", "integer", 1)
	}
	return fmt.Sprintf("%s: expected %s, got %s", where, want, m.Got)
}
