package cache

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// stallTime is how long the reader of an answer may let others wait who want the same, and does not read on.
const stallTime = time.Second

// keptBody keeps what is read of an answer. It belongs to one reader.
type keptBody struct {
	io.ReadCloser
	cache   *Cache
	flight  *flight
	rule    *Rule
	request *http.Request
	entry   *entry
	stall   *time.Timer // runs while nobody reads

	mu    sync.Mutex // between reader and stall
	held  []byte
	ended bool
}

// keep makes the body of an answer one that is kept when it was read to its end.
func (c *Cache) keep(f *flight, req *http.Request, resp *http.Response, r *Rule, e *entry) {
	b := &keptBody{ReadCloser: resp.Body, cache: c, flight: f, rule: r, request: req, entry: e}
	// Others should not wait for who waits for something of their own: a place for a large answer, or a client that does not read. The next is not
	// asked to bring it either: that could be the same one.
	b.stall = time.AfterFunc(stallTime, b.stalled)
	resp.Body = b
}

// Read reads, and keeps what was read.
func (b *keptBody) Read(p []byte) (int, error) {
	b.stall.Stop()
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return n, err
	}
	b.held = append(b.held, p[:n]...)
	switch {
	case int64(len(b.held)) > b.rule.MaxBytes:
		b.land(nil, false)
	case errors.Is(err, io.EOF):
		if b.rule.Whole != nil && !b.rule.Whole(b.entry.header, b.held) {
			b.land(nil, false)
			break
		}
		b.entry.fill(b.held)
		b.land(b.entry, false)
	case err != nil:
		b.land(nil, b.request.Context().Err() != nil)
	default:
		b.stall.Reset(stallTime)
	}
	return n, err
}

// Close ends the flight where the body was not read to its end: what is not whole is never kept (P2).
func (b *keptBody) Close() error {
	b.stall.Stop()
	err := b.ReadCloser.Close()
	b.end(true)
	return err
}

// stalled is the timer's.
func (b *keptBody) stalled() {
	defer func() {
		if v := recover(); v != nil {
			b.cache.panicked("an answer that nobody reads was given up", v)
		}
	}()
	b.end(false)
}

func (b *keptBody) end(gone bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.land(nil, gone)
}

// land ends the flight. The mutex is held.
func (b *keptBody) land(e *entry, gone bool) {
	if !b.ended {
		b.ended, b.held = true, nil
		b.cache.land(b.flight, e, b.rule, gone)
	}
}
