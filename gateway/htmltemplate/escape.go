package htmltemplate

import (
	"bytes"
	"fmt"
	"strings"
)

// escaper writes a value as it may stand in its context.
type escaper func(b *bytes.Buffer, s string)

// escapeHTML escapes for text and for attributes with quotes, as html/template does.
func escapeHTML(b *bytes.Buffer, s string) {
	for i := range len(s) {
		switch c := s[i]; c {
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '"':
			b.WriteString("&#34;")
		case '\'':
			b.WriteString("&#39;")
		case '+':
			b.WriteString("&#43;")
		case 0:
			b.WriteString("\uFFFD")
		default:
			b.WriteByte(c)
		}
	}
}

// unsafeURL is written in the place of a URL whose scheme runs scripts, or may.
const unsafeURL = "#ZgotmplZ"

// escapeURL escapes a URL as a whole. Only relative ones and those with the schemes http, https and mailto are written.
func escapeURL(b *bytes.Buffer, s string) {
	if scheme, _, ok := strings.Cut(s, ":"); ok && !strings.Contains(scheme, "/") &&
		!strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "mailto") {
		b.WriteString(unsafeURL)
		return
	}
	escapeURLPath(b, s)
}

// escapeURLPath escapes what is no part of a URL, and keeps what has a meaning in one, among it percent-encoding.
func escapeURLPath(b *bytes.Buffer, s string) {
	percent(b, s, func(i int) bool {
		switch s[i] {
		case '!', '#', '$', '&', '*', '+', ',', '/', ':', ';', '=', '?', '@', '[', ']', '-', '.', '_', '~':
			return true
		case '%':
			return i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2])
		}
		return false
	})
}

// escapeURLQuery escapes a value of a query, or of a fragment: all that has a meaning in a URL.
func escapeURLQuery(b *bytes.Buffer, s string) {
	percent(b, s, func(i int) bool { return strings.IndexByte("-._~", s[i]) >= 0 })
}

// percent writes letters, digits and what is kept, as HTML, and the rest percent-encoded.
func percent(b *bytes.Buffer, s string, keep func(i int) bool) {
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || keep(i) {
			escapeHTML(b, s[i:i+1])
			continue
		}
		fmt.Fprintf(b, "%%%02x", c)
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
