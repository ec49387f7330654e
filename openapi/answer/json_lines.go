package answer

import (
	"bytes"
	"iter"
	"strconv"

	"drawbridge/openapi/charset"
	"drawbridge/openapi/drift"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
)

// whiteSpace is the white space around a JSON text (RFC 8259 section 2).
const whiteSpace = " \t\r\n"

// recordSeparator precedes each text of a JSON text sequence (RFC 7464 section 2.2).
const recordSeparator = 0x1e

// jsonTexts reads JSON lines or a JSON text sequence as one JSON array. A response with any other content is text. If
// only the last text is broken, and has no end, the response was cut off by a service that failed behind a server that
// closed the response properly: that is an error (P2).
func (r *reader) jsonTexts(e entity) (p Part, found bool, err error) {
	data := charset.ToUTF8(e.data, mediatype.Charset(e.contentType))
	texts := lines(data)
	if mediatype.IsJSONSequence(e.media) {
		texts = records(data)
	}
	element, root := r.elements()
	shape := r.expected.shape // the body of the loop is a closure, which would move r to the heap for every response
	var different []drift.Difference
	out := append(r.buffer(len(data)+2).data, '[')
	where, twice := "", ""
	count := 0
	for text, complete := range texts {
		info, err := jsonscan.Scan(text, jsonscan.Options{Shape: element})
		switch {
		case err != nil && !complete && count > 0:
			return Part{}, false, &Error{Truncated: true, MediaType: e.media, Reason: "ends within its value number " + strconv.Itoa(count+1)}
		case err != nil:
			return Part{Kind: Text, MediaType: e.media, Data: data}, true, nil
		case info.Mismatch != nil && where == "":
			where = describe("/"+strconv.Itoa(count)+jsonscan.PointerAt(text, info.Mismatch.Offset), info.Mismatch)
		case info.Twice > 0 && twice == "":
			twice = duplicateName("/" + strconv.Itoa(count) + jsonscan.PointerAt(text, info.Twice))
		}
		if different == nil && (info.Mismatch != nil || info.Missing != nil) {
			different = differences(shape, text, "/"+strconv.Itoa(count), info)
		}
		out = appendElement(out, text, info)
		count++
	}
	if p = r.array(e.media, append(out, ']'), root, where); p.Drift == "" && twice != "" {
		p.Drift, p.DuplicateName = twice, true
	}
	p.Differences = different
	return p, true, nil
}

// elements returns the shape of the elements of a response that is assembled to an array, and the reason why an array
// can't match the output schema; "" if it can.
func (r *reader) elements() (element *jsonscan.Shape, drift string) {
	switch shape := r.expected.shape; {
	case shape == nil:
		return nil, ""
	case !shape.Kinds.Has(jsonscan.Array):
		return nil, "the answer: expected " + shape.Kinds.String() + ", got array"
	default:
		return shape.Items, ""
	}
}

// array makes the part of an assembled answer; the first reason that isn't "" is its drift. The last buffer that is held takes over data,
// which may have outgrown it.
func (r *reader) array(media string, data []byte, reasons ...string) Part {
	r.parts.held[len(r.parts.held)-1].data = data
	p := Part{Kind: JSON, MediaType: media, Data: data, Wrapped: r.expected.wrapped, assembly: ofValues}
	for _, reason := range reasons {
		if p.Drift == "" {
			p.Drift = reason
		}
	}
	return p
}

// appendElement appends a JSON text as an element.
func appendElement(out, text []byte, info jsonscan.Info) []byte {
	if len(out) > 1 {
		out = append(out, ',')
	}
	return jsonscan.AppendNormal(out, text, info)
}

// lines yields the texts of JSON lines except blank ones; complete is false for a line without its end.
func lines(data []byte) iter.Seq2[[]byte, bool] {
	return func(yield func(text []byte, complete bool) bool) {
		for complete := true; complete; {
			var line []byte
			line, data, complete = bytes.Cut(data, []byte("\n"))
			if line = bytes.Trim(line, whiteSpace); len(line) > 0 && !yield(line, complete) {
				return
			}
		}
	}
}

// records yields the texts of a JSON text sequence; complete is false for a text without white space at its end, which
// may be the beginning of a longer one (RFC 7464 section 2.4).
func records(data []byte) iter.Seq2[[]byte, bool] {
	return func(yield func(text []byte, complete bool) bool) {
		for record := range bytes.SplitSeq(data, []byte{recordSeparator}) {
			text := bytes.Trim(record, whiteSpace)
			if len(text) > 0 && !yield(text, record[len(record)-1] <= ' ') {
				return
			}
		}
	}
}
