package tokenizer

import "unicode/utf8"

const (
	// maxPiece is the length of the longest piece that is given to the library. It bounds the memory of
	// a count.
	maxPiece = 16 << 10
	// maxLines is the number of lines in a piece, of which each has something before its end. The library
	// looks through all white space that follows a line, which is quadratic where there is nothing else.
	maxLines = 128
)

// pieceLength returns the length of the first piece of text, which isn't empty. Pieces end where a token of o200k_base
// always ends, so that the sum of their tokens is that of text.
//
// The encoding splits texts by a regular expression, from left to right, before it looks for tokens:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// A match that has a letter goes on after it with letters, marks and an apostrophe alone, and one that has a digit with
// digits alone. Every match ends, therefore, between a letter and a character of ASCII that is no letter and no
// apostrophe, and between a digit and a character of ASCII that is no digit. Marks aren't in ASCII. A match looks ahead
// only after white space.
func pieceLength(text []byte) int {
	last, lines := min(len(text), maxPiece), 0
	for i := 1; i < last; i++ {
		if splits[classes[text[i-1]]][classes[text[i]]] {
			return i
		}
		if endsLine(text[i-1]) && !endsLine(text[i]) {
			if lines++; lines == maxLines {
				return i
			}
		}
	}
	if last == len(text) {
		return last
	}
	for i := last; i > last-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return last // no UTF-8
}

func endsLine(b byte) bool { return b == '\n' || b == '\r' }

// class is a kind of bytes. The zero value is a byte of a character outside ASCII.
type class uint8

const (
	beyond class = iota
	letter
	digit
	apostrophe
	other // in ASCII
	numClasses
)

var classes = func() (c [256]class) {
	for b := range c[:utf8.RuneSelf] {
		switch {
		case 'a' <= b|0x20 && b|0x20 <= 'z':
			c[b] = letter
		case '0' <= b && b <= '9':
			c[b] = digit
		case b == '\'':
			c[b] = apostrophe
		default:
			c[b] = other
		}
	}
	return c
}()

// splits tells between which bytes a piece ends.
var splits = [numClasses][numClasses]bool{
	letter: {digit: true, other: true},
	digit:  {letter: true, apostrophe: true, other: true},
}
