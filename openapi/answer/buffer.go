package answer

import (
	"io"
	"sync"
)

// buffers keeps the buffers of responses between calls.
type buffers struct{ pool sync.Pool }

// buffer holds one response.
type buffer struct {
	data     []byte
	declared int // trusted part of the length that the service declares; 0 if it declares none
}

const (
	minBuffer = 4 << 10
	// A larger buffer is not kept for later responses, which are usually small.
	maxPooled = 1 << 20
	// A declared length is trusted up to trustedAtFirst before anything has arrived, and up to maxTrusted once
	// trustedAfter have arrived, so that a service can't cause large allocations by declaring much and sending little.
	trustedAtFirst = 256 << 10
	trustedAfter   = 512 << 10
	maxTrusted     = 8 << 20
)

// expect returns an empty buffer for a response of a declared length; -1 if there is none.
func (bs *buffers) expect(length int64) *buffer {
	b := bs.get(int(min(length, trustedAtFirst)))
	b.declared = int(min(length, maxTrusted))
	return b
}

// get returns an empty buffer with a capacity of at least length.
func (bs *buffers) get(length int) *buffer {
	b, _ := bs.pool.Get().(*buffer)
	if b == nil {
		b = &buffer{}
	}
	// One more byte reveals the end without growing the buffer.
	if room := max(minBuffer, length+1); cap(b.data) < room {
		b.data = make([]byte, 0, room)
	}
	b.data, b.declared = b.data[:0], 0
	return b
}

// put keeps a buffer for another response.
func (bs *buffers) put(b *buffer) {
	if cap(b.data) <= maxPooled {
		bs.pool.Put(b)
	}
}

// readFrom reads to the end. After an error the buffer holds the bytes before it.
func (b *buffer) readFrom(r io.Reader) error {
	for {
		if len(b.data) == cap(b.data) {
			if len(b.data) >= trustedAfter && b.declared >= len(b.data) {
				b.data = append(make([]byte, 0, b.declared+1), b.data...)
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
