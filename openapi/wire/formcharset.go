package wire

import (
	"bytes"
	"unicode/utf8"
)

// AppendFormIn appends a form that is written in UTF-8 in another charset: percent-encoded bytes are then text in that
// charset (WHATWG URL, application/x-www-form-urlencoded serializing, with an encoding). encode appends a text in the
// charset; its errors are returned.
func AppendFormIn(dst, form []byte, encode func(dst, text []byte) ([]byte, error)) ([]byte, error) {
	if probe, err := encode(nil, []byte("a")); err != nil || string(probe) != "a" { // the charset encodes ASCII differently: each name and value is text
		return appendTokensIn(dst, form, encode)
	}
	var text, coded []byte
	for i := 0; i < len(form); {
		text = text[:0]
		for i < len(form) { // consecutive characters outside ASCII
			b, escaped := triple(form, i)
			if !escaped {
				b = form[i]
			}
			if b < utf8.RuneSelf {
				break
			}
			text = append(text, b)
			if i++; escaped {
				i += 2
			}
		}
		if len(text) == 0 {
			dst = append(dst, form[i])
			i++
			continue
		}
		var err error
		if coded, err = encode(coded[:0], text); err != nil {
			return dst, err
		}
		dst = appendTriples(dst, coded)
	}
	return dst, nil
}

// appendTokensIn is AppendFormIn for charsets that encode ASCII differently than UTF-8.
func appendTokensIn(dst, form []byte, encode func(dst, text []byte) ([]byte, error)) ([]byte, error) {
	for i := 0; i < len(form); {
		if form[i] == '&' || form[i] == '=' {
			dst = append(dst, form[i])
			i++
			continue
		}
		end := bytes.IndexAny(form[i:], "&=")
		if end < 0 {
			end = len(form) - i
		}
		var text []byte
		token := form[i : i+end]
		for k := 0; k < len(token); k++ {
			b, escaped := triple(token, k)
			switch {
			case escaped:
				k += 2
			case token[k] == '+':
				b = ' '
			default:
				b = token[k]
			}
			text = append(text, b)
		}
		i += end
		coded, err := encode(nil, text)
		if err != nil {
			return dst, err
		}
		dst = appendTriples(dst, coded)
	}
	return dst, nil
}

func appendTriples(dst, bytes []byte) []byte {
	for _, b := range bytes {
		dst = append(dst, '%', hexUpper[b>>4], hexUpper[b&15])
	}
	return dst
}
