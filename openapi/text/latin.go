package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mozillazg/go-pinyin"
	"github.com/mozillazg/go-unidecode"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// Latin transliterates the letters and digits of a text to ASCII: Chinese characters as pinyin, kana and Hangul by
// their reading, other scripts letter by letter, Latin letters without accents. Syllables of pinyin and adjacent words
// in other scripts are separated by spaces. Punctuation stays unchanged.
//
// lost reports whether the result is ambiguous: another text with other letters may have the same one. Latin letters
// count as kept without their accents.
func Latin(text string) (ascii string, lost bool) {
	if !NeedsLatin(text) {
		return text, false
	}
	t := transliteration{}
	for _, r := range norm.NFC.String(width.Fold.String(text)) {
		t.add(r)
	}
	t.endKana()
	return t.out.String(), t.lost
}

// NeedsLatin reports whether a text has characters outside ASCII, without which Latin returns it unchanged.
func NeedsLatin(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// transliteration is the state of a text in transliteration.
type transliteration struct {
	out  strings.Builder
	lost bool
	last kind
	kana []rune // not written yet: the reading of one depends on the next
}

// kind is the class of a character with respect to spaces.
type kind uint8

const (
	sign     kind = iota // has no reading
	latin                // ASCII, and letters that become ASCII without accents
	han                  // one syllable of its own
	syllable             // kana
	foreign              // any other script
)

func kindOf(r rune) kind {
	switch {
	case r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)), r >= utf8.RuneSelf && unicode.Is(unicode.Latin, r):
		return latin
	case unicode.In(r, unicode.Hiragana, unicode.Katakana) || r == longVowel:
		return syllable
	case unicode.Is(unicode.Han, r):
		return han
	case r >= utf8.RuneSelf && unicode.IsNumber(r):
		return latin
	case unicode.IsLetter(r):
		return foreign
	}
	return sign
}

func (t *transliteration) add(r rune) {
	if unicode.IsMark(r) { // belongs to the character before it
		t.endKana()
		t.out.WriteString(alphanumeric(unidecode.Unidecode(string(r))))
		return
	}
	k := kindOf(r)
	if k != syllable {
		t.endKana()
	}
	if t.last != sign && k != sign && (k != t.last || k == han) {
		t.out.WriteByte(' ')
	}
	t.last = k
	t.lost = t.lost || k == foreign || k == han || k == syllable
	switch k {
	case syllable:
		t.kana = append(t.kana, r)
	case han:
		t.out.WriteString(pinyinOf(r))
	default:
		t.write(r, k)
	}
}

func (t *transliteration) write(r rune, k kind) {
	if r < utf8.RuneSelf || k == sign {
		t.out.WriteRune(r)
		return
	}
	text := alphanumeric(unidecode.Unidecode(string(r)))
	t.lost = t.lost || text == ""
	t.out.WriteString(text)
}

// pinyinOf returns the first reading of a character, without its tone.
func pinyinOf(r rune) string {
	if readings := pinyin.SinglePinyin(r, pinyin.NewArgs()); len(readings) > 0 {
		return readings[0]
	}
	return strings.ToLower(alphanumeric(unidecode.Unidecode(string(r))))
}

// alphanumeric drops the apostrophes and dots that represent sounds without a letter.
func alphanumeric(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return -1
	}, s)
}
