package answer

import (
	"bytes"

	"drawbridge/openapi/drift"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/unseen"
)

// Kind is the kind of a part's data.
type Kind uint8

// The kinds of parts.
const (
	JSON   Kind = iota // one valid JSON text without white space around or between its tokens
	Text               // valid UTF-8
	Image              // PNG, JPEG, GIF or WebP, the images that models accept
	Audio              // bytes whose signature is of an audio/* type
	Binary             // any other bytes
)

// Part is a response, or one of its parts.
type Part struct {
	Kind Kind
	// MediaType is without parameters, in lower case; "" if neither the service nor the document names one. It is
	// detected from the bytes if they contradict the label.
	MediaType string
	Data      []byte // valid until [Parts.Release]
	// Drift is the place where a JSON answer of status 2xx differs from the output schema, and how: "/items/0/id: expected number, got
	// string". It is "" if the answer fits.
	Drift string
	// DuplicateName reports whether Drift is only an object with two members of one name: the response matches with
	// either of them. See [jsonscan.Info] for the objects that are checked.
	DuplicateName bool
	// Differences are how a response of status 2xx differs from the document: the first value of another type, and the first required
	// member that is missing.
	Differences []drift.Difference
	// Declared reports whether the document declares this media type besides that of the output schema, so that another
	// shape is not a fault.
	Declared bool
	Wrapped  bool // the output schema has the response under "result": JSON, or a text where it declares a string
	// UndeclaredHTML reports whether a successful response is a page although the document declares none: it may be a
	// login page.
	UndeclaredHTML bool
	More           bool // another part follows
	// File is the file name of the part; "" if it has none: one path segment without invisible characters.
	File string
	// Location is the Content-Location (RFC 9110 section 8.7) as the service wrote it; "" if there is none, and for
	// JSON and text.
	Location string
	// Field is the name of a part of multipart/form-data, cleaned like File.
	Field string
	// Events is the number of events in the part if the deadline cut the stream off; otherwise 0.
	Events int
	// MaybeTruncated reports whether the response may be incomplete: it ended with its connection, see [Delimited], and
	// it isn't JSON with an end of its own, nor a stream that the deadline cut off.
	MaybeTruncated bool

	assembly assembly
}

// Clean removes invisible characters, in JSON strings also those that are written as escapes. Images, audio and binary
// data stay unchanged. A part without such characters is not copied.
func (p *Part) Clean() {
	p.Drift, p.Field, p.MediaType = unseen.Clean(p.Drift), unseen.Clean(p.Field), unseen.Clean(p.MediaType)
	switch p.Kind {
	case JSON:
		p.Data = unseen.JSON(p.Data)
	case Text:
		if !unseen.Suspect(p.Data) {
			return
		}
		if holdsJSON(p.Data) {
			p.Data = unseen.JSON(p.Data)
		}
		p.Data = unseen.Bytes(p.Data)
	case Image, Audio, Binary:
	}
}

// CleanData is [Part.Clean] for a text that may be JSON, such as the data of an event. It also removes invalid UTF-8.
func CleanData(data []byte) []byte {
	p := Part{Kind: Text, Data: data}
	p.Clean()
	return p.Data
}

// IsBlank reports whether a text has no visible characters.
func IsBlank(text []byte) bool { return unseen.Blank(text) }

// holdsJSON reports whether a text is JSON with escapes in it.
func holdsJSON(data []byte) bool {
	first := bytes.TrimLeft(data, " \t\r\n")
	if len(first) == 0 || first[0] != '{' && first[0] != '[' && first[0] != '"' || bytes.IndexByte(first, '\\') < 0 {
		return false
	}
	_, err := jsonscan.Scan(data, jsonscan.Options{})
	return err == nil
}
