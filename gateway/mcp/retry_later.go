package mcp

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"drawbridge/openapi/jsonscan"
)

// Later is a refusal that need not last: the client may come again after a time, which
// the header tells in whole seconds, rounded up (RFC 9110 section 10.2.3), and the data of
// the error too: a batch has no header for one of its answers.
func RetryLater(status int, after time.Duration, format string, args ...any) *Error {
	e := httpError(status, format, args...)
	seconds := strconv.FormatInt(max(1, int64((after+time.Second-1)/time.Second)), 10)
	e.Header = http.Header{"Retry-After": {seconds}}
	e.Data = json.RawMessage(`{"retryAfter":` + seconds + `}`)
	return e
}

// IsHandshake tells whether a method is one by which a client gets to know the server,
// or sees whether it is still there. Limits of rate spare them.
func IsHandshake(method string) bool {
	switch method {
	case "initialize", "notifications/initialized", "ping", "server/discover":
		return true
	}
	return false
}

// Peek reads method and id of a message that nobody has looked at yet, for who has to
// refuse it before its time; "" if it is no single message that [Handler] would take.
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

// Refuse answers a request that does not get as far as a [Handler]. The status is that of
// the error, which must have one.
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
	_, _ = w.Write(body) // there is nobody left to tell
}
