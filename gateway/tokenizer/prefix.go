package tokenizer

import "unicode/utf8"

// Prefix returns the length in bytes of a beginning of text with at most limit tokens, and the number of its tokens. It is the
// whole text if that has no more, else nearly the longest one. It ends between two characters. The text is read as far as it is
// needed, once and a part of its last 16 KiB again.
func Prefix(text []byte, limit int) (length, tokens int) {
	if len(text) == 0 || limit <= 0 {
		return 0, 0
	}
	c := loaded()
	for length < len(text) {
		piece := text[length:]
		piece = piece[:pieceLength(piece)]
		n := c.count(piece)
		if tokens+n > limit {
			size, n := c.prefix(piece, n, limit-tokens)
			return length + size, tokens + n
		}
		length, tokens = length+len(piece), tokens+n
	}
	return length, tokens
}

// prefix is Prefix for a piece that has more than limit tokens. The length is estimated from the tokens of the whole, and gets
// shorter until it fits, which takes few counts.
func (c *counter) prefix(piece []byte, tokens, limit int) (length, n int) {
	size := len(piece)
	for tokens > limit {
		size = min(size*limit/tokens, size-1)
		for size > 0 && !utf8.RuneStart(piece[size]) {
			size--
		}
		if size <= 0 {
			return 0, 0
		}
		tokens = c.count(piece[:size])
	}
	return size, tokens
}
