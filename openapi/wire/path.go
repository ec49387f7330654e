package wire

import (
	"bytes"
	"unicode/utf8"
)

// maxDecodings is the maximum number of percent-decodings that a server and the proxies in front of it are assumed to
// make (R2).
const maxDecodings = 5

// appendSegment appends text as a part of a path segment, or as several segments if slashes are sent unchanged.
//
// A value is refused rather than escaped if some server could read it as another path (R2): escaping is undone once by
// every server, and more often by chains of them.
func appendSegment(dst, text []byte, keep, not class, slash Slash) ([]byte, error) {
	if slash == SlashRefused && bytes.IndexByte(text, '/') >= 0 {
		return dst, refuse("must not contain \"/\": it is one segment of the path (the operator of the gateway can allow slashes here with slash_parameters, and have them sent as %%2F with \"as: encoded\")")
	}
	if slash == SlashEscaped || slash == SlashInferred && encodesSlash(text) {
		text = unescapedOnce(text)
	}
	if err := checkSegments(text, true); err != nil {
		return dst, err
	}
	switch slash {
	case SlashRefused:
		if encodesSlash(text) {
			return dst, refuse("must not contain an encoded \"/\": it is one segment of the path")
		}
		return appendEscaped(dst, text, keep, not), nil
	case SlashEncoded, SlashEscaped, SlashInferred:
		if err := checkEncoded(text); err != nil {
			return dst, err
		}
		return appendEscaped(dst, text, keep, not), nil // no class of a path contains the slash
	case SlashRaw:
		if encodesSlash(text) {
			return dst, refuse("must not contain an encoded \"/\": write it as it is")
		}
	}
	for i := 0; ; i++ {
		segment, rest, more := bytes.Cut(text, []byte("/"))
		if i > 0 {
			dst = append(dst, '/')
		}
		if len(segment) == 0 && (more || i > 0) {
			return dst, emptySegment()
		}
		dst = appendEscaped(dst, segment, keep, not)
		if !more {
			return dst, nil
		}
		text = rest
	}
}

// unescapedOnce decodes a percent-encoded text, and returns any other text unchanged: callers pass values that a
// document requires to be URL-encoded in either form, and they must be escaped once.
func unescapedOnce(text []byte) []byte {
	if bytes.IndexByte(text, '%') < 0 {
		return text
	}
	for i, b := range text {
		if b != '%' {
			continue
		}
		if _, ok := triple(text, i); !ok {
			return text
		}
	}
	if plain := appendDecoded(make([]byte, 0, len(text)), text); utf8.Valid(plain) {
		return plain
	}
	return text
}

// encodesSlash reports whether a text has a percent-encoded "/" at any depth of encoding. Escaped once more, it would be a name that nobody
// means.
func encodesSlash(text []byte) bool {
	for range maxDecodings {
		if bytes.IndexByte(text, '%') < 0 {
			return false
		}
		for i := range text {
			if b, ok := triple(text, i); ok && b == '/' {
				return true
			}
		}
		decoded := appendDecoded(make([]byte, 0, len(text)), text)
		if len(decoded) == len(text) {
			return false
		}
		text = decoded
	}
	return false // checkSegments refuses what is encoded more often
}

func emptySegment() error { return refuse("must not begin or end with \"/\" or contain \"//\"") }

// checkEncoded refuses values that are unsafe if slashes are sent as "%2F". The server decodes them into a path of its
// own, so they may contain no empty segment, no backslash, which some servers take for a slash, and no triple that
// another decoding would turn into a delimiter or a dot.
func checkEncoded(text []byte) error {
	if bytes.HasPrefix(text, []byte("/")) || bytes.HasSuffix(text, []byte("/")) || bytes.Contains(text, []byte("//")) {
		return emptySegment()
	}
	if bytes.IndexByte(text, '\\') >= 0 {
		return refuse("must not contain a backslash: some servers take it for \"/\"")
	}
	for i := range text {
		if b, ok := triple(text, i); ok && bytes.IndexByte([]byte(`/\.%;`), b) >= 0 {
			return refuse("must not be percent-encoded: the gateway does that")
		}
	}
	return nil
}

// checkSegments refuses a dot segment, or if strict a control character, at any depth of percent-encoding.
func checkSegments(text []byte, strict bool) error {
	for range maxDecodings + 1 {
		if err := checkLevel(text, strict); err != nil {
			return err
		}
		if bytes.IndexByte(text, '%') < 0 {
			return nil
		}
		decoded := appendDecoded(make([]byte, 0, len(text)), text)
		if len(decoded) == len(text) {
			return nil // the fixed point
		}
		text = decoded
	}
	return refuse("must not be percent-encoded: the gateway does that")
}

func checkLevel(text []byte, strict bool) error {
	for i, b := range text {
		if strict && (b < ' ' || b == 0x7f) {
			return refuse("must not contain control characters: it is a part of the path")
		}
		if b >= 0xc0 && overlong(text[i:]) {
			return refuse("must not contain invalid UTF-8: it is a part of the path")
		}
	}
	for len(text) > 0 {
		segment := text
		if i := bytes.IndexAny(text, `/\`); i >= 0 {
			segment, text = text[:i], text[i+1:]
		} else {
			text = nil
		}
		segment, _, _ = bytes.Cut(segment, []byte(";"))
		if isDots(segment) {
			return refuse("must not contain the path segment %q, percent-encoded or not", segment)
		}
	}
	return nil
}

func isDots(segment []byte) bool {
	return len(segment) > 0 && len(segment) < 3 && segment[0] == '.' && segment[len(segment)-1] == '.'
}

// overlong reports whether text begins with an overlong form of UTF-8, which old servers decode to "." or "/".
func overlong(text []byte) bool {
	if len(text) < 2 || text[1]&0xc0 != 0x80 {
		return false
	}
	switch text[0] {
	case 0xc0, 0xc1:
		return true
	case 0xe0:
		return text[1] < 0xa0
	case 0xf0:
		return text[1] < 0x90
	}
	return false
}
