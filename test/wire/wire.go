package wire

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

// Conn is one kept connection: one request, one answer. It is for one goroutine at a time.
type Conn struct {
	net  net.Conn
	in   *bufio.Reader
	body []byte
}

// Answer is what came back.
type Answer struct {
	Status     int
	Gzip       bool      // Content-Encoding
	Session    string    // Mcp-Session-Id
	RetryAfter string    // as it came
	Closing    bool      // the server closes the connection after it
	First      time.Time // when it began to arrive
	Body       []byte    // valid until the next exchange
}

// Dial connects to host:port.
func Dial(address string) (*Conn, error) {
	c, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return New(c), nil
}

// New speaks on a connection that is there.
func New(c net.Conn) *Conn {
	return &Conn{net: c, in: bufio.NewReaderSize(c, 64<<10)}
}

// Close closes the connection.
func (c *Conn) Close() { c.net.Close() }

// Exchange sends request as it is and reads the answer, within 30 s.
func (c *Conn) Exchange(request []byte) (Answer, error) {
	if err := c.net.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return Answer{}, err
	}
	if err := c.Send(request); err != nil {
		return Answer{}, err
	}
	return c.read()
}

// Send sends request and reads nothing, for clients that go away.
func (c *Conn) Send(request []byte) error {
	if _, err := c.net.Write(request); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}

var (
	headerLength  = []byte("content-length")
	headerCoding  = []byte("transfer-encoding")
	headerGzip    = []byte("content-encoding")
	headerSession = []byte("mcp-session-id")
	headerRetry   = []byte("retry-after")
	headerClosing = []byte("connection")
	errTooLong    = errors.New("header line is too long")
)

func (c *Conn) read() (a Answer, err error) {
	line, err := c.line()
	if err != nil {
		return a, fmt.Errorf("read status: %w", err)
	}
	a.First = time.Now()
	if len(line) < 12 {
		return a, fmt.Errorf("status line %q is too short", line)
	}
	if a.Status, err = strconv.Atoi(string(line[9:12])); err != nil {
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
			a.Gzip = bytes.EqualFold(value, []byte("gzip"))
		case bytes.EqualFold(name, headerSession):
			a.Session = string(value)
		case bytes.EqualFold(name, headerRetry):
			a.RetryAfter = string(value)
		case bytes.EqualFold(name, headerClosing):
			a.Closing = bytes.EqualFold(value, []byte("close"))
		}
	}
	c.body = c.body[:0]
	switch {
	case chunked:
		err = c.chunks()
	case length >= 0:
		err = c.take(length)
	case a.Status != 202 && a.Status != 204:
		err = errors.New("answer has neither length nor chunks")
	}
	a.Body = c.body
	if err != nil {
		return a, fmt.Errorf("read body: %w", err)
	}
	return a, nil
}

func (c *Conn) chunks() error {
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

func (c *Conn) take(n int) error {
	at := len(c.body)
	if cap(c.body)-at < n {
		c.body = append(make([]byte, 0, 2*(at+n)), c.body...)
	}
	c.body = c.body[:at+n]
	_, err := io.ReadFull(c.in, c.body[at:])
	return err
}

func (c *Conn) line() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, errTooLong
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}
