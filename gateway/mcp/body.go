package mcp

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// readBody reads the body. The buffer is not pooled: a method may pass parts of it to another layer, and a part that
// outlives its request must never hold another caller's data. The server limits how slowly a body may arrive: reading
// then fails with [os.ErrDeadlineExceeded].
func (x *exchange) readBody() ([]byte, *Error) {
	r, limit := x.req.HTTP, x.h.reloadable.Load().MaxBody
	tooLarge := func() *Error {
		return httpError(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", limit)
	}
	if r.ContentLength > limit {
		return nil, tooLarge()
	}
	// One more byte sees the end without another read. Memory is allocated for what has arrived, not for the announced
	// length.
	size := int64(8 << 10)
	if r.ContentLength >= 0 {
		size = min(size, r.ContentLength+1)
	}
	body := make([]byte, 0, size)
	for {
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > limit:
			return nil, tooLarge()
		case err == io.EOF:
			return body, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			e := httpError(http.StatusRequestTimeout, "the body did not arrive in time")
			e.Header = http.Header{"Connection": {"close"}}
			return nil, e
		case err != nil:
			return nil, httpError(http.StatusBadRequest, "the body can't be read")
		}
		if len(body) == cap(body) {
			if len(body) >= largeBody && x.h.o.LowMemory != nil && x.h.o.LowMemory(r) {
				return nil, RetryLater(http.StatusServiceUnavailable, time.Second, "there is no room for large requests: come again in 1 second")
			}
			body = append(body, 0)[:len(body)]
		}
	}
}

// largeBody is the maximum size of a body in bytes while memory is short.
const largeBody = 64 << 10
