package cache

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// stallTime is the time after which a reader that does not continue no longer blocks the requests
// that wait for the same response.
const stallTime = time.Second

// keptBody is a response body that is stored when it has been read to its end. It has one reader.
type keptBody struct {
	io.ReadCloser
	cache   *Cache
	flight  *flight
	rule    *Rule
	request *http.Request
	entry   *entry
	stall   *time.Timer // runs between reads

	mu       sync.Mutex // guards against stall
	buffered []byte
	ended    bool
}

// keep wraps the body of a response, so that it is stored when it has been read to its end.
func (c *Cache) keep(f *flight, req *http.Request, resp *http.Response, r *Rule, e *entry) {
	b := &keptBody{ReadCloser: resp.Body, cache: c, flight: f, rule: r, request: req, entry: e}
	// Others should not wait for a reader that waits itself, for a reservation of memory or for its
	// client. No other request is asked to take over either: it could wait for the same.
	b.stall = time.AfterFunc(stallTime, b.stalled)
	resp.Body = b
}

// Read reads, and buffers what was read.
func (b *keptBody) Read(p []byte) (int, error) {
	b.stall.Stop()
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return n, err
	}
	b.buffered = append(b.buffered, p[:n]...)
	switch {
	case int64(len(b.buffered)) > b.rule.MaxBytes:
		b.finish(nil, false)
	case errors.Is(err, io.EOF):
		if b.rule.Whole != nil && !b.rule.Whole(b.entry.header, b.buffered) {
			b.finish(nil, false)
			break
		}
		b.entry.setBody(b.buffered)
		b.finish(b.entry, false)
	case err != nil:
		b.finish(nil, b.request.Context().Err() != nil)
	default:
		b.stall.Reset(stallTime)
	}
	return n, err
}

// Close ends the flight if the body was not read to its end: an incomplete response is never stored
// (P2).
func (b *keptBody) Close() error {
	b.stall.Stop()
	err := b.ReadCloser.Close()
	b.end(true)
	return err
}

// stalled is called by the timer.
func (b *keptBody) stalled() {
	defer func() {
		if v := recover(); v != nil {
			b.cache.panicked("an answer that nobody reads was given up", v)
		}
	}()
	b.end(false)
}

func (b *keptBody) end(abandoned bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.finish(nil, abandoned)
}

// finish ends the flight. The caller holds the mutex.
func (b *keptBody) finish(e *entry, abandoned bool) {
	if !b.ended {
		b.ended, b.buffered = true, nil
		b.cache.finish(b.flight, e, b.rule, abandoned)
	}
}
