package text

import (
	"strings"

	"github.com/mozillazg/go-unidecode"
)

// longVowel is the mark that lengthens the preceding vowel.
const longVowel = 'ー'

// readings are those of Hepburn that differ from the table.
var readings = map[string]string{"hu": "fu", "zi": "ji", "di": "ji", "du": "zu"}

// endKana writes the collected kana in Hepburn romanization: a small vowel replaces the vowel before it, a small tsu
// doubles the consonant after it, and long vowels are written as short ones.
func (t *transliteration) endKana() {
	syllable, double := "", false
	for _, r := range t.kana {
		switch {
		case r == longVowel:
		case r == 'っ' || r == 'ッ':
			double = true
		case strings.ContainsRune("ゃゅょャュョ", r):
			syllable = withY(syllable, read(r))
		case strings.ContainsRune("ぁぃぅぇぉァィゥェォ", r):
			syllable = withVowel(syllable, read(r))
		default:
			t.out.WriteString(syllable)
			syllable = read(r)
			if double {
				syllable = doubled(syllable)
			}
			double = false
		}
	}
	t.kana = t.kana[:0]
	t.out.WriteString(syllable)
}

// read returns the reading of one kana.
func read(r rune) string {
	text := alphanumeric(unidecode.Unidecode(string(r)))
	if better, ok := readings[text]; ok {
		return better
	}
	return text
}

// withY appends a small "ya", "yu" or "yo" to a syllable: "ki" becomes "kyo", "shi" becomes "sho", "de" becomes "dyu".
func withY(syllable, y string) string {
	stem := strings.TrimRight(syllable, "ie")
	switch stem {
	case "sh", "ch", "j":
		return stem + y[1:]
	}
	return stem + y
}

// withVowel appends a small vowel to a syllable: "fu" becomes "fa", "chi" becomes "che", "u" becomes "we".
func withVowel(syllable, v string) string {
	if syllable == "u" {
		return "w" + v
	}
	return strings.TrimRight(syllable, "aiueo") + v
}

// doubled returns a syllable after a small tsu: "pu" becomes "ppu", "chi" becomes "tchi".
func doubled(syllable string) string {
	switch {
	case syllable == "" || strings.ContainsRune("aiueon", rune(syllable[0])):
		return syllable
	case strings.HasPrefix(syllable, "ch"):
		return "t" + syllable
	}
	return syllable[:1] + syllable
}
