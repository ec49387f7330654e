package wire

import (
	"bytes"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
)

// AppendRaw appends a body whose media type is not JSON: a string unchanged, or the bytes of a data URL that it is, and
// any other value as JSON. It returns the Content-Type: the media type of the document, or for a range that of the
// value. The error is a [*ValueError].
func AppendRaw(dst, v []byte, media string) (out []byte, mediaType string, err error) {
	isRange := strings.Contains(media, "*")
	// first returns the first media type that the document's includes.
	first := func(types ...string) string {
		if !isRange {
			return media
		}
		if i := slices.IndexFunc(types, func(t string) bool { return covers(media, bare(t)) }); i >= 0 {
			return types[i]
		}
		return unknownType
	}
	if jsonscan.KindOf(v) != jsonscan.String {
		return append(dst, v...), first("application/json"), nil
	}
	text := jsonscan.Unquote(v)
	switch {
	case IsDataURL(string(text)) && isRange:
		return AppendFile(dst, v, []string{media})
	case IsDataURL(string(text)): // its media type must match the document's
		u, err := readDataURL(string(text))
		if err != nil {
			return dst, "", err
		}
		return append(dst, u.content...), media, nil
	case mediatype.IsJSONDocument(text): // callers write JSON into a string
		return append(dst, text...), first("application/json", plainText+"; charset=utf-8"), nil
	default:
		return append(dst, text...), first(plainText + "; charset=utf-8"), nil
	}
}

// AppendJSONFile appends a body that the document declares as both JSON and bytes, as frameworks do for handlers that
// read the body themselves: a string as the bytes that it encodes as base64 or a data URL, any other string unchanged,
// and every other value as JSON. JSON, and base64 that may also be text, count as text. The error is a [*ValueError].
func AppendJSONFile(dst, v []byte) ([]byte, error) {
	if jsonscan.KindOf(v) != jsonscan.String {
		return append(dst, v...), nil
	}
	text := jsonscan.Unquote(v)
	if IsDataURL(string(text)) {
		u, err := readDataURL(string(text))
		return append(dst, u.content...), err
	}
	if f, err := readBase64(bytes.TrimSpace(text)); err == nil && !mediatype.IsJSONDocument(text) {
		return append(dst, f.content...), nil
	}
	return append(dst, text...), nil
}

// IsDataURL reports whether a text is a data URL (RFC 2397) rather than a text that begins like one, such as the line
// of an event stream: it has a media type or base64, and no space before the comma.
func IsDataURL(text string) bool {
	rest, found := strings.CutPrefix(text, "data:")
	if !found {
		return false
	}
	head, _, found := strings.Cut(rest[:min(len(rest), maxFileHead)], ",")
	if !found || strings.ContainsAny(head, " \t\r\n") {
		return false
	}
	media, _, _ := strings.Cut(head, ";")
	kind, subtype, _ := strings.Cut(media, "/")
	return isToken(kind) && isToken(subtype) || media == "" && strings.HasSuffix(head, ";base64")
}
