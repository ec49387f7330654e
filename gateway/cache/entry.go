package cache

import (
	"bytes"
	"container/list"
	"io"
	"net/http"
	"time"
)

// entry is a stored response. It is immutable except for its list elements, which the mutex of the
// store guards.
type entry struct {
	key   key
	place place
	owner string

	status   int
	header   http.Header
	body     []byte
	length   int64 // of the body; that of a response to GET, if this is one to HEAD
	lifetime time.Duration
	age      time.Duration // at the time of receipt
	received time.Time
	size     int64

	// until, if set, marks an entry without response: until then requests do not wait for each
	// other, because the last response could not be stored.
	until time.Time

	order, own *list.Element
}

// notKept are headers that are not stored: those of one connection (RFC 9110 section 7.6.1), and
// those for one client.
var notKept = []string{"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Set-Cookie", "Set-Cookie2"}

// newEntry creates an entry from a response header.
func (f *flight) newEntry(resp *http.Response, lifetime time.Duration, said bool, requested, received time.Time) *entry {
	e := &entry{key: f.key, place: f.place, owner: f.owner, status: resp.StatusCode, header: resp.Header.Clone(), length: resp.ContentLength, lifetime: lifetime, received: received}
	for _, name := range notKept {
		delete(e.header, name)
	}
	if said { // otherwise the lifetime is configured, and starts now
		e.age = age(resp.Header, requested, received)
	}
	return e
}

// setBody sets the body.
func (e *entry) setBody(body []byte) {
	e.body = bytes.Clone(body)
	e.computeSize()
}

// Approximate memory use besides the text, as measured: of an entry, of its element in an owner's
// list, and of a header.
const (
	entryBytes  = 800
	ownerBytes  = 256
	headerBytes = 400
)

// computeSize computes the approximate memory use.
func (e *entry) computeSize() {
	e.size = entryBytes + int64(len(e.body)) + int64(len(e.place.path)) + int64(len(e.place.origin))
	if e.owner != "" {
		e.size += ownerBytes + int64(len(e.owner))
	}
	if len(e.header) > 0 {
		e.size += headerBytes
	}
	for name, values := range e.header {
		e.size += int64(len(name)) + 96
		for _, value := range values {
			e.size += int64(len(value)) + 16
		}
	}
}

// freshened returns the entry updated by a 304 response (RFC 9111 section 4.3.4).
func (e *entry) freshened(resp *http.Response, rule *Rule, requested, received time.Time) (_ *entry, ok bool) {
	header := e.header.Clone()
	for name, values := range resp.Header {
		switch name {
		case "Content-Length", "Content-Encoding", "Content-Type", "Content-Range":
		default:
			header[name] = values
		}
	}
	if len(resp.Header["Date"]) == 0 {
		delete(header, "Date") // the time of receipt counts (RFC 9110 section 6.6.1)
	}
	whole := &http.Response{StatusCode: e.status, Header: header, ContentLength: e.length, ProtoMajor: 1}
	lifetime, said, ok := rule.storable(whole, received)
	if !ok {
		return nil, false
	}
	next := &entry{key: e.key, place: e.place, owner: e.owner, status: e.status, header: header, body: e.body, length: e.length, lifetime: lifetime, received: received}
	for _, name := range notKept {
		delete(next.header, name)
	}
	if said {
		next.age = age(resp.Header, requested, received)
	}
	next.computeSize()
	return next, true
}

// isFresh reports whether the entry can be used without the service (RFC 9111 section 4.2).
func (e *entry) isFresh(now time.Time) bool {
	return e.until.IsZero() && e.age+now.Sub(e.received) < e.lifetime
}

// response returns a response with copies of all that may be modified.
func (e *entry) response(req *http.Request) *http.Response {
	return &http.Response{
		Status: http.StatusText(e.status), StatusCode: e.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: e.header.Clone(),
		Body: io.NopCloser(bytes.NewReader(e.body)), ContentLength: e.answerLength(req), Request: req,
	}
}

func (e *entry) answerLength(req *http.Request) int64 {
	if req.Method == http.MethodHead {
		return e.length
	}
	return int64(len(e.body))
}
