package wire

import (
	"encoding/base64"
	"strings"
)

// AppendBytes appends the bytes that a text represents: base64 in any of its variants, or a data URL (RFC 2397) with
// base64. Models use them all. The error is a [*ValueError].
func AppendBytes(dst []byte, text string) ([]byte, error) {
	if rest, found := strings.CutPrefix(text, "data:"); found {
		if _, data, found := strings.Cut(rest, ";base64,"); found {
			text = data
		}
	}
	text = strings.TrimRight(strings.Map(func(r rune) rune {
		switch r {
		case '-':
			return '+'
		case '_':
			return '/'
		case '\n', '\r', ' ':
			return -1
		}
		return r
	}, text), "=")
	out, err := base64.RawStdEncoding.AppendDecode(dst, []byte(text))
	if err != nil {
		return dst, refuse("expected bytes encoded as base64")
	}
	return out, nil
}
