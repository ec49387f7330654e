package jsonschema

import "drawbridge/openapi/jsonscan"

// AppendWith appends the value of a keyword, in which edit appends each schema. A keyword without schemas is appended as it is.
func (k Keyword) AppendWith(dst []byte, edit func(dst []byte, p Part) []byte) []byte {
	form := forms[k.Name]
	switch {
	case len(k.Parts) == 0:
		return append(dst, k.Value...)
	case form == single:
		return edit(dst, k.Parts[0])
	}
	begin, end := byte('['), byte(']')
	if form == named {
		begin, end = '{', '}'
	}
	dst = append(dst, begin)
	for i, p := range k.Parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		if form == named {
			dst = append(jsonscan.AppendString(dst, p.Name), ':')
		}
		dst = edit(dst, p)
	}
	return append(dst, end)
}
