package tokenizer

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"

	"drawbridge/test/timebox"
)

// reference counts with the library alone.
var reference = sync.OnceValue(func() *codec.Codec {
	c := codec.NewO200kBase()
	c.SetErrorMode(codec.ErrorModeReplace)
	return c
})

func whole(t testing.TB, text string) int {
	t.Helper()
	n, err := reference().Count(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// gpt-tokenizer 4.0, another implementation, gives the same figures.
func TestCount(t *testing.T) {
	for text, want := range map[string]int{
		"":                             0,
		"hello world":                  2,
		"hello   world":                3,
		"supercalifragilistic":         6,
		"'RE":                          2,
		"<|endoftext|>":                7, // text, not a special token
		"2 + 2 = 4":                    7,
		"お誕生日おめでとう":                    8,
		"antidisestablishmentarianism": 6,
		"We know what we are, but know not what we may be.": 14,
	} {
		if got := Count([]byte(text)); got != want {
			t.Errorf("%q: %d tokens, want %d (the library: %d)", text, got, want, whole(t, text))
		}
	}
}

// pieces are what texts in which a split could go wrong consist of.
var pieces = []string{
	"a", "Z", "order", "Order", "ORDER", "s", "T", "re", "LL", "'", "''", "'s", "'RE", "ſ", "0", "1234", "٣", "Ⅷ", " ", "  ", "\t", "\n", "\r\n", "\u00a0",
	"\"", "\":", "{", "}", "_", "-", "/", "//", "\\", "\\n", ",", ".", "…", "é", "e\u0301", "\u0301", "ß", "ǅ", "ʰ", "漢字", "かな", "ไทย", "🙂", "👩‍💻", "\u200d", "\x00",
	"\xff", "\xe2\x82", "<|endoftext|>",
}

func TestPiecesAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		var b strings.Builder
		for range 1 + r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		if got, want := Count([]byte(b.String())), whole(t, b.String()); got != want {
			t.Fatalf("%q: %d tokens, want %d", b.String(), got, want)
		}
	}
}

func FuzzCount(f *testing.F) {
	f.Add(`{"name":"getOrder","description":"The order's lines.","inputSchema":{"type":"object"}}`, 5)
	f.Add("don't 12345 'LL\n\n  x", 0)
	f.Add("\xff\xfea'\u0301s", -1)
	f.Add("0\x7f", 2)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		n := Count([]byte(text))
		if len(text) <= maxPiece && strings.Count(text, "\n")+strings.Count(text, "\r") < maxLines && !strings.Contains(text, "\x7f") {
			if want := whole(t, text); n != want {
				t.Errorf("%d tokens, want %d", n, want)
			}
		}
		if n > len(text) && utf8.ValidString(text) || n > 3*len(text) {
			t.Errorf("%d tokens of %d bytes", n, len(text))
		}
		if got := Exceeds(slices.Values([][]byte{[]byte(text), []byte(text)}), limit); limit >= 0 && got != (2*n > limit) {
			t.Errorf("2 times %d tokens exceed %d: %v", n, limit, got)
		}
		if got := CountUpTo([]byte(text), limit); n <= limit && got != n || n > limit && got <= limit && text != "" {
			t.Errorf("%d tokens up to %d, want %d", got, limit, n)
		}
	})
}

func TestCountUpTo(t *testing.T) {
	text := []byte(strings.Repeat("hello world ", 1000))
	n := Count(text)
	for _, limit := range []int{n, n + 1, math.MaxInt} {
		if got := CountUpTo(text, limit); got != n {
			t.Errorf("up to %d: %d tokens, want %d", limit, got, n)
		}
	}
	for _, limit := range []int{0, 1, 100, n - 1} {
		if got := CountUpTo(text, limit); got <= limit || got > limit+10 {
			t.Errorf("up to %d: %d tokens", limit, got)
		}
	}
}

// Lengths decide far from the limit, so that texts are read no further than needed.
func TestExceeds(t *testing.T) {
	text := []byte(strings.Repeat("hello world ", 1000)) // 2,001 tokens, 2,000 pieces, 12,000 bytes
	n, reads := Count(text), 0
	texts := func(yield func([]byte) bool) {
		for range 3 {
			if reads++; !yield(text) {
				return
			}
		}
	}
	for _, tt := range []struct {
		limit int
		want  bool
		reads int
	}{
		{100, true, 1}, {n, true, 2}, {3*n - 1, true, 3}, {3*n + 1, false, 6}, {3 * len(text), false, 3}, {-1, true, 1},
	} {
		if reads = 0; Exceeds(texts, tt.limit) != tt.want || reads != tt.reads {
			t.Errorf("limit %d: want %v after %d texts, %d were read", tt.limit, tt.want, tt.reads, reads)
		}
	}
	if Exceeds(slices.Values([][]byte(nil)), 0) {
		t.Error("nothing exceeds 0")
	}
}

// Counting is linear where the expression or the merging of pairs could be quadratic. A quadratic count of these takes
// many seconds.
func TestHostileTexts(t *testing.T) {
	const size = 256 << 10
	for name, unit := range map[string]string{
		"one letter": "a", "capitals": "A", "spaces": " ", "newlines": "\n", "space and newline": " \n", "many spaces and newline": strings.Repeat(" ", 127) + "\n", "wide spaces": "\u2003\n", "one digit": "7", "apostrophes": "'", "punctuation": "=-*#|",
		"marks": "\u0301", "ideographs": "网关在转发请求", "invalid": "\xff", "half characters": "\xe2\x82", "zeros": "\x00", "emoji": "👩‍💻", "slashes": "/",
	} {
		t.Run(name, func(t *testing.T) {
			timebox.Processor(t, 2*time.Second, func() {
				if n := Count([]byte(strings.Repeat(unit, size/len(unit)))); n == 0 || n > 2*size {
					t.Errorf("%d tokens", n)
				}
			})
		})
	}
}

// A run without an end is counted in parts, which costs at most one token each, and no character is cut.
func TestLongRuns(t *testing.T) {
	for _, unit := range []string{"a", "网", "é", "=-", " "} {
		text := strings.Repeat(unit, 5*maxPiece/len(unit))
		if got, want := Count([]byte(text)), whole(t, text); got < want || got > want+6 {
			t.Errorf("%q: %d tokens, want %d to %d", unit, got, want, want+6)
		}
	}
}

func TestConcurrent(t *testing.T) {
	texts := []string{"hello world", "supercalifragilistic", strings.Repeat("GET /orders/{id} ", 100)}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				for _, text := range texts {
					if got := Count([]byte(text)); got != whole(t, text) {
						t.Errorf("%.20q: %d tokens", text, got)
					}
				}
			}
		})
	}
	timebox.Done(t, group.Wait)
}

// A piece that was seen before is counted without an allocation. There is one alone: two could have the same slot.
func TestAllocations(t *testing.T) {
	text := []byte("description")
	Load()
	if n := testing.AllocsPerRun(100, func() { Count(text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCount(b *testing.B) {
	text := []byte(strings.Repeat(`{"name":"getOrder","description":"Returns the order's lines.","inputSchema":{"type":"object"}},`, 100))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Count(text)
	}
}
