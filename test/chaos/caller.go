package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"drawbridge/test/wire"
)

// revisions are all that the gateway speaks.
var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", wire.Modern}

// caller calls tools on one connection, which it opens anew when the server has said that it closes it. Nothing is tried
// twice: a connection that is gone is a call that failed.
type caller struct {
	client *wire.Client
	from   net.IP // the address to call from; nil: the system's choice
	to     string // where to connect to; "": client.Host
	conn   *wire.Conn
	used   time.Time // when conn was, at last
}

// longestRest is shorter than what the gateway lets a connection rest (90 s): one that it has closed is no failure of its.
const longestRest = time.Minute

// errTool is the error of a call whose result has isError.
var errTool = errors.New("isError")

// refusal is the error of a call that was refused with a status.
type refusal struct {
	status int
	after  string // Retry-After
	body   string
}

func (r *refusal) Error() string { return fmt.Sprintf("status %d: %.200s", r.status, r.body) }

func (c *caller) dial() (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second}
	if c.from != nil {
		d.LocalAddr = &net.TCPAddr{IP: c.from}
	}
	to := c.to
	if to == "" {
		to = c.client.Host
	}
	return d.Dial("tcp", to)
}

func (c *caller) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// exchange sends a request and returns the status and the message of the answer.
func (c *caller) exchange(request string) (wire.Answer, []byte, error) {
	if c.conn != nil && time.Since(c.used) > longestRest {
		c.close()
	}
	if c.conn == nil {
		conn, err := c.dial()
		if err != nil {
			return wire.Answer{}, nil, err
		}
		c.conn = wire.New(conn)
	}
	a, err := c.conn.Exchange([]byte(request))
	if err != nil {
		c.close()
		return a, nil, err
	}
	c.used = time.Now()
	if a.Closing {
		c.close()
	}
	return a, message(a.Body), nil
}

// call calls a tool and returns the text of its result. The error is a refusal, errTool with the text, or what went wrong
// with the connection; what is no answer to this call is an error.
func (c *caller) call(tool string, id int, arguments string) (string, error) {
	a, body, err := c.exchange(c.client.Call(tool, strconv.Itoa(id), arguments))
	if err != nil {
		return "", err
	}
	if a.Status != 200 {
		return "", &refusal{a.Status, a.RetryAfter, string(body)}
	}
	var reply struct {
		ID     json.Number
		Error  *struct{ Message string }
		Result *struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	switch err := json.Unmarshal(body, &reply); {
	case err != nil:
		return "", fmt.Errorf("the answer is no JSON: %w: %.200s", err, body)
	case reply.ID.String() != strconv.Itoa(id):
		return "", fmt.Errorf("the answer has another id: %.200s", body)
	case reply.Error != nil:
		return "", &refusal{a.Status, a.RetryAfter, reply.Error.Message}
	case reply.Result == nil || len(reply.Result.Content) == 0:
		return "", fmt.Errorf("the answer has no content: %.200s", body)
	case reply.Result.IsError:
		return reply.Result.Content[0].Text, errTool
	}
	return reply.Result.Content[0].Text, nil
}

// message is the last JSON-RPC message of a body, which may be a stream of events.
func message(body []byte) []byte {
	if !bytes.HasPrefix(body, []byte("event:")) && !bytes.HasPrefix(body, []byte("data:")) && !bytes.HasPrefix(body, []byte(":")) && !bytes.HasPrefix(body, []byte("id:")) {
		return body
	}
	var last []byte
	for line := range bytes.Lines(body) {
		if data, found := bytes.CutPrefix(line, []byte("data:")); found && len(bytes.TrimSpace(data)) > 0 {
			last = bytes.TrimSpace(data)
		}
	}
	return last
}

// newCaller makes a connected client of a revision.
func newCaller(host, revision, token string) (*caller, error) {
	c := &caller{client: &wire.Client{Host: host, Revision: revision, Token: token}}
	return c, c.client.Connect()
}
