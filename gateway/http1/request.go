package http1

import (
	"bufio"
	"bytes"
	"net/http"
	"strconv"
	"sync"

	"golang.org/x/net/http/httpguts"
)

// readers are kept, since each has a buffer.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 4<<10) }}

// Request returns the request that b begins with, and how many bytes of b it has, if it is plain: POST and a path, HTTP/1.1, lines that end in CR LF, names of headers
// with their colon right behind, one Host, one Content-Length in digits, and none of Transfer-Encoding, Expect, Upgrade, Trailer, TE and
// HTTP2-Settings; Connection may be keep-alive (RFC 9112). nil: it is not, or not whole yet.
//
// The body is read from b, which must not change until the request was served.
func Request(b []byte) (*http.Request, int) {
	head, length := plain(b)
	if head == 0 || len(b)-head < length {
		return nil, 0
	}
	br := readers.Get().(*bufio.Reader) //nolint:errcheck // nothing else is in there
	defer func() {
		br.Reset(nil)
		readers.Put(br)
	}()
	br.Reset(bytes.NewReader(b[:head]))
	r, err := http.ReadRequest(br)
	// Both must have found the same end of the head, and of the body, or one of them is wrong.
	if err != nil || br.Buffered() > 0 || r.ContentLength != int64(length) || !served(r) {
		return nil, 0
	}
	if length > 0 { // else it has none already
		r.Body = &body{bytes: bytes.NewReader(b[head : head+length])}
	}
	return r, head + length
}

// served reports whether net/http's server would serve what its reader has taken.
func served(r *http.Request) bool {
	if r.Close || !httpguts.ValidHostHeader(r.Host) {
		return false
	}
	for name, values := range r.Header {
		if !httpguts.ValidHeaderFieldName(name) {
			return false
		}
		for _, v := range values {
			if !httpguts.ValidHeaderFieldValue(v) {
				return false
			}
		}
	}
	return true
}

// plain returns the length of the head that b begins with, and that of the body which it announces; 0: it is not plain, or not whole.
func plain(b []byte) (head, length int) {
	const method, version = "POST /", " HTTP/1.1"
	line, rest, ok := cutLine(b)
	if !ok || !bytes.HasPrefix(line, []byte(method)) || !bytes.HasSuffix(line, []byte(version)) {
		return 0, 0
	}
	hosts, lengths := 0, 0
	for {
		if line, rest, ok = cutLine(rest); !ok {
			return 0, 0
		}
		if len(line) == 0 {
			break
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || !isToken(name) {
			return 0, 0
		}
		value = bytes.Trim(value, " \t")
		switch about(name) {
		case host:
			hosts++
		case contentLength:
			n, err := strconv.ParseUint(string(value), 10, 31)
			if err != nil || value[0] == '+' {
				return 0, 0
			}
			lengths, length = lengths+1, int(n)
		case connection:
			if !bytes.EqualFold(value, []byte("keep-alive")) {
				return 0, 0
			}
		case other:
			return 0, 0
		case nothing:
		}
	}
	if hosts != 1 || lengths != 1 {
		return 0, 0
	}
	return len(b) - len(rest), length
}

// cutLine cuts a line with its CR LF; ok is false if there is none, or another CR or LF.
func cutLine(b []byte) (line, rest []byte, ok bool) {
	n := bytes.IndexByte(b, '\n')
	if n < 1 || bytes.IndexByte(b[:n], '\r') != n-1 {
		return nil, nil, false
	}
	return b[:n-1], b[n+1:], true
}

func isToken(name []byte) bool {
	for _, c := range name {
		if !httpguts.IsTokenRune(rune(c)) {
			return false
		}
	}
	return len(name) > 0
}

// meaning is what a header says of how a request is read.
type meaning int

const (
	nothing meaning = iota
	host
	contentLength
	connection
	other // what only net/http knows
)

func about(name []byte) meaning {
	// All of them begin with one of five letters, and hardly any other does.
	switch name[0] | 0x20 {
	case 'h':
		switch {
		case bytes.EqualFold(name, []byte("Host")):
			return host
		case bytes.EqualFold(name, []byte("HTTP2-Settings")):
			return other
		}
	case 'c':
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			return contentLength
		case bytes.EqualFold(name, []byte("Connection")):
			return connection
		}
	case 't':
		if bytes.EqualFold(name, []byte("Transfer-Encoding")) || bytes.EqualFold(name, []byte("TE")) || bytes.EqualFold(name, []byte("Trailer")) {
			return other
		}
	case 'e':
		if bytes.EqualFold(name, []byte("Expect")) {
			return other
		}
	case 'u':
		if bytes.EqualFold(name, []byte("Upgrade")) {
			return other
		}
	}
	return nothing
}

// body is that of a request. Its bytes are the connection's, so that it ends with the request.
type body struct {
	bytes *bytes.Reader

	mu     sync.Mutex
	closed bool
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	return b.bytes.Read(p)
}

// Close implements [io.Closer].
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return nil
}
