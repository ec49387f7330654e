package schema

import (
	"strings"

	"drawbridge/openapi/text"
	"drawbridge/openapi/unseen"
)

// Longest texts that a schema carries, in characters.
const (
	maxDescription = 1024
	maxTitle       = 120
	maxValueText   = 1024 // an enum value, const, default or example, as JSON
	maxFormat      = 64
)

// Clean makes text from a document fit to be read by a model (S8): control characters, ANSI sequences, bidirectional
// controls, characters that can't be seen, Unicode tags and HTML comments go, line ends become "\n", and what is
// longer than max characters is cut at a word, ending in "…". A max of 0 means no limit.
func Clean(raw string, max int) string {
	return text.TruncateWords(strings.TrimSpace(cleaned(raw)), max)
}

// unclean reports whether a text that must be kept exactly, like an enum value, holds something that Clean removes.
func unclean(text string) bool {
	return cleaned(text) != text
}

// cleaned removes invisible characters, and again after it has removed a comment that separated them.
func cleaned(text string) string {
	clean := unseen.Clean(text)
	if without := withoutComments(clean); without != clean {
		return unseen.Clean(without)
	}
	return clean
}

// withoutComments removes HTML comments. A removal may bring the two halves of another comment together, so the
// search goes on in the text that was written. A comment that is never closed hides all that follows, as it does in a browser.
func withoutComments(s string) string {
	if !strings.Contains(s, "<!--") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		out = append(out, s[i])
		if s[i] != '-' || len(out) < 4 || string(out[len(out)-4:]) != "<!--" {
			continue
		}
		out = out[:len(out)-4]
		end := strings.Index(s[i+1:], "-->")
		if end < 0 {
			break
		}
		i += end + len("-->")
	}
	return string(out)
}
