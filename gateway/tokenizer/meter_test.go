package tokenizer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"drawbridge/test/timebox"
)

// order is a JSON text of about size bytes, whose end has more tokens a byte than its beginning.
func order(size int) []byte {
	var b strings.Builder
	b.WriteString(`{"description":"`)
	for b.Len() < size/2 {
		b.WriteString("The customer receives the order within the following week. ")
	}
	b.WriteString(`","lines":[`)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `{"sku":%q,"n":%d},`, fmt.Sprintf("%x", i*7919), i)
	}
	b.WriteString(`{}]}`)
	return []byte(b.String())
}

func TestMeter(t *testing.T) {
	for name, sizes := range map[string][]int{
		"equal lengths":  {1 << 10},
		"short":          {60},
		"short and long": {60, 60, 60, 60, 60, 60, 60, 100_000},
		"any":            {10, 300, 5000, 250, 257, 31_111},
	} {
		t.Run(name, func(t *testing.T) {
			var m Meter
			want, got := 0, int64(0)
			var texts [][]byte
			var counts []int
			for _, size := range sizes {
				texts = append(texts, order(size))
				counts = append(counts, Count(texts[len(texts)-1]))
			}
			for i := range 4000 {
				text := texts[i%len(texts)]
				want += counts[i%len(counts)]
				m.Observe(text, len(text))
				if i%100 == 99 {
					now := m.Tokens()
					if now < got {
						t.Fatalf("fell from %d to %d", got, now)
					}
					got = now
				}
			}
			if off := math.Abs(float64(got)/float64(want) - 1); off > .15 {
				t.Errorf("%d tokens, want about %d: %.1f %% off", got, want, 100*off)
			}
		})
	}
}

// What fits into the windows is counted whole.
func TestMeterIsExactForOneText(t *testing.T) {
	var m Meter
	if got := m.Tokens(); got != 0 {
		t.Errorf("nothing: %d", got)
	}
	text := []byte(`{"order":"A-100","state":"open"}`)
	m.Observe(text, len(text))
	m.Observe(nil, 0)
	m.Observe(nil, 10)
	m.Observe(text, -1)
	for range 2 {
		if got, want := m.Tokens(), int64(Count(text)); got != want {
			t.Errorf("%d tokens, want %d", got, want)
		}
	}
}

// A part of a text counts as that part of its tokens.
func TestMeterOfParts(t *testing.T) {
	var m Meter
	want := 0.
	text := order(2000)
	count := Count(text)
	for i := range 1000 {
		m.Observe(text, len(text)*9/10)
		want += .9 * float64(count)
		if i%25 == 24 {
			m.Tokens()
		}
	}
	if got := float64(m.Tokens()); math.Abs(got/want-1) > .15 {
		t.Errorf("%.0f tokens, want about %.0f", got, want)
	}
}

func TestMeterOfOddTexts(t *testing.T) {
	var m Meter
	for range 2000 {
		text := make([]byte, rand.IntN(3000))
		for i := range text {
			text[i] = byte(rand.Uint32())
		}
		m.Observe(text, rand.IntN(len(text)+1))
	}
	m.Observe([]byte("x"), math.MaxInt32)
	if got := m.Tokens(); got < 1 {
		t.Errorf("%d tokens", got)
	}
}

func TestMeterConcurrent(t *testing.T) {
	var m Meter
	var group sync.WaitGroup
	text := order(600)
	for range 8 {
		group.Go(func() {
			for i := range 1000 {
				m.Observe(text, len(text))
				if i%100 == 0 {
					m.Tokens()
				}
			}
		})
	}
	timebox.Done(t, group.Wait)
	if got, want := float64(m.Tokens()), 8000*float64(Count(text)); math.Abs(got/want-1) > .15 {
		t.Errorf("%.0f tokens, want about %.0f", got, want)
	}
}

func TestMeterAllocations(t *testing.T) {
	var m Meter
	text := order(3000)
	m.Observe(text, len(text))
	if n := testing.AllocsPerRun(1000, func() { m.Observe(text, len(text)) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkMeter(b *testing.B) {
	var m Meter
	text := order(1000)
	for b.Loop() {
		m.Observe(text, len(text))
	}
}
