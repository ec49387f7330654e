package openapi

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	"drawbridge/openapi/jsonscan"
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
	Data      []byte // valid until emit returns
	// Drift says where a JSON answer of status 2xx leaves the shape of Operation.Output, "" when it fits:
	// "/items/0/id: expected number, got string".
	Drift   string
	Wrapped bool // JSON: Operation.Output has the answer under "result"
}

// ReadResponse reads and closes resp.Body, and hands its parts to emit. An empty answer has no part. The body is
// expected to be decoded and limited by the client already; an error while reading it is wrapped and returned, and no
// part is emitted of an answer that was cut off (P2). Reading ends with the context of the request; the one given here is
// for answers that are streams.
func (o *Operation) ReadResponse(_ context.Context, resp *http.Response, emit func(Part) error) error {
	defer resp.Body.Close()
	buffer := o.buffers.get(resp.ContentLength)
	defer o.buffers.put(buffer)
	if err := buffer.readFrom(resp.Body); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	data := buffer.data
	if len(data) == 0 {
		return nil
	}
	contentType := resp.Header.Get("Content-Type")
	media := mediaType(contentType)
	success := resp.StatusCode >= 200 && resp.StatusCode < 300
	if media == "" && success {
		media = o.answer.media
	}
	switch {
	case success && o.Output == nil && isJSON(media) && isCompactText(data):
		// Nobody will read it as JSON, so it need not be proved to be: it goes out as the text that it is.
		return emit(Part{Kind: Text, MediaType: media, Data: data})
	case isJSON(media), media == "", success && o.answer.json && media == "text/plain":
		// Services that promise JSON label it text/plain now and then; what is not JSON after all is text.
		if part, empty, ok := o.jsonPart(data, charset(contentType), success); ok {
			part.MediaType = cmp.Or(media, "application/json")
			if empty {
				return nil
			}
			return emit(part)
		}
		if media == "" && !utf8.Valid(data) {
			return emit(Part{Kind: Binary, Data: data})
		}
		return emit(Part{Kind: Text, MediaType: media, Data: toText(data, charset(contentType))})
	case isText(media):
		return emit(Part{Kind: Text, MediaType: media, Data: toText(data, charset(contentType))})
	case strings.HasPrefix(media, "image/"):
		return emit(Part{Kind: Image, MediaType: media, Data: data})
	case strings.HasPrefix(media, "audio/"):
		return emit(Part{Kind: Audio, MediaType: media, Data: data})
	default:
		return emit(Part{Kind: Binary, MediaType: media, Data: data})
	}
}

// isCompactText tells whether a JSON answer is UTF-8 and seems to have no white space between its tokens: there is no
// line break, which JSON allows nowhere else, and no space behind one of the first colons. It is much cheaper than a scan.
func isCompactText(data []byte) bool {
	const begin = 512
	return data[0] > ' ' && data[0] < utf8.RuneSelf && bytes.IndexByte(data, '\n') < 0 &&
		!bytes.Contains(data[:min(len(data), begin)], []byte(`": `)) && utf8.Valid(data)
}

// jsonPart reads data as JSON; ok tells whether it is. A text of white space alone is empty.
func (o *Operation) jsonPart(data []byte, charset string, success bool) (part Part, empty, ok bool) {
	if charset != "" || data[0] >= utf8.RuneSelf || data[0] == 0 {
		data = toText(data, charset) // JSON is UTF-8 without a mark (RFC 8259 section 8.1); some services disagree
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return Part{}, true, true
	}
	options := jsonscan.Options{}
	if success {
		options.Shape = o.answer.shape
	}
	info, err := jsonscan.Scan(data, options)
	if err != nil {
		return Part{}, false, false
	}
	part = Part{Kind: JSON, Wrapped: success && o.answer.wrapped}
	if info.Mismatch != nil {
		part.Drift = drift(data, info.Mismatch)
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
	want := m.Want.String()
	if m.Integer {
		want = strings.Replace(want, "number", "integer", 1)
	}
	return fmt.Sprintf("%s: expected %s, got %s", where, want, m.Got)
}

// buffers keeps the buffers of answers between calls; all operations of an API share one.
type buffers struct{ pool sync.Pool }

// A buffer holds one answer.
type buffer struct{ data []byte }

const (
	smallestBuffer = 4 << 10
	// A buffer that one large answer has grown is not kept: the next million answers are small.
	largestKept = 1 << 20
	// What a service promises is believed up to here before it has sent it.
	largestTrusted = 8 << 20
)

// get returns an empty buffer with room for an answer of that length; -1: unknown.
func (bs *buffers) get(length int64) *buffer {
	b, _ := bs.pool.Get().(*buffer)
	if b == nil {
		b = &buffer{}
	}
	// One byte more, so that the end is seen without growing.
	if room := max(smallestBuffer, int(min(length, largestTrusted))+1); cap(b.data) < room {
		b.data = make([]byte, 0, room)
	}
	b.data = b.data[:0]
	return b
}

func (bs *buffers) put(b *buffer) {
	if cap(b.data) <= largestKept {
		bs.pool.Put(b)
	}
}

func (b *buffer) readFrom(r io.Reader) error {
	for {
		if len(b.data) == cap(b.data) {
			b.data = append(b.data, 0)[:len(b.data)]
		}
		n, err := r.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
