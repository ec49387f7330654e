package tokenizer

import (
	"iter"
	"unicode/utf8"
)

// Exceeds reports whether texts have more than limit tokens together, each counted for itself. It loads the vocabulary only
// where lengths don't decide: a text has at most one token for each byte, and at least one for each piece, of which there
// are half as many as tokens. Texts are read twice then, and at most as far as needed.
func Exceeds(texts iter.Seq[[]byte], limit int) bool {
	least, most := 0, 0
	for text := range texts {
		most += len(text)
		if !utf8.Valid(text) {
			most += 2 * len(text) // a byte that is no UTF-8 counts as U+FFFD, which has three
		}
		for rest := text; len(rest) > 0; rest = rest[pieceLength(rest):] {
			if least++; least > limit {
				return true
			}
		}
	}
	if most <= limit {
		return false
	}
	n := 0
	for text := range texts {
		if n += CountUpTo(text, limit-n); n > limit {
			return true
		}
	}
	return false
}
