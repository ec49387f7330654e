package balance

import (
	"errors"
	"io"
	"sync/atomic"
)

// judgedBody is the body of a response that tells how reading it ended.
type judgedBody struct {
	io.ReadCloser
	ended func(err error) // called at most once, with nil at the end of the body
	done  bool
}

// Read implements [io.Reader].
func (b *judgedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !b.done {
		b.done = true
		if errors.Is(err, io.EOF) {
			b.ended(nil)
		} else {
			b.ended(err)
		}
	}
	return n, err
}

// unsentBody is the body of a request until something of it is read, or the request has a response. Until then it can be
// closed without effect.
type unsentBody struct {
	io.ReadCloser
	touched, closed atomic.Bool
}

// Read implements [io.Reader].
func (b *unsentBody) Read(p []byte) (int, error) {
	b.touched.Store(true)
	return b.ReadCloser.Read(p)
}

// Close implements [io.Closer].
func (b *unsentBody) Close() error {
	b.closed.Store(true)
	if b.touched.Load() {
		return b.ReadCloser.Close()
	}
	return nil
}

// settle tells that no other instance gets the body.
func (b *unsentBody) settle() {
	if b.ReadCloser == nil {
		return
	}
	b.touched.Store(true)
	if b.closed.Load() {
		b.ReadCloser.Close()
	}
}
