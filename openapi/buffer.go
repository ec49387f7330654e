package openapi

import (
	"io"
	"sync"
)

// buffers keeps the buffers of answers between calls; all operations of an API share one.
type buffers struct{ pool sync.Pool }

// A buffer holds one answer.
type buffer struct{ data []byte }

const (
	smallestBuffer = 4 << 10
	// A buffer that one large answer has grown is not kept: the next million answers are small.
	largestKept = 1 << 20
	// What a service promises is believed up to here before it has sent it.
	largestTrusted = 8 << 20
)

// get returns an empty buffer with room for an answer of that length; -1: unknown.
func (bs *buffers) get(length int64) *buffer {
	b, _ := bs.pool.Get().(*buffer)
	if b == nil {
		b = &buffer{}
	}
	// One byte more, so that the end is seen without growing.
	if room := max(smallestBuffer, int(min(length, largestTrusted))+1); cap(b.data) < room {
		b.data = make([]byte, 0, room)
	}
	b.data = b.data[:0]
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
			b.data = append(b.data, 0)[:len(b.data)]
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
