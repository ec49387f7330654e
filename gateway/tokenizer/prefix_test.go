package tokenizer

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestPrefix: the beginning of a text is within the limit, ends between characters, and is not much shorter than it must be.
func TestPrefix(t *testing.T) {
	for name, text := range map[string]string{
		"prose": strings.Repeat("The quick brown fox jumps over the lazy dog. ", 500),
		"cjk":   strings.Repeat("\u4f60\u597d\u4e16\u754c", 3000),
		"emoji": strings.Repeat("\U0001f469\u200d\U0001f680\U0001f389", 1000),
		"word":  strings.Repeat("qxzjk", 4000),
		"space": strings.Repeat(" ", 20_000),
		"lines": strings.Repeat("\n", 20_000),
		"digit": strings.Repeat("1234567890", 1000),
	} {
		for _, limit := range []int{0, 1, 7, 100, 2000, 1 << 20} {
			n, tokens := Prefix([]byte(text), limit)
			begin := text[:n]
			switch {
			case tokens > limit || tokens != Count([]byte(begin)):
				t.Errorf("%s, %d: %d tokens of %d bytes, which have %d", name, limit, tokens, n, Count([]byte(begin)))
			case !utf8.ValidString(begin):
				t.Errorf("%s, %d: ends within a character", name, limit)
			case n < len(text) && limit >= 100 && tokens < limit*9/10:
				t.Errorf("%s, %d: %d tokens", name, limit, tokens)
			}
		}
	}
}

// FuzzPrefix: the tokens of a beginning are counted as those of any text.
func FuzzPrefix(f *testing.F) {
	f.Add("one two\n\nthree", 2)
	f.Add("\u00fc\U0001f469\u200d\U0001f680\xff", 3)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		n, tokens := Prefix([]byte(text), limit)
		if tokens > max(limit, 0) || tokens != Count([]byte(text[:n])) {
			t.Errorf("%d bytes, %d tokens of at most %d, counted %d", n, tokens, limit, Count([]byte(text[:n])))
		}
		if n < len(text) && Count([]byte(text)) <= limit {
			t.Errorf("%d bytes of %d, all of which are within the limit", n, len(text))
		}
	})
}
