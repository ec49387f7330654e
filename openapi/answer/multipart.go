package answer

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

// Limits of one multipart response. One that exceeds them is refused, since a missing part would go unnoticed.
const (
	maxParts        = 100 // of all levels together
	maxPartsDepth   = 3   // multipart within multipart
	maxPartHeaders  = 32  // lines of one part
	maxPartHeadSize = 8 << 10
	maxBoundary     = 200 // bytes; RFC 2046 section 5.1.1 has 70
)

// multipart adds the parts of a multipart answer in order, including those of nested ones. Nothing is added before all of them
// are found, and an answer without its last delimiter is an error: it was cut off (P2).
func (p *Plan) multipart(e entity, declared bool, into *Parts) error {
	m := multipartReader{reader: reader{plan: p, expected: &p.unexpected, parts: into}, media: e.media}
	if boundaryOf(e) == "" {
		e.contentType, e.media = "", "" // it can't be split
	}
	if err := m.add(e, 0); err != nil {
		return err
	}
	for i, part := range m.found {
		part.More, part.Declared = i < len(m.found)-1, declared
		into.add(part)
	}
	return nil
}

// multipartReader reads one multipart response.
type multipartReader struct {
	reader
	media string // of the answer
	found []Part
}

// malformed returns the error of a response that is not valid multipart.
func (m *multipartReader) malformed(format string, args ...any) error {
	return &Error{MediaType: m.media, Reason: fmt.Sprintf(format, args...)}
}

// add appends the part or the parts of an entity.
func (m *multipartReader) add(e entity, depth int) error {
	boundary := boundaryOf(e)
	if !strings.HasPrefix(e.media, "multipart/") || boundary == "" {
		return m.addPart(e)
	}
	if depth == maxPartsDepth {
		return m.malformed("is nested more than %d deep", maxPartsDepth)
	}
	pieces, err := m.split(e.data, boundary)
	if err != nil {
		return err
	}
	for _, piece := range pieces {
		inner, err := m.entity(piece)
		if err != nil {
			return err
		}
		inner.inForm = e.media == "multipart/form-data"
		if err := m.add(inner, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// addPart appends an entity as a part unless it is empty.
func (m *multipartReader) addPart(e entity) error {
	if len(e.data) == 0 {
		return nil
	}
	if len(m.found) == maxParts {
		return m.malformed("has more than %d parts", maxParts)
	}
	part, found, err := m.part(e)
	if err != nil || !found {
		return err
	}
	if e.inForm {
		part.Field = cleanName(fieldName(e.disposition))
	}
	m.found = append(m.found, part)
	return nil
}

// fieldName returns the name of a part of a form; "" if it has none. It reads malformed headers too, since fields are
// redacted by name.
func fieldName(disposition string) string {
	if _, parameters, err := mime.ParseMediaType(disposition); err == nil {
		return parameters["name"]
	}
	return mediatype.Parameter(disposition, "name")
}

// boundaryOf returns the boundary of the parts, from the first line if the header has none; "" if there is none.
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

// split returns the parts between the delimiters. A line end before a delimiter, CRLF or LF, belongs to it (RFC 2046
// section 5.1.1). Text before the first and after the last delimiter is ignored.
func (m *multipartReader) split(data []byte, boundary string) (pieces [][]byte, err error) {
	delimiter := []byte("--" + boundary)
	begin := -1 // start of the open part
	for at := 0; ; {
		i := bytes.Index(data[at:], delimiter)
		if i < 0 {
			return nil, &Error{Truncated: true, MediaType: m.media, Reason: fmt.Sprintf("ends within part %d", len(pieces)+1)}
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
		line, after, complete := cutLine(rest)
		if len(bytes.Trim(line, " \t")) > 0 || !complete && !last {
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
			return nil, m.malformed("has more than %d parts", maxParts)
		}
		at = len(data) - len(after)
		begin = at
	}
}

// entity reads the headers of a part.
func (m *multipartReader) entity(piece []byte) (e entity, err error) {
	encoding := ""
	var name, value string
	e.data = piece
	for lines := 0; ; lines++ {
		line, rest, complete := cutLine(e.data)
		if len(piece)-len(rest) > maxPartHeadSize || lines > maxPartHeaders {
			return e, m.malformed("has a part with too many headers")
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
				return e, m.malformed("has a part whose headers have a line without a colon")
			}
			name, value = string(bytes.Trim(before, " \t")), string(bytes.Trim(after, " \t"))
		}
		e.data = rest
		if len(line) == 0 {
			break
		}
		if !complete {
			e.data = nil // headers only; one more round reads the last of them
		}
	}
	e.media = mediatype.Essence(e.contentType)
	if e.media == "" && mediatype.IsReadable(e.data) {
		e.media = "text/plain" // RFC 2046 section 5.1
	}
	if e.data, err = decodeTransfer(encoding, e.data); err != nil {
		return e, m.malformed("has a part that is not %s, as it says", encoding)
	}
	return e, nil
}

// decodeTransfer decodes a Content-Transfer-Encoding (RFC 2045 section 6). HTTP has no use for it, but mail libraries
// also generate parts.
func decodeTransfer(encoding string, data []byte) ([]byte, error) {
	switch encoding {
	case "base64":
		out := make([]byte, base64.StdEncoding.DecodedLen(len(data)))
		n, err := base64.StdEncoding.Decode(out, data) // ignores line ends
		return out[:n], err
	case "quoted-printable":
		return io.ReadAll(quotedprintable.NewReader(bytes.NewReader(data)))
	}
	return data, nil
}
