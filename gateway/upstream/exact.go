package upstream

import (
	"context"
	"io"
	"maps"
	"net/http"
)

// net/http sends a request again by itself if the connection that it took from the
// pool ends before an answer comes, as long as the request is replayable: its
// method is GET, HEAD, OPTIONS or TRACE, or it has one of keyHeaders, and its body,
// if it has one, can be had again. That is right for nearly all of them, and wrong
// where the configuration says that a GET changes something (idempotent: false),
// and where a document makes a header of this name of an argument, by which the
// service may know nothing again.

// exactKey is the key of a context under which stands that nobody may repeat a
// request after it was written.
type exactKey struct{}

// keyHeaders are the headers by which net/http takes a request for replayable. It
// knows them in this spelling alone.
var keyHeaders = [...]string{"Idempotency-Key", "X-Idempotency-Key"}

// exact returns a request that is marked if net/http would repeat it where repeat
// forbids it, and is not if not.
func exact(req *http.Request, repeat Repeat) *http.Request {
	forbidden := repeat == Never && Idempotent(req.Method) || repeat != Once && !repeat.may(req.Method) && keyed(req.Header)
	if forbidden == isExact(req.Context()) {
		return req
	}
	// A request for a token is made within the call that needs it, and is not that call.
	return req.WithContext(context.WithValue(req.Context(), exactKey{}, forbidden))
}

func isExact(ctx context.Context) bool {
	marked, _ := ctx.Value(exactKey{}).(bool)
	return marked
}

// keyed reports whether a key would be sent. One without a value is not: it is how our own code tells net/http that
// a request, such as that for a token, may be repeated.
func keyed(h http.Header) bool {
	for _, name := range keyHeaders {
		if len(h[name]) > 0 {
			return true
		}
	}
	return false
}

// unkeyed returns a header in which net/http finds no key: it looks for the names
// as they are written here, and HTTP does not care (RFC 9110 section 5.1).
func unkeyed(h http.Header) http.Header {
	if !keyed(h) {
		return h
	}
	own := maps.Clone(h)
	for i, name := range [...]string{"idempotency-key", "x-idempotency-key"} {
		if values, ok := own[keyHeaders[i]]; ok {
			delete(own, keyHeaders[i])
			own[name] = values
		}
	}
	return own
}

// unrepeated returns a marked request as net/http does not repeat it over HTTP/1. A
// body that can't be had again is enough. One of no bytes does where there is none:
// net/http reads a byte of it first, with these methods, and sends none then. Over
// HTTP/2 it would send an empty frame, so there the watch of protocols.once does it.
func unrepeated(req *http.Request, http1 bool) *http.Request {
	own := req.WithContext(req.Context())
	own.Header = unkeyed(req.Header)
	switch {
	case req.Body != nil && req.Body != http.NoBody:
		own.GetBody = nil
	case http1 && (req.Method == http.MethodGet || req.Method == http.MethodHead || req.Method == http.MethodOptions):
		own.Body, own.GetBody, own.ContentLength = noBytes{}, nil, 0
	}
	return own
}

// noBytes is a body that net/http does not know to be empty, as it knows http.NoBody.
type noBytes struct{}

func (noBytes) Read([]byte) (int, error) { return 0, io.EOF }
func (noBytes) Close() error             { return nil }
