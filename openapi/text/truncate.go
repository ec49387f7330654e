package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Ellipsis is the end of a shortened text.
const Ellipsis = "…"

// Truncate returns a text of at most limit bytes: s, or its beginning and an ellipsis. Bytes of s that aren't UTF-8
// stay unchanged. A limit below the length of an ellipsis yields only the ellipsis.
func Truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return Prefix(s, limit-len(Ellipsis)) + Ellipsis
}

// Prefix returns the beginning of a text, at most limit bytes, without an ellipsis.
func Prefix(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := max(limit, 0)
	for i := range utf8.UTFMax { // further back there is no beginning of a character that would be split
		if i > end {
			break
		}
		if utf8.RuneStart(s[end-i]) {
			return s[:end-i]
		}
	}
	return s[:end]
}

// TruncateRunes returns a text of at most limit characters: s, or its beginning and an ellipsis.
func TruncateRunes(s string, limit int) string {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	n := 1 // for the ellipsis
	for i := range s {
		if n >= limit {
			return s[:i] + Ellipsis
		}
		n++
	}
	return s
}

// TruncateWords returns a text of at most limit characters: s, or its beginning up to the end of a word and an
// ellipsis. A word that is longer than half of the text is split. 0 means no limit.
func TruncateWords(s string, limit int) string {
	if limit <= 0 || len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	end, count, word := 0, 0, 0
	for i, r := range s {
		if count == limit-1 {
			end = i
			break
		}
		if unicode.IsSpace(r) {
			word = i
		}
		count++
	}
	if next, _ := utf8.DecodeRuneInString(s[end:]); !unicode.IsSpace(next) && word > end/2 {
		end = word
	}
	// A character that joins the last one to the next has no next one any more.
	return strings.TrimRightFunc(s[:end], func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || strings.ContainsRune(",;:-", r)
	}) + Ellipsis
}

// List joins the first of several texts, at most limit, and counts the rest.
func List(texts []string, limit int) string {
	if len(texts) <= limit {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:limit], ", "), len(texts)-limit)
}
