package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// conn is the lean half of an HTTP/1.1 client: one request, one answer, on one kept connection. net/http's client
// would take more processor time than the servers that are measured, on the two cores that all of them share.
type conn struct {
	net  net.Conn
	in   *bufio.Reader
	body []byte
}

// answer is what came back; Body is valid until the next exchange.
type httpAnswer struct {
	status  int
	gzip    bool
	session string // Mcp-Session-Id
	first   time.Time
	body    []byte
}

func dial(address string) (*conn, error) {
	c, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &conn{net: c, in: bufio.NewReaderSize(c, 64<<10)}, nil
}

func (c *conn) close() { c.net.Close() }

// exchange sends request as it is and reads the answer.
func (c *conn) exchange(request []byte) (httpAnswer, error) {
	if err := c.net.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return httpAnswer{}, err
	}
	if _, err := c.net.Write(request); err != nil {
		return httpAnswer{}, fmt.Errorf("send: %w", err)
	}
	return c.read()
}

var (
	headerLength  = []byte("content-length")
	headerCoding  = []byte("transfer-encoding")
	headerGzip    = []byte("content-encoding")
	headerSession = []byte("mcp-session-id")
	errTooLong    = errors.New("header line is too long")
)

func (c *conn) read() (a httpAnswer, err error) {
	line, err := c.line()
	if err != nil {
		return a, fmt.Errorf("read status: %w", err)
	}
	a.first = time.Now()
	if len(line) < 12 {
		return a, fmt.Errorf("status line %q is too short", line)
	}
	if a.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return a, fmt.Errorf("status line %q has no code", line)
	}
	length, chunked := -1, false
	for {
		if line, err = c.line(); err != nil {
			return a, fmt.Errorf("read header: %w", err)
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, headerLength):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return a, fmt.Errorf("content length %q: %w", value, err)
			}
		case bytes.EqualFold(name, headerCoding):
			chunked = bytes.EqualFold(value, []byte("chunked"))
		case bytes.EqualFold(name, headerGzip):
			a.gzip = bytes.EqualFold(value, []byte("gzip"))
		case bytes.EqualFold(name, headerSession):
			a.session = string(value)
		}
	}
	c.body = c.body[:0]
	switch {
	case chunked:
		err = c.chunks()
	case length >= 0:
		err = c.take(length)
	case a.status != 202 && a.status != 204:
		err = errors.New("answer has neither length nor chunks")
	}
	a.body = c.body
	if err != nil {
		return a, fmt.Errorf("read body: %w", err)
	}
	return a, nil
}

func (c *conn) chunks() error {
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(string(line), 16, 31)
		if err != nil {
			return fmt.Errorf("chunk size %q: %w", line, err)
		}
		if err := c.take(int(n)); err != nil {
			return err
		}
		if line, err = c.line(); err != nil || len(line) != 0 {
			return fmt.Errorf("chunk ends with %q: %w", line, err)
		}
		if n == 0 {
			return nil
		}
	}
}

func (c *conn) take(n int) error {
	at := len(c.body)
	if cap(c.body)-at < n {
		c.body = append(make([]byte, 0, 2*(at+n)), c.body...)
	}
	c.body = c.body[:at+n]
	_, err := io.ReadFull(c.in, c.body[at:])
	return err
}

func (c *conn) line() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, errTooLong
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}
