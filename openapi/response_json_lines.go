package openapi

import (
	"bytes"
	"iter"
	"strconv"

	"drawbridge/openapi/charset"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
)

// whiteSpace may stand around a JSON text (RFC 8259 section 2).
const whiteSpace = " \t\r\n"

// recordSeparator stands before each text of a JSON text sequence (RFC 7464 section 2.2).
const recordSeparator = 0x1e

// sequence reads JSON lines or a JSON text sequence as one JSON array. What holds something else than JSON texts is
// delivered as the text that it is; but where all is well up to a last text without its end, the answer was cut off, by a
// service that broke down and a server that closed its answer in good order all the same: that is an error (P2).
func (r *answerReader) sequence(e entity) (p Part, found bool, err error) {
	data := charset.ToUTF8(e.data, mediatype.Charset(e.contentType))
	texts := lines(data)
	if mediatype.IsJSONSequence(e.media) {
		texts = records(data)
	}
	element, root := r.elements()
	out := append(r.buffer(len(data)+2).data, '[')
	where, twice := "", ""
	count := 0
	for text, whole := range texts {
		info, err := jsonscan.Scan(text, jsonscan.Options{Shape: element})
		switch {
		case err != nil && !whole && count > 0:
			return Part{}, false, &AnswerError{Truncated: true, MediaType: e.media, Reason: "ends within its value number " + strconv.Itoa(count+1)}
		case err != nil:
			return Part{Kind: Text, MediaType: e.media, Data: data}, true, nil
		case info.Mismatch != nil && where == "":
			where = describe("/"+strconv.Itoa(count)+jsonscan.PointerAt(text, info.Mismatch.Offset), info.Mismatch)
		case info.Twice > 0 && twice == "":
			twice = doubled("/" + strconv.Itoa(count) + jsonscan.PointerAt(text, info.Twice))
		}
		out = appendElement(out, text, info)
		count++
	}
	if p = r.array(e.media, append(out, ']'), root, where); p.Drift == "" && twice != "" {
		p.Drift, p.Doubled = twice, true
	}
	return p, true, nil
}

// elements returns the shape of the elements of an answer that is put together to an array, and why such an array can't
// have the shape of the output schema, "" if it can.
func (r *answerReader) elements() (element *jsonscan.Shape, drift string) {
	switch shape := r.known.shape; {
	case shape == nil:
		return nil, ""
	case !shape.Kinds.Has(jsonscan.Array):
		return nil, "the answer: expected " + shape.Kinds.String() + ", got array"
	default:
		return shape.Items, ""
	}
}

// array makes the part of an answer that was put together; the first reason that isn't "" is its drift. The buffer that
// it was made in may have been left behind, should it have grown.
func (r *answerReader) array(media string, data []byte, reasons ...string) Part {
	r.spare[len(r.spare)-1].data = data
	p := Part{Kind: JSON, MediaType: media, Data: data, Wrapped: r.known.wrapped, row: rowOfValues}
	for _, reason := range reasons {
		if p.Drift == "" {
			p.Drift = reason
		}
	}
	return p
}

func appendElement(out, text []byte, info jsonscan.Info) []byte {
	if len(out) > 1 {
		out = append(out, ',')
	}
	if info.Spaced {
		return jsonscan.AppendCompact(out, text)
	}
	return append(out, text...)
}

// lines yields the texts of JSON lines; whole tells that the text's line has its end. Blank lines are passed over.
func lines(data []byte) iter.Seq2[[]byte, bool] {
	return func(yield func(text []byte, whole bool) bool) {
		for whole := true; whole; {
			var line []byte
			line, data, whole = bytes.Cut(data, []byte("\n"))
			if line = bytes.Trim(line, whiteSpace); len(line) > 0 && !yield(line, whole) {
				return
			}
		}
	}
}

// records yields the texts of a JSON text sequence; whole tells that the text ends in white space, without which it may
// be the beginning of a longer one (RFC 7464 section 2.4).
func records(data []byte) iter.Seq2[[]byte, bool] {
	return func(yield func(text []byte, whole bool) bool) {
		for record := range bytes.SplitSeq(data, []byte{recordSeparator}) {
			text := bytes.Trim(record, whiteSpace)
			if len(text) > 0 && !yield(text, record[len(record)-1] <= ' ') {
				return
			}
		}
	}
}
