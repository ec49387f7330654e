package upstream

import (
	"context"
	"io"
	"maps"
	"net/http"
)

// net/http retries a request by itself if its pooled connection ends before the response, as long
// as the request is replayable: its method is GET, HEAD, OPTIONS or TRACE, or it has one of
// keyHeaders, and its body, if any, has GetBody. That is wrong if the configuration declares that a
// GET has side effects (idempotent: false), or if an argument is a header of such a name, which the
// service may not treat as an idempotency key.

// noReplayKey is the context key that marks a request that must not be sent again after it was
// written.
type noReplayKey struct{}

// keyHeaders are the headers that make a request replayable for net/http, which only knows this
// spelling.
var keyHeaders = [...]string{"Idempotency-Key", "X-Idempotency-Key"}

// markNoReplay marks a request that net/http would retry where the policy forbids it, and removes
// the mark from others.
func markNoReplay(req *http.Request, repeat RetryPolicy) *http.Request {
	forbidden := repeat == RetryNever && Idempotent(req.Method) || repeat != NoRetry && !repeat.allows(req.Method) && hasIdempotencyKey(req.Header)
	if forbidden == isNoReplay(req.Context()) {
		return req
	}
	// A token request is made within the context of the call that needs it, and must not inherit
	// the mark.
	return req.WithContext(context.WithValue(req.Context(), noReplayKey{}, forbidden))
}

func isNoReplay(ctx context.Context) bool {
	marked, _ := ctx.Value(noReplayKey{}).(bool)
	return marked
}

// hasIdempotencyKey reports whether a key would be sent. A header without a value is not sent;
// internal code uses it to allow net/http a retry, such as of a token request.
func hasIdempotencyKey(h http.Header) bool {
	for _, name := range keyHeaders {
		if len(h[name]) > 0 {
			return true
		}
	}
	return false
}

// hideIdempotencyKey returns a header in which net/http finds no key: net/http compares the names
// with case, HTTP without (RFC 9110 section 5.1).
func hideIdempotencyKey(h http.Header) http.Header {
	if !hasIdempotencyKey(h) {
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

// nonReplayable returns a marked request that net/http does not retry over HTTP/1. A body without
// GetBody suffices. Without a body, an empty one of unknown length does: net/http reads a byte of
// it first, with these methods, and then sends none. Over HTTP/2 it would send an empty frame, so
// the resendGuard of protocols.preventReplay is used there.
func nonReplayable(req *http.Request, http1 bool) *http.Request {
	own := req.WithContext(req.Context())
	own.Header = hideIdempotencyKey(req.Header)
	switch {
	case req.Body != nil && req.Body != http.NoBody:
		own.GetBody = nil
	case http1 && (req.Method == http.MethodGet || req.Method == http.MethodHead || req.Method == http.MethodOptions):
		own.Body, own.GetBody, own.ContentLength = noBytes{}, nil, 0
	}
	return own
}

// noBytes is an empty body that net/http does not recognize as empty, unlike http.NoBody.
type noBytes struct{}

func (noBytes) Read([]byte) (int, error) { return 0, io.EOF }
func (noBytes) Close() error             { return nil }
