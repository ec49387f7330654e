package tokenizer

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestKnownTokens holds that a count that starts from another text is the one from the beginning, wherever pieces end.
func TestKnownTokens(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // no secret
	alphabets := []string{"ab1 '\"", "\u4f60\u597d\u754c", "a\n\r", "x\u0301\u00e9 7,", "\xff\x80\u4f60a"}
	text := func(size int) string {
		of := alphabets[r.IntN(len(alphabets))]
		runes := []rune(of)
		if !utf8.ValidString(of) {
			runes = nil
		}
		var b strings.Builder
		for b.Len() < size {
			if runes == nil {
				b.WriteByte(of[r.IntN(len(of))])
			} else {
				b.WriteRune(runes[r.IntN(len(runes))])
			}
		}
		return b.String()
	}
	for range 25 {
		head := text(r.IntN(2*maxPiece)) + text(r.IntN(3000))
		if r.IntN(4) == 0 { // a piece that ends where the text does
			head = strings.Repeat("\u4f60", maxPiece/3) + "x"[:r.IntN(2)]
		}
		known, other := []byte(head+text(r.IntN(600))), []byte(head+text(r.IntN(600)))
		tokens := Count(known)
		if got, want := CountBeside(other, known, tokens), Count(other); got != want {
			t.Errorf("%d tokens beside another text of %d bytes, %d alone: %.60q… and %.60q…", got, len(known), want, other, known)
		}
		limit := r.IntN(tokens + 2)
		if length, n := Shorten(known, tokens, limit); n > limit || n != Count(known[:length]) || length < len(known) && tokens <= limit {
			t.Errorf("at most %d tokens of %d in %.60q…: %d bytes of %d, %d tokens, %d when counted", limit, tokens, known, length, len(known), n, Count(known[:length]))
		}
	}
}
