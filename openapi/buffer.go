package openapi

import (
	"io"
	"sync"
)

// buffers keeps the buffers of answers between calls; all operations of an API share one.
type buffers struct{ pool sync.Pool }

// A buffer holds one answer.
type buffer struct {
	data []byte
	// promised is how many bytes the answer will have, as its service says; 0: it does not, or is not believed.
	promised int
}

const (
	smallestBuffer = 4 << 10
	// A buffer that one large answer has grown is not kept: the next million answers are small.
	largestKept = 1 << 20
	// What a service promises is believed up to firstTrusted before it has sent anything, and up to largestTrusted when it has sent as much as
	// laterTrusted: who promises much and sends little must not make memory of it.
	firstTrusted   = 256 << 10
	laterTrusted   = 512 << 10
	largestTrusted = 8 << 20
)

// expect returns an empty buffer for an answer that is said to have that length; -1: unknown.
func (bs *buffers) expect(length int64) *buffer {
	b := bs.get(int(min(length, firstTrusted)))
	b.promised = int(min(length, largestTrusted))
	return b
}

// get returns an empty buffer with room for so many bytes.
func (bs *buffers) get(length int) *buffer {
	b, _ := bs.pool.Get().(*buffer)
	if b == nil {
		b = &buffer{}
	}
	// One byte more, so that the end is seen without growing.
	if room := max(smallestBuffer, length+1); cap(b.data) < room {
		b.data = make([]byte, 0, room)
	}
	b.data, b.promised = b.data[:0], 0
	return b
}

func (bs *buffers) put(b *buffer) {
	if cap(b.data) <= largestKept {
		bs.pool.Put(b)
	}
}

// readFrom reads to the end. After an error the buffer holds what came before it.
func (b *buffer) readFrom(r io.Reader) error {
	for {
		if len(b.data) == cap(b.data) {
			if len(b.data) >= laterTrusted && b.promised >= len(b.data) {
				b.data = append(make([]byte, 0, b.promised+1), b.data...)
			} else {
				b.data = append(b.data, 0)[:len(b.data)]
			}
		}
		n, err := r.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
