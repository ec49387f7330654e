package finder

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// words calls yield with each word of a text, in lower case. Words end at characters that are neither letters nor
// digits and at changes of case, as in getOrderLines and HTTPServer. Digits belong to the letters before them, as in v2
// and oauth2. Text in scripts without spaces becomes pairs of characters.
func words(text string, yield func(word string)) {
	for i := 0; i < len(text); {
		switch r, size := utf8.DecodeRuneInString(text[i:]); {
		case isUnspaced(r):
			end := i
			for end < len(text) && isUnspaced(runeAt(text, end)) {
				end += utf8.RuneLen(runeAt(text, end))
			}
			pairs([]rune(text[i:end]), yield)
			i = end
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			end := wordEnd(text, i)
			yield(strings.ToLower(text[i:end]))
			i = end
		default:
			i += size
		}
	}
}

func runeAt(text string, at int) rune {
	r, _ := utf8.DecodeRuneInString(text[at:])
	return r
}

// wordEnd returns the end of the word that begins at start.
func wordEnd(text string, start int) int {
	previous, size := utf8.DecodeRuneInString(text[start:])
	second := start + size
	for i := second; i < len(text); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(text[i:])
		switch {
		case isUnspaced(r), !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			return i
		case !unicode.IsUpper(r):
		case unicode.IsLower(previous), unicode.IsDigit(previous):
			return i // order|Lines
		case i == second && !followsLetter(text, start): // OAuth, a word with one capital before it
		case unicode.IsUpper(previous) && i+size < len(text) && unicode.IsLower(runeAt(text, i+size)):
			return i // HTTP|Server
		}
		previous = r
	}
	return len(text)
}

func followsLetter(text string, at int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:at])
	return unicode.IsLetter(r)
}

// isUnspaced reports whether a character belongs to a script that is written without spaces between words.
func isUnspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}

// pairs calls yield with each pair of adjacent characters, or with the only character.
func pairs(runes []rune, yield func(word string)) {
	if len(runes) == 1 {
		yield(string(runes))
	}
	for i := 1; i < len(runes); i++ {
		yield(string(runes[i-1 : i+1]))
	}
}

// tooShort reports whether a word is a single letter or digit, which carries no meaning.
func tooShort(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	return size == len(word) && !isUnspaced(r)
}

// capitalized reports whether a word of a query begins with a capital, as names do.
func capitalized(word string) bool {
	word = strings.TrimLeft(word, "\"'“”‘’(")
	r, size := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(r) && len(word) > size
}
