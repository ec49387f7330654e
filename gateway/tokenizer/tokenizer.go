package tokenizer

import (
	"math"
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// Count returns the number of tokens of text. Bytes that are no UTF-8 count as U+FFFD.
//
// A text of more than 16 KiB or 128 lines in which no word or number of ASCII ends is counted in parts, which may add a
// token for each.
func Count(text []byte) int { return CountUpTo(text, math.MaxInt) }

// CountUpTo is [Count] that stops as soon as there are more than limit tokens. Its result is then greater than limit and
// otherwise exact.
func CountUpTo(text []byte, limit int) int {
	n := 0
	if len(text) == 0 {
		return n
	}
	c := loaded()
	for len(text) > 0 && n <= limit {
		size := pieceLength(text)
		n += c.count(text[:size])
		text = text[size:]
	}
	return n
}

// Load loads the vocabulary, which takes some 40 ms, if that hasn't happened. The first count does so as well; a program
// that will count soon calls Load in a goroutine.
func Load() { loaded() }

// loaded returns the one counter of the program.
var loaded = sync.OnceValue(func() *counter {
	c := &counter{codec: codec.NewO200kBase()}
	c.codec.SetErrorMode(codec.ErrorModeReplace)
	return c
})

// counter counts pieces of texts.
type counter struct {
	codec *codec.Codec
	known cache
}

func (c *counter) count(piece []byte) int {
	if len(piece) > maxCached {
		return c.encode(string(piece))
	}
	slot := c.known.slot(piece)
	if e := slot.Load(); e != nil && e.piece == string(piece) {
		return e.tokens
	}
	e := &entry{piece: string(piece)}
	e.tokens = c.encode(e.piece)
	slot.Store(e)
	return e.tokens
}

func (c *counter) encode(piece string) int {
	// The only errors are a time-out of the regular expression, which has none, and invalid UTF-8 in
	// another mode.
	n, _ := c.codec.Count(piece)
	return max(n, 1) // the library overlooks U+007F
}
