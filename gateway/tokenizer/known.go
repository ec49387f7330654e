package tokenizer

import "unicode/utf8"

// A text that was counted makes those cheap to count that begin as it does: pieces follow from what stands before them.

// CountBeside returns the number of tokens of text, given another text and the number of its tokens, such as one that text is
// a cut version of. What they begin with in common is not counted again.
func CountBeside(text, known []byte, tokens int) int {
	at := sharedPieces(text, known)
	if len(known)-at >= at {
		return Count(text)
	}
	return tokens - Count(known[at:]) + Count(text[at:])
}

// Shorten is [Prefix] of a text whose number of tokens is known.
func Shorten(text []byte, tokens, limit int) (length, n int) {
	if tokens <= limit {
		return len(text), tokens
	}
	if limit > tokens/2 {
		at := wholePieces(text, int(int64(len(text))*int64(limit)/int64(tokens))-len(text)/64)
		if n = tokens - Count(text[at:]); n <= limit {
			length, more := Prefix(text[at:], limit-n)
			return at + length, n + more
		}
	}
	return Prefix(text, limit)
}

// sharedPieces returns the length of the pieces that two texts begin with.
func sharedPieces(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return wholePieces(a, n-utf8.UTFMax) // the end of a piece depends on the character after it
}

// wholePieces returns the length of the first pieces of text that are no longer than most bytes together.
func wholePieces(text []byte, most int) int {
	length := 0
	for length < most {
		n := pieceLength(text[length:])
		if length+n > most {
			break
		}
		length += n
	}
	return length
}
