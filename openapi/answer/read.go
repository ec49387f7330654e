package answer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"drawbridge/openapi/charset"
	"drawbridge/openapi/mediatype"
)

// Read reads and closes resp.Body, and sets the parts of into, in order. An empty answer has no part. The client must have
// decoded and limited the body; an error while reading it is wrapped and returned, and no part of an answer that was cut off is
// returned (P2). An answer that is malformed by its media type is an [*Error]. What into held before is released.
//
// A stream of events (text/event-stream) may be designed never to end, while the call has a deadline. If the body fails
// with an error whose Timeout method returns true, and events came before, these are the response, and Part.Events
// counts them.
//
// Reading ends with the context of the request.
func (p *Plan) Read(resp *http.Response, into *Parts) error {
	defer resp.Body.Close()
	into.begin(p.buffers)
	length := resp.ContentLength
	if p.head {
		length = 0 // Content-Length is that of a response to GET
	}
	buffer := into.keep(p.buffers.expect(length))
	contentType := resp.Header.Get("Content-Type")
	e := entity{contentType: contentType, media: mediatype.Essence(contentType), closeDelimited: !Delimited(resp)}
	err := buffer.readFrom(resp.Body)
	resp.Body.Close() // before the parts are used, which may take long
	if err != nil {
		if e.timedOut = e.media == mediatype.EventStream && isTimeout(err) && hasEvent(buffer.data); !e.timedOut {
			return fmt.Errorf("read answer: %w", err)
		}
	}
	if e.data = buffer.data; len(e.data) == 0 {
		return nil
	}
	r := reader{plan: p, expected: &p.unexpected, failed: resp.StatusCode >= 300, parts: into}
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		r.expected = &p.success
		if p.success.shape == nil && !e.closeDelimited && mediatype.IsJSON(e.media) && isUTF8(contentType) && isCompactText(e.data) && !mediatype.IsJSONLines(e.media) {
			// Without an output schema nothing depends on its being valid JSON, so it is passed on as text without a scan.
			into.add(Part{Kind: Text, MediaType: e.media, Data: e.data})
			return nil
		}
	}
	if strings.HasPrefix(e.media, "multipart/") {
		return p.multipart(e, slices.Contains(r.expected.others, e.media), into)
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
	part.MaybeTruncated = e.closeDelimited && !e.timedOut && !isSelfDelimiting(part)
	part.UndeclaredHTML = !r.failed && !p.mayBeHTML && part.Kind == Text && mediatype.IsHTML(part.MediaType)
	if part.Kind == Text && !part.UndeclaredHTML && r.expected.isString() {
		part.Wrapped = true
	}
	part.Declared = r.expected.others != nil && r.declares(part, e.media)
	into.add(part)
	return nil
}

// declares reports whether the document declares the media type of a part besides that of the output schema. A declared
// label also covers bytes of another type, unless they are text, which may be an error page.
func (r *reader) declares(p Part, label string) bool {
	others := r.expected.others
	return slices.Contains(others, p.MediaType) || p.Kind != JSON && p.Kind != Text && slices.Contains(others, label)
}

// Delimited reports whether the end of a response proves that it is complete, as a length, chunks, compression and
// HTTP/2 do. Any other response of HTTP/1 ends with its connection (RFC 9112 section 6.3), whether it is complete or
// was cut off.
func Delimited(resp *http.Response) bool {
	return resp.ContentLength >= 0 || resp.Request != nil && resp.Request.Method == http.MethodHead || resp.ProtoMajor != 1 || resp.Uncompressed || len(resp.TransferEncoding) > 0
}

// isTimeout reports whether an error is that of a deadline.
func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// reader reads one response.
type reader struct {
	plan     *Plan
	expected *expected
	failed   bool   // the status is not 2xx
	parts    *Parts // hold the buffers of the parts that are not in the bytes that came
}

// buffer returns a buffer that lasts as long as the parts.
func (r *reader) buffer(length int) *buffer { return r.parts.keep(r.plan.buffers.get(length)) }

// entity is the content and the headers of a response or of one part of multipart.
type entity struct {
	media          string // Content-Type without parameters
	contentType    string
	disposition    string // Content-Disposition
	location       string // Content-Location
	data           []byte
	timedOut       bool // the deadline cut off a stream of events
	inForm         bool // a part of multipart/form-data
	closeDelimited bool // see Delimited
}

// part reads an entity that is not multipart; found is false if it is empty.
func (r *reader) part(e entity) (p Part, found bool, err error) {
	if text := wideJSON(e.data); text != nil {
		e.data, e.contentType = text, e.media
	}
	expected, generic := r.expected, mediatype.IsGeneric(e.media)
	if generic && expected.media != "" {
		e.media = expected.media
	}
	switch {
	case mediatype.IsJSONLines(e.media), mediatype.IsJSONSequence(e.media):
		return r.jsonTexts(e)
	case e.media == mediatype.EventStream:
		return r.events(e)
	case mediatype.IsJSON(e.media), e.media == "", generic && expected.json, expected.json && mayBeJSON(e.media, e.data):
		part, empty, ok := r.json(e)
		if ok {
			part.MediaType = cmp.Or(e.media, "application/json")
			return part, !empty, nil
		}
		if e.closeDelimited && isTruncatedJSON(charset.ToUTF8(e.data, mediatype.Charset(e.contentType))) {
			return Part{}, false, &Error{Truncated: true, MediaType: cmp.Or(e.media, "application/json"), Reason: "ends too early, and has no length"}
		}
	}
	if generic && (mediatype.IsGeneric(e.media) || mediatype.IsJSON(e.media)) {
		if mediatype.IsReadable(e.data) || e.media == "" && utf8.Valid(e.data) {
			return Part{Kind: Text, MediaType: e.media, Data: charset.ToUTF8(e.data, mediatype.Charset(e.contentType))}, true, nil
		}
		e.media = mediatype.Essence(e.contentType)
	}
	return r.byContent(e)
}

// byContent reads an entity that is not JSON by its label, unless the bytes contradict it: clients pass images on to
// models, and a model that gets an image with a wrong label refuses the whole conversation.
func (r *reader) byContent(e entity) (p Part, found bool, err error) {
	media, text := mediatype.Content(e.media, unmarked(e.data))
	if !text {
		kind := Binary
		switch {
		case mediatype.IsImageForModels(media):
			kind = Image
		case strings.HasPrefix(media, "audio/") && mediatype.Signature(e.data) != "":
			kind = Audio
		}
		return Part{Kind: kind, MediaType: media, Data: e.data, File: fileName(e.disposition), Location: e.location}, true, nil
	}
	labelled := e.media
	e.media = media
	switch {
	case mediatype.IsJSON(media) && !mediatype.IsJSON(labelled):
		if part, _, ok := r.json(e); ok {
			part.MediaType = media
			return part, true, nil
		}
	case mediatype.IsHTML(media) && (r.failed || r.plan.readableHTML): // the page of an error contains no data
		return Part{Kind: Text, MediaType: media, Data: htmlText(r.text(e))}, true, nil
	}
	return Part{Kind: Text, MediaType: media, Data: r.text(e)}, true, nil
}

// unmarked converts a page or another recognizable text in UTF-16 to UTF-8, and returns other data unchanged.
func unmarked(data []byte) []byte {
	if !bytes.HasPrefix(data, []byte("\xff\xfe")) && !bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return data
	}
	if text := charset.ToUTF8(data, ""); mediatype.IsReadable(text) && mediatype.TextSignature(text) != "" {
		return text
	}
	return data
}

// wideJSON converts a JSON object or array in UTF-16 without a byte order mark to UTF-8, whatever its label, and
// returns nil for other data. The zeros in its first two characters reveal it, as RFC 4627 section 3 describes.
// Otherwise the bytes would be passed on under their label, with the fields that are to be hidden.
func wideJSON(data []byte) []byte {
	if len(data) < 4 || len(data)%2 != 0 {
		return nil
	}
	label := ""
	switch {
	case data[0] == 0 && (data[1] == '{' || data[1] == '[') && data[2] == 0:
		label = "utf-16be"
	case data[1] == 0 && (data[0] == '{' || data[0] == '[') && data[3] == 0:
		label = "utf-16le"
	default:
		return nil
	}
	if text := charset.ToUTF8(data, label); mediatype.IsJSONDocument(text) {
		return text
	}
	return nil
}

// text returns the data of an entity as UTF-8.
func (r *reader) text(e entity) []byte {
	return charset.ToUTF8(e.data, cmp.Or(mediatype.Charset(e.contentType), charset.Declared(e.media, e.data)))
}
