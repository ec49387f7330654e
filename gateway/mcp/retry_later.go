package mcp

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"drawbridge/openapi/jsonscan"
)

// RetryLater returns an error for a temporary condition. The client may retry after a time, which is sent in whole
// seconds, rounded up, in Retry-After (RFC 9110 section 10.2.3) and in the error's data, since a response in a batch
// has no header.
func RetryLater(status int, after time.Duration, format string, args ...any) *Error {
	e := httpError(status, format, args...)
	seconds := strconv.FormatInt(max(1, int64((after+time.Second-1)/time.Second)), 10)
	e.Header = http.Header{"Retry-After": {seconds}}
	e.Data = json.RawMessage(`{"retryAfter":` + seconds + `}`)
	return e
}

// IsHandshake reports whether a method is part of the handshake or checks the connection. Rate limits don't apply to
// these.
func IsHandshake(method string) bool {
	return method == "notifications/initialized" || protocolMethods[method].handshake
}

// PeekMethod reads the method and id of a message before it reaches a [Handler], for middleware that refuses it. The
// method is "" if the body is not a single request or notification that a Handler would accept.
func PeekMethod(body []byte, maxDepth int) (method string, id json.RawMessage) {
	if isBatch(body) {
		return "", nil
	}
	e, err := parseMessage(body, maxDepth)
	if err != nil || e.isResponse {
		return "", e.id
	}
	return string(jsonscan.Unquote(e.method)), e.id
}

// WriteError answers a request that does not reach a [Handler]. The error must have an HTTPStatus.
func WriteError(w http.ResponseWriter, id json.RawMessage, e *Error) {
	h := w.Header()
	for name, values := range e.Header {
		h[name] = values
	}
	h["Content-Type"] = []string{"application/json"}
	body := []byte(`{"jsonrpc":"2.0"`)
	if id != nil {
		body = append(append(body, `,"id":`...), id...)
	}
	body = append(e.append(append(body, `,"error":`...)), '}')
	w.WriteHeader(e.HTTPStatus)
	_, _ = w.Write(body) // an error can't be reported to anyone
}
