package openapi

import (
	"bytes"
	"encoding/base64"
	"strconv"

	"drawbridge/openapi/jsonscan"
)

// Documents that are generated from byte arrays declare a body of bytes as an array of integers, and callers that read
// them give one. The published schema has base64, which takes a third of the tokens; a list of bytes is accepted
// instead (pains row 197).

// bytesPointer returns the pointer of the argument that is a body of bytes, or "".
func (o *Operation) bytesPointer() string {
	if o.body == nil || o.body.kind != "binary" || o.body.form != formWhole {
		return ""
	}
	return jsonscan.PointerTo(o.bodyArgument())
}

// base64OfList returns a list of bytes as a JSON string in base64. Bytes are integers from 0 to 255, or from -128 to
// 127 as in some languages. Any other list is returned unchanged.
func base64OfList(list []byte) (text []byte, ok bool) {
	content := make([]byte, 0, len(list)/2)
	signed, unsigned := false, false
	for item := range jsonscan.Elements(list) {
		n, err := strconv.Atoi(string(bytes.TrimSpace(item)))
		if err != nil || n < -128 || n > 255 {
			return list, false
		}
		signed, unsigned = signed || n < 0, unsigned || n > 127
		content = append(content, byte(n)) //nolint:gosec // within the range of a byte, signed or not
	}
	if signed && unsigned {
		return list, false
	}
	text = append(make([]byte, 0, base64.StdEncoding.EncodedLen(len(content))+2), '"')
	return append(base64.StdEncoding.AppendEncode(text, content), '"'), true
}
