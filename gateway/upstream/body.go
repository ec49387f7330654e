package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// limits are the size limits of a response.
type limits struct {
	bytes int64 // decoded
	ratio int64 // decoded to encoded, once ratioFrom bytes are decoded
}

const (
	ratioFrom  = 64 << 10
	drainLimit = 64 << 10
	drainTime  = 50 * time.Millisecond
)

// body is a response body: decoded, limited, and with errors of this package. Close ends the call.
type body struct {
	client   *Client
	sent     *http.Request // its context is that of the call
	cancel   context.CancelFunc
	raw      io.ReadCloser // closing it before its end closes the connection
	limits   limits
	declared int64 // Content-Length; -1 if unknown or if the body is encoded
	success  bool  // status below 400
	call     pendingOutcome
	released bool // the bulkhead slot was released

	mu      sync.Mutex // held while reading, so that Close can't give the decoder to another call
	decoder *decoder   // nil if the body is not encoded
	read    int64
	err     error // returned by all further reads
}

// setBody replaces the body of resp by a decoded and limited one; holdsSlot reports whether the
// call holds a bulkhead slot.
func (c *Client) setBody(sent *http.Request, cancel context.CancelFunc, resp *http.Response, l limits, call pendingOutcome, holdsSlot bool) error {
	b := &body{
		client: c, sent: sent, cancel: cancel, raw: resp.Body, limits: l, call: call, released: !holdsSlot,
		declared: resp.ContentLength, success: resp.StatusCode < http.StatusBadRequest,
	}
	if sent.Method == http.MethodHead { // the length is that of a response to GET
		b.declared = 0
	}
	codings, unknownCoding, err := parseCodings(resp.Header["Content-Encoding"])
	if err != nil {
		call.report(unknown)
		return &Error{Kind: Protocol, API: c.name, Err: err}
	}
	if unknownCoding != "" && c.onUnknownCoding != nil {
		c.onUnknownCoding()
	}
	if codings != identity {
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		// Responses to HEAD, 204 and 304 may have a coding too. With tracing, an empty body is not
		// NoBody.
		if sent.Method != http.MethodHead && resp.ContentLength != 0 && resp.Body != http.NoBody {
			b.decoder = c.decoders.get(codings, resp.Body, l.bytes+encodedSlack)
			// If the response ends with the connection, an empty one was truncated.
			b.decoder.nonEmpty = resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 && resp.ProtoMajor == 1
			b.declared = -1
			resp.ContentLength = -1
		}
		resp.Uncompressed = true
	}
	resp.Body = b
	return nil
}

// Read reads decoded bytes. After any error the connection is closed.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return 0, b.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if b.declared > b.limits.bytes && b.success {
		return 0, b.fail(&Error{Kind: TooLarge, API: b.client.name, Size: b.declared, Limit: b.limits.bytes,
			Err: fmt.Errorf("answer of %d bytes, more than %d", b.declared, b.limits.bytes)})
	}
	// One byte more than the limit distinguishes "at the limit" from "over it".
	if room := b.limits.bytes - b.read + 1; int64(len(p)) > room {
		p = p[:room]
	}
	var n int
	var err error
	if b.decoder != nil {
		n, err = b.decoder.Read(p)
	} else {
		n, err = b.raw.Read(p)
	}
	b.read += int64(n)
	if b.read > b.limits.bytes {
		return 0, b.fail(&Error{Kind: TooLarge, API: b.client.name, Limit: b.limits.bytes,
			Err: fmt.Errorf("answer of more than %d bytes", b.limits.bytes)})
	}
	if b.decoder != nil && b.limits.ratio > 0 && b.read > ratioFrom && b.read > b.limits.ratio*b.decoder.encoded {
		return 0, b.fail(&Error{Kind: TooLarge, API: b.client.name,
			Err: fmt.Errorf("answer of %d bytes out of %d, more than %d to 1", b.read, b.decoder.encoded, b.limits.ratio)})
	}
	switch {
	case err == nil:
	case errors.Is(err, io.EOF) && b.declared < 0 && b.sent.Context().Err() != nil:
		// As in Client.try: only the service knows where this response ends, and it may have
		// stopped because the call was canceled.
		return n, b.fail(b.client.bodyError(b.sent.Context(), context.Cause(b.sent.Context())))
	case errors.Is(err, io.EOF):
		b.err = io.EOF
		b.call.report(success)
	case errors.Is(err, errEncoded):
		return 0, b.fail(&Error{Kind: TooLarge, API: b.client.name, Limit: b.limits.bytes, Err: err})
	default:
		return n, b.fail(b.client.bodyError(b.sent.Context(), err))
	}
	return n, b.err
}

// SetLimit replaces the maximum size of the response, in bytes, for what is read from now on, and returns the one before. A response that is
// not kept in memory may be larger than others.
func (b *body) SetLimit(bytes int64) (before int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before, b.limits.bytes = b.limits.bytes, bytes
	if b.decoder != nil {
		b.decoder.maxEncoded = bytes + encodedSlack
	}
	return before
}

// Received returns the number of bytes read, after decompression.
func (b *body) Received() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.read
}

// fail makes err permanent and closes the connection.
func (b *body) fail(err *Error) error {
	b.err = err
	b.call.report(outcomeOfError(err.Kind))
	b.raw.Close()
	b.cancel()
	return err
}

// Close ends the call. A short remainder of a response with known length is read, so that the
// connection can be reused; otherwise the connection is closed.
func (b *body) Close() error {
	live := b.sent.Context().Err() == nil
	if live {
		b.drain()
	}
	err := b.raw.Close() // before the lock: this ends a read in another goroutine
	b.cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.decoder != nil {
		b.client.decoders.put(b.decoder)
		b.decoder = nil
	}
	if b.err == nil || errors.Is(b.err, io.EOF) {
		b.err = http.ErrBodyReadAfterClose
	}
	if live { // the rest was not needed; the response was healthy so far
		b.call.report(success)
	}
	b.call.report(unknown)
	if !b.released {
		b.released = true
		b.client.release()
	}
	return err
}

// drain reads the body to its end if that is near. If the service is slow, the connection is closed
// instead of blocking the caller.
func (b *body) drain() {
	if !b.mu.TryLock() {
		return
	}
	defer b.mu.Unlock()
	if left := b.declared - b.read; b.err == nil && 0 < left && left <= drainLimit {
		timer := time.AfterFunc(drainTime, func() { b.raw.Close() })
		_, _ = io.CopyN(io.Discard, b.raw, left) // if it fails, Close closes the connection
		timer.Stop()
	}
}
