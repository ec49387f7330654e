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

// Latin writes the letters and digits of a text in ASCII: Chinese characters as pinyin, kana and Hangul as they are read, other
// scripts letter by letter, Latin letters without accents. Syllables of pinyin and neighbours in other scripts are separated by
// spaces. Signs stay as they are.
//
// Lost tells that the text can't be told from others any more: another one with other letters may read the same. Latin letters
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

// NeedsLatin tells whether a text has characters outside ASCII, without which Latin returns it as it is.
func NeedsLatin(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// transliteration is a text on its way.
type transliteration struct {
	out  strings.Builder
	lost bool
	last kind
	kana []rune // that are not written yet: how one reads depends on the next
}

// kind is that of a character, as far as spaces depend on it.
type kind uint8

const (
	sign     kind = iota // is not read
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
	if unicode.IsMark(r) { // belongs to what stands before it
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

// alphanumeric leaves out the apostrophes and points that stand for what has no letter.
func alphanumeric(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return -1
	}, s)
}
