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

// limits bound one answer.
type limits struct {
	bytes int64 // decoded
	ratio int64 // decoded to encoded, once ratioFrom bytes are decoded
}

const (
	ratioFrom  = 64 << 10
	drainLimit = 64 << 10
	drainTime  = 50 * time.Millisecond
)

// body reads an answer to its end or fails: decoded, capped, with the errors of
// this package. Close ends the call.
type body struct {
	client   *Client
	sent     *http.Request // its context is that of the call
	cancel   context.CancelFunc
	raw      io.ReadCloser // closed before its end, it takes the connection with it
	limits   limits
	declared int64 // Content-Length; -1: unknown, or the body is encoded
	success  bool  // status below 400
	call     judged
	ended    bool // the place in the room is given up

	mu      sync.Mutex // held while reading, so that Close can't hand the decoder to another call
	decoder *decoder   // nil: the body is not encoded
	read    int64
	err     error // what all further reads return
}

// setBody replaces the body of resp by a decoded and capped one; inside tells whether the call has a place in the room.
func (c *Client) setBody(sent *http.Request, cancel context.CancelFunc, resp *http.Response, l limits, call judged, inside bool) error {
	b := &body{
		client: c, sent: sent, cancel: cancel, raw: resp.Body, limits: l, call: call, ended: !inside,
		declared: resp.ContentLength, success: resp.StatusCode < http.StatusBadRequest,
	}
	if sent.Method == http.MethodHead { // the length is that of an answer to GET
		b.declared = 0
	}
	codings, odd, err := parseCodings(resp.Header["Content-Encoding"])
	if err != nil {
		call.end(silent)
		return &Error{Kind: Protocol, API: c.name, Err: err}
	}
	if odd != "" && c.oddCoding != nil {
		c.oddCoding()
	}
	if codings != identity {
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		// An answer to HEAD, 204 and 304 may name a coding too. Of tracing no body is NoBody.
		if sent.Method != http.MethodHead && resp.ContentLength != 0 && resp.Body != http.NoBody {
			b.decoder = c.decoders.get(codings, resp.Body, l.bytes+encodedMore)
			// Where only the connection ends an answer, one without a byte is one that was cut off.
			b.decoder.some = resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 && resp.ProtoMajor == 1
			b.declared = -1
			resp.ContentLength = -1
		}
		resp.Uncompressed = true
	}
	resp.Body = b
	return nil
}

// Read reads decoded bytes. Whatever goes wrong, the connection is given up.
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
		return 0, b.fail(&Error{Kind: TooLarge, API: b.client.name,
			Err: fmt.Errorf("answer of %d bytes, more than %d", b.declared, b.limits.bytes)})
	}
	// One byte more than allowed tells "at the limit" from "over it".
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
		return 0, b.fail(&Error{Kind: TooLarge, API: b.client.name,
			Err: fmt.Errorf("answer of more than %d bytes", b.limits.bytes)})
	}
	if b.decoder != nil && b.limits.ratio > 0 && b.read > ratioFrom && b.read > b.limits.ratio*b.decoder.encoded {
		return 0, b.fail(&Error{Kind: TooLarge, API: b.client.name,
			Err: fmt.Errorf("answer of %d bytes out of %d, more than %d to 1", b.read, b.decoder.encoded, b.limits.ratio)})
	}
	switch {
	case err == nil:
	case errors.Is(err, io.EOF) && b.declared < 0 && b.sent.Context().Err() != nil:
		// As in Client.try: nothing but the service says where this answer ends, which may have stopped since we did.
		return n, b.fail(b.client.bodyError(b.sent.Context(), context.Cause(b.sent.Context())))
	case errors.Is(err, io.EOF):
		b.err = io.EOF
		b.call.end(well)
	case errors.Is(err, errEncoded):
		return 0, b.fail(&Error{Kind: TooLarge, API: b.client.name, Err: err})
	default:
		return n, b.fail(b.client.bodyError(b.sent.Context(), err))
	}
	return n, b.err
}

// Received returns how many bytes were read, after decompression.
func (b *body) Received() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.read
}

// fail makes err the last word and gives the connection up.
func (b *body) fail(err *Error) error {
	b.err = err
	b.call.end(verdictOf(err.Kind))
	b.raw.Close()
	b.cancel()
	return err
}

// Close ends the call. What little is left of an answer of known length is
// read, so that the connection can be used again; otherwise it is closed.
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
	if live { // nobody wanted the rest; what came was well
		b.call.end(well)
	}
	b.call.end(silent)
	if !b.ended {
		b.ended = true
		b.client.leave()
	}
	return err
}

// drain brings the body to its end if that is near. A service that is slow with
// the rest does not hold up the caller: its connection is closed.
func (b *body) drain() {
	if !b.mu.TryLock() {
		return
	}
	defer b.mu.Unlock()
	if left := b.declared - b.read; b.err == nil && 0 < left && left <= drainLimit {
		timer := time.AfterFunc(drainTime, func() { b.raw.Close() })
		_, _ = io.CopyN(io.Discard, b.raw, left) // if it fails, Close gives the connection up
		timer.Stop()
	}
}
