package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes the text of a document fit to be read by a model (S8): it takes out what a person who looks at the text
// doesn't see, because that is where instructions to models are hidden, and what drives a terminal. Markdown stays.
//
// Gone are control characters, ANSI escape sequences, formatting characters of Unicode (bidirectional controls, zero width,
// tags), variation selectors, and HTML comments. Ends of lines become "\n", blank lines at most one.
func clean(text string) string {
	text = withoutInvisible(text)
	// What is left after a comment is cut out can be a comment again.
	for strings.Contains(text, "<!--") {
		before, rest, _ := strings.Cut(text, "<!--")
		_, after, _ := strings.Cut(rest, "-->") // without an end it reaches to the end of the text
		text = before + after
	}
	var b strings.Builder
	b.Grow(len(text))
	blank := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\n")
		if line == "" {
			blank++
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n"[:min(blank+1, 2)])
		}
		blank = 0
		b.WriteString(line)
	}
	return strings.TrimSpace(b.String())
}

func withoutInvisible(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && invisible(r) || r == '\r' || r == utf8.RuneError }) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\r':
			if !strings.HasPrefix(text[i+1:], "\n") {
				b.WriteByte('\n')
			}
		case r == '\u2028' || r == '\u2029' || r == '\u0085':
			b.WriteByte('\n')
		case r == 0x1b || r == 0x9b:
			size = escapeSequence(text[i:], size)
		case r == utf8.RuneError && size == 1, invisible(r) && r != '\n' && r != '\t':
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// invisible reports whether a character is not seen, or changes how others are seen.
func invisible(r rune) bool {
	switch {
	case r < ' ', 0x7f <= r && r < 0xa0:
		return true
	case r < 0xad:
		return false
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0: // fillers and joiners
		return true
	case 0x180b <= r && r <= 0x180f, 0xfe00 <= r && r < 0xfe0f: // variation selectors; U+FE0F makes emoji of symbols
		return true
	case 0xfff0 <= r && r <= 0xfffb, 0xe0000 <= r && r <= 0xe0fff: // specials; tags and more variation selectors
		return true
	case 0x0600 <= r && r <= 0x0605, r == 0x06dd, r == 0x070f, r == 0x08e2: // Arabic and Syriac number signs are seen
		return false
	}
	return unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// escapeSequence returns the length of the sequence that begins text with ESC or CSI (ECMA-48 sections 5.3 and 5.4).
func escapeSequence(text string, size int) int {
	body := text[size:]
	switch {
	case text[0] == 0x1b && strings.HasPrefix(body, "["):
		size, body = size+1, body[1:]
	case text[0] == 0x1b && body != "" && strings.ContainsRune("]PX^_", rune(body[0])):
		// A string for the device, up to BEL or ST. Without an end only its introducer goes.
		if end := strings.IndexAny(body, "\a\x1b"); end >= 0 {
			if body[end] == '\a' {
				return size + end + 1
			}
			return size + min(end+2, len(body))
		}
		return size + 1
	case text[0] == 0x1b:
		for i := range len(body) {
			if body[i] < 0x20 || body[i] > 0x2f {
				if body[i] >= 0x30 && body[i] < 0x7f {
					i++
				}
				return size + i
			}
		}
		return len(text)
	}
	for i := range len(body) {
		if b := body[i]; b >= 0x40 && b < 0x7f {
			return size + i + 1
		} else if b < 0x20 || b >= 0x7f {
			return size + i
		}
	}
	return len(text)
}
