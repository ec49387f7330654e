package openapi

import (
	"bytes"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/unseen"
)

// Clean takes out of the part what a person who looks at it does not see: the characters that [Clean] takes out of the texts of a
// document, in strings of JSON also where they are written as escapes. Pictures, sound and other bytes stay as they are. A part
// without any of it is not copied.
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

// CleanData is [Part.Clean] for a text that may be JSON, such as the data of an event; what is not UTF-8 in it goes, too.
func CleanData(data []byte) []byte {
	p := Part{Kind: Text, Data: data}
	p.Clean()
	return p.Data
}

// holdsJSON tells whether a text is JSON with escapes in it.
func holdsJSON(data []byte) bool {
	first := bytes.TrimLeft(data, " \t\r\n")
	if len(first) == 0 || first[0] != '{' && first[0] != '[' && first[0] != '"' || bytes.IndexByte(first, '\\') < 0 {
		return false
	}
	_, err := jsonscan.Scan(data, jsonscan.Options{})
	return err == nil
}
