package gateway

import (
	"bytes"
	"strconv"
)

// waitedFor is the most bytes of a first request that a connection waits for. What is larger goes on when so many are there.
const waitedFor = 8 << 10

// arrival follows the first bytes of a connection, and tells how many are worth waiting for. It decides on nothing else: whatever it takes them for,
// net/http (or TLS) reads all of them again.
type arrival struct {
	tls bool // the connection begins with a TLS record

	seen int  // bytes that were looked at
	line int  // where the line that is not whole yet begins
	body int  // bytes of the body, if odd is not set; 0: none was announced
	odd  bool // how long the body is can't be told, or it waits to be asked for
	said bool // body was announced

	whole bool // the head of a request is there
	size  int  // bytes that are waited for; 0: not known yet
}

// wants returns how many bytes are waited for, of which first are there: no more than these if the connection can go on. It is called with the same
// bytes and more.
func (a *arrival) wants(first []byte) int {
	if a.tls && a.size == 0 && len(first) > 0 {
		a.record(first)
	}
	for a.size == 0 && !a.tls {
		n := bytes.IndexByte(first[a.seen:], '\n')
		if n < 0 {
			a.seen = len(first)
			break
		}
		end := a.seen + n
		line := bytes.TrimSuffix(first[a.line:end], []byte("\r"))
		switch {
		case a.line == 0:
			a.request(line, end+1)
		case len(line) == 0:
			a.size, a.whole = end+1, true
			if !a.odd {
				a.size += a.body
			}
		default:
			a.field(line, end+1)
		}
		a.seen, a.line = end+1, end+1
	}
	if a.size == 0 {
		return min(len(first)+1, waitedFor)
	}
	return min(a.size, waitedFor)
}

// record reads the head of a TLS record: the first has the client's hello, or most of it.
func (a *arrival) record(first []byte) {
	const handshake, head = 0x16, 5
	switch {
	case first[0] != handshake:
		a.size = 1
	case len(first) >= head:
		a.size = head + int(first[3])<<8 + int(first[4])
	}
}

// request reads a first line, after which there are end bytes.
func (a *arrival) request(line []byte, end int) {
	const version, preface = " HTTP/1.", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	if n := len(line) - len(version) - 1; n >= 0 && string(line[n:n+len(version)]) == version {
		return
	}
	if a.size = end; string(line) == preface[:14] {
		a.size = len(preface)
	}
}

// field reads a line of the header, after which there are end bytes.
func (a *arrival) field(line []byte, end int) {
	name, value, ok := bytes.Cut(line, []byte(":"))
	switch {
	case line[0] == ' ', line[0] == '\t': // it goes on with the line before, which may be about the body
		a.odd = true
	case !ok:
		a.size = end // and is refused
	case bytes.EqualFold(name, []byte("Expect")), bytes.EqualFold(name, []byte("Transfer-Encoding")):
		a.odd = true
	case bytes.EqualFold(name, []byte("Content-Length")):
		n, err := strconv.ParseUint(string(bytes.Trim(value, " \t")), 10, 63)
		length := int(min(n, waitedFor))
		a.odd = a.odd || err != nil || a.said && a.body != length
		a.body, a.said = length, true
	}
}
