package render

import (
	"encoding/base64"

	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// BinaryBlock returns the content block of binary data. n is the number of the part among several, or 0 if it is the
// only one. A [Renderer.Caption] goes beside it.
func (r *Renderer) BinaryBlock(p answer.Part, n int) []byte {
	open, data, end := `{"type":"resource","resource":{"uri":`, `,"blob":"`, `"}}`
	form := r.formOf(p)
	switch form {
	case asImage:
		open, data, end = `{"type":"image"`, `,"data":"`, `"}`
	case asAudio:
		open, data, end = `{"type":"audio"`, `,"data":"`, `"}`
	case asResource:
	}
	b := make([]byte, 0, len(open)+len(p.MediaType)+len(data)+base64.StdEncoding.EncodedLen(len(p.Data))+len(end)+128)
	b = append(b, open...)
	if form == asResource {
		b = jsonscan.AppendString(b, r.embeddedURI(p, n))
	}
	b = append(b, `,"mimeType":`...)
	b = jsonscan.AppendString(b, orUnknown(p.MediaType))
	b = append(b, data...)
	b = base64.StdEncoding.AppendEncode(b, p.Data)
	return append(b, end...)
}

// orUnknown returns the media type, or application/octet-stream if there is none.
func orUnknown(mediaType string) string {
	if mediaType == "" {
		return "application/octet-stream"
	}
	return mediaType
}
