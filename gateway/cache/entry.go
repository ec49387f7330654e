package cache

import (
	"bytes"
	"container/list"
	"io"
	"net/http"
	"time"
)

// entry is a kept answer. It is immutable but for its places in the lists, which the mutex of the store guards.
type entry struct {
	key   key
	place place
	owner string

	status   int
	header   http.Header
	body     []byte
	length   int64 // of the body; that of an answer to GET, if this is one to HEAD
	lifetime time.Duration
	age      time.Duration // when it was received
	received time.Time
	size     int64

	// until, if set, tells that there is no answer here: until then, requests need not wait for each other, since the last answer
	// could not be kept.
	until time.Time

	order, own *list.Element
}

// notKept are headers of one connection (RFC 9110 section 7.6.1), and those that are nobody else's.
var notKept = []string{"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Set-Cookie", "Set-Cookie2"}

// newEntry makes an entry of the head of an answer.
func (f *flight) newEntry(resp *http.Response, lifetime time.Duration, said bool, asked, received time.Time) *entry {
	e := &entry{key: f.key, place: f.place, owner: f.owner, status: resp.StatusCode, header: resp.Header.Clone(), length: resp.ContentLength, lifetime: lifetime, received: received}
	for _, name := range notKept {
		delete(e.header, name)
	}
	if said { // else the time is the operator's, and begins here
		e.age = age(resp.Header, asked, received)
	}
	return e
}

// fill gives the entry its body.
func (e *entry) fill(body []byte) {
	e.body = bytes.Clone(body)
	e.weigh()
}

// What an entry takes besides its text, about, as measured: by itself with its places in the maps and lists, in the list of an owner, and for a head.
const (
	entryBytes  = 800
	ownerBytes  = 256
	headerBytes = 400
)

// weigh works out the bytes that the entry takes, about.
func (e *entry) weigh() {
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

// freshened is the entry with what an answer of 304 says of it (section 4.3.4).
func (e *entry) freshened(resp *http.Response, rule *Rule, asked, received time.Time) (_ *entry, ok bool) {
	header := e.header.Clone()
	for name, values := range resp.Header {
		switch name {
		case "Content-Length", "Content-Encoding", "Content-Type", "Content-Range":
		default:
			header[name] = values
		}
	}
	if len(resp.Header["Date"]) == 0 {
		delete(header, "Date") // it came when it was received (RFC 9110 section 6.6.1)
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
		next.age = age(resp.Header, asked, received)
	}
	next.weigh()
	return next, true
}

// isFresh tells whether the entry can answer without the service (section 4.2).
func (e *entry) isFresh(now time.Time) bool {
	return e.until.IsZero() && e.age+now.Sub(e.received) < e.lifetime
}

// response makes an answer of the entry. It shares nothing that is written to with others.
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
