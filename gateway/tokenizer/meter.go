package tokenizer

import (
	"math"
	"math/rand/v2"
	"sync"
)

const (
	windowSize = 512
	maxWindows = 32
)

// Meter estimates the tokens of the texts that pass, for metrics: it counts bytes exactly, and takes the tokens of a byte
// from samples. Nothing is counted before [Meter.Tokens], so that [Meter.Observe] costs the copy of a few hundred bytes
// at most, and nearly always an addition. The zero value is ready for use.
type Meter struct {
	mu      sync.Mutex
	pending sample

	counting sync.Mutex // acquired before mu
	tokens   float64    // of the texts before the last Tokens
	bytes    int64      // of these texts
}

// Observe adds a text of which n bytes count: all of it, or as many as something else is shorter.
func (m *Meter) Observe(text []byte, n int) {
	if n <= 0 || len(text) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending.add(text, int64(n))
}

// Tokens returns the estimate for all texts so far. It never falls.
func (m *Meter) Tokens() int64 {
	m.counting.Lock()
	defer m.counting.Unlock()
	m.mu.Lock()
	taken := m.pending
	m.pending = sample{}
	m.mu.Unlock()
	m.tokens += taken.tokens()
	m.bytes += taken.bytes
	return int64(math.Round(m.tokens))
}

// Bytes returns the bytes of the texts that the last [Meter.Tokens] counted.
func (m *Meter) Bytes() int64 {
	m.counting.Lock()
	defer m.counting.Unlock()
	return m.bytes
}

// sample is a stream of texts with windows taken from it at even distances. The distance grows with the stream, so that
// their number is bounded and each byte of the stream is as likely in one as any other, however many texts it is in.
type sample struct {
	bytes  int64 // length of the stream
	stride int64 // the stream has one window in each stride of this length
	next   int64 // where the next window begins

	windows *[maxWindows][windowSize]byte // nil if the stream is empty
	sizes   [maxWindows]int
	taken   int // number of windows
}

func (s *sample) add(text []byte, n int64) {
	if s.windows == nil {
		s.windows, s.stride = new([maxWindows][windowSize]byte), windowSize
	}
	start := s.bytes
	s.bytes += n
	for s.bytes > maxWindows*s.stride {
		s.thin()
	}
	for s.next < s.bytes {
		at := 0
		if len(text) > windowSize {
			at = int(float64(s.next-start) / float64(n) * float64(len(text)))
		}
		s.sizes[s.taken] = window(s.windows[s.taken][:], text, at)
		s.taken++
		s.place()
	}
}

// window copies the text from at to dst, without the end of a word, and returns the number of bytes. It goes on at the
// beginning where text ends, which would be in fewer windows than the rest else.
func window(dst, text []byte, at int) int {
	n := copy(dst, text[at:])
	rest := text[:min(at, len(dst)-n)]
	if at > 0 {
		if cut := pieceLength(dst[:n]); cut < n {
			n = copy(dst, dst[cut:n])
		}
	}
	return n + copy(dst[n:], rest)
}

// place sets next. A random place within the stride keeps texts of equal length from being read at the same places
// always; while windows touch each other, they cover the stream.
func (s *sample) place() {
	s.next = int64(s.taken) * s.stride
	if s.stride > windowSize {
		s.next += rand.Int64N(s.stride)
	}
}

// thin doubles the stride and keeps one window of each two, at random; the next one counts as taken.
func (s *sample) thin() {
	kept := 0
	for i := 1; i < s.taken; i += 2 {
		from := i - rand.IntN(2)
		s.windows[kept], s.sizes[kept] = s.windows[from], s.sizes[from]
		kept++
	}
	switch single, second := s.taken%2 == 1, rand.IntN(2) == 1; {
	case single && !second: // the last one stays, and the next one goes
		s.windows[kept], s.sizes[kept] = s.windows[s.taken-1], s.sizes[s.taken-1]
		s.taken, s.stride = kept+1, 2*s.stride
		s.place()
		return
	case !single && second: // the one after the next stays
		s.next += s.stride
	}
	s.taken, s.stride = kept, 2*s.stride
}

// tokens estimates the tokens of the stream.
func (s *sample) tokens() float64 {
	tokens, bytes := 0, 0
	for i := range s.taken {
		tokens += Count(s.windows[i][:s.sizes[i]])
		bytes += s.sizes[i]
	}
	if bytes == 0 {
		return 0
	}
	return float64(s.bytes) * float64(tokens) / float64(bytes)
}
