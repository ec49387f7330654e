package openapi

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"strings"

	"drawbridge/openapi/mediatype"
)

// What one multipart answer may be. What is over a limit is refused: a part that is not shown would not be missed.
const (
	maxParts        = 100 // of all levels together
	maxPartsDepth   = 3   // multipart within multipart
	maxPartHeaders  = 32  // lines of one part
	maxPartHeadSize = 8 << 10
	maxBoundary     = 200 // bytes; RFC 2046 section 5.1.1 has 70
)

// multipart hands out the parts of a multipart answer in order, those of nested ones among them. Nothing is handed out
// before all of them were found, and an answer without its last delimiter is an error: it was cut off (P2).
func (o *Operation) multipart(e entity, declared bool, emit func(Part) error) error {
	s := splitter{answerReader: answerReader{o: o, known: &o.unplanned}, media: e.media}
	defer s.release()
	if boundaryOf(e) == "" {
		e.contentType, e.media = "", "" // nobody can take it apart
	}
	if err := s.add(e, 0); err != nil {
		return err
	}
	for i, p := range s.parts {
		p.More, p.Declared = i < len(s.parts)-1, declared
		if err := emit(p); err != nil {
			return err
		}
	}
	return nil
}

// A splitter takes one multipart answer apart.
type splitter struct {
	answerReader
	media string // of the answer
	parts []Part
}

func (s *splitter) malformed(format string, args ...any) error {
	return &AnswerError{MediaType: s.media, Reason: fmt.Sprintf(format, args...)}
}

// add appends the parts that an entity is.
func (s *splitter) add(e entity, depth int) error {
	boundary := boundaryOf(e)
	if !strings.HasPrefix(e.media, "multipart/") || boundary == "" {
		return s.one(e)
	}
	if depth == maxPartsDepth {
		return s.malformed("is nested more than %d deep", maxPartsDepth)
	}
	pieces, err := s.split(e.data, boundary)
	if err != nil {
		return err
	}
	for _, piece := range pieces {
		inner, err := s.entity(piece)
		if err != nil {
			return err
		}
		inner.inForm = e.media == "multipart/form-data"
		if err := s.add(inner, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// one appends the part that an entity is, unless it is empty.
func (s *splitter) one(e entity) error {
	if len(e.data) == 0 {
		return nil
	}
	if len(s.parts) == maxParts {
		return s.malformed("has more than %d parts", maxParts)
	}
	part, found, err := s.part(e)
	if err != nil || !found {
		return err
	}
	if e.inForm {
		part.Field = cleanName(fieldName(e.disposition))
	}
	s.parts = append(s.parts, part)
	return nil
}

// fieldName returns the name of a part of a form, "" when it has none. It does not need the rest of the header to be right: what has the
// name of something hidden is hidden.
func fieldName(disposition string) string {
	if _, parameters, err := mime.ParseMediaType(disposition); err == nil {
		return parameters["name"]
	}
	return mediatype.Parameter(disposition, "name")
}

// boundaryOf returns what separates the parts; where the header does not tell, the first line does, if it looks so. It
// is "" if it can't be found.
func boundaryOf(e entity) string {
	b := mediatype.Parameter(e.contentType, "boundary")
	if b == "" && bytes.HasPrefix(e.data, []byte("--")) {
		line, _, _ := cutLine(e.data)
		b = string(bytes.TrimRight(line[2:], " \t"))
	}
	if len(b) > maxBoundary {
		return ""
	}
	return b
}

// split returns the parts between the delimiters. A line end before a delimiter belongs to it (RFC 2046 section
// 5.1.1); LF alone is taken for one. What stands before the first and behind the last delimiter is not part of anything.
func (s *splitter) split(data []byte, boundary string) (pieces [][]byte, err error) {
	delimiter := []byte("--" + boundary)
	begin := -1 // of the part that is open
	for at := 0; ; {
		i := bytes.Index(data[at:], delimiter)
		if i < 0 {
			return nil, &AnswerError{Truncated: true, MediaType: s.media, Reason: fmt.Sprintf("ends within part %d", len(pieces)+1)}
		}
		i += at
		at = i + len(delimiter)
		if i > 0 && data[i-1] != '\n' {
			continue
		}
		rest := data[at:]
		last := bytes.HasPrefix(rest, []byte("--"))
		if last {
			rest = rest[2:]
		}
		line, after, whole := cutLine(rest)
		if len(bytes.Trim(line, " \t")) > 0 || !whole && !last {
			continue // the beginning of another text, or of a delimiter that was cut off
		}
		if begin >= 0 {
			piece := data[begin:max(begin, i)]
			piece = bytes.TrimSuffix(piece, []byte("\n"))
			pieces = append(pieces, bytes.TrimSuffix(piece, []byte("\r")))
		}
		if last {
			return pieces, nil
		}
		if len(pieces) == maxParts {
			return nil, s.malformed("has more than %d parts", maxParts)
		}
		at = len(data) - len(after)
		begin = at
	}
}

// entity reads the headers of a part.
func (s *splitter) entity(piece []byte) (e entity, err error) {
	encoding := ""
	var name, value string
	e.data = piece
	for lines := 0; ; lines++ {
		line, rest, whole := cutLine(e.data)
		if len(piece)-len(rest) > maxPartHeadSize || lines > maxPartHeaders {
			return e, s.malformed("has a part with too many headers")
		}
		folded := len(line) > 0 && (line[0] == ' ' || line[0] == '\t')
		if folded {
			value += " " + string(bytes.Trim(line, " \t"))
		} else {
			switch strings.ToLower(name) {
			case "content-type":
				e.contentType = value
			case "content-disposition":
				e.disposition = value
			case "content-location":
				e.location = value
			case "content-transfer-encoding":
				encoding = strings.ToLower(value)
			}
			before, after, found := bytes.Cut(line, []byte(":"))
			if !found && len(line) > 0 {
				return e, s.malformed("has a part whose headers have a line without a colon")
			}
			name, value = string(bytes.Trim(before, " \t")), string(bytes.Trim(after, " \t"))
		}
		e.data = rest
		if len(line) == 0 {
			break
		}
		if !whole {
			e.data = nil // headers alone; once more for the last of them
		}
	}
	e.media = mediatype.Essence(e.contentType)
	if e.media == "" && isReadable(e.data) {
		e.media = "text/plain" // RFC 2046 section 5.1
	}
	if e.data, err = transferDecoded(encoding, e.data); err != nil {
		return e, s.malformed("has a part that is not %s, as it says", encoding)
	}
	return e, nil
}

// transferDecoded undoes what mail does to bytes (RFC 2045 section 6). HTTP has no need of it, but generators of parts are
// made for both.
func transferDecoded(encoding string, data []byte) ([]byte, error) {
	switch encoding {
	case "base64":
		out := make([]byte, base64.StdEncoding.DecodedLen(len(data)))
		n, err := base64.StdEncoding.Decode(out, data) // passes over line ends
		return out[:n], err
	case "quoted-printable":
		return io.ReadAll(quotedprintable.NewReader(bytes.NewReader(data)))
	}
	return data, nil
}
