package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"drawbridge/test/process"
	"drawbridge/test/wire"
)

// target is one way to the same operation. Requests and answers are split where the call's number stands, so that
// making one and verifying the other is copying and comparing bytes.
type target struct {
	name    string
	address string
	child   *process.Child // whose processor time and memory are counted
	request [][]byte       // parts between the numbers
	goal    Goal           // for its calls a second, as a multiple of those of the proxy
	answer  [][]byte       // parts between the numbers, learned from an answer that was verified
}

const sample = "123456789" // the number of the first call

// newTarget makes the first call, verifies its answer and learns it. verify gets the body and the number.
func newTarget(name, address string, child *process.Child, request string, verify func(body []byte) error) (*target, error) {
	t := &target{name: name, address: address, child: child}
	for part := range strings.SplitSeq(request, sample) {
		t.request = append(t.request, []byte(part))
	}
	c, err := wire.Dial(address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer c.Close()
	a, err := c.Exchange([]byte(request))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if a.Status != 200 {
		return nil, fmt.Errorf("%s: status %d: %.300s", name, a.Status, a.Body)
	}
	if err := verify(a.Body); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t.answer = bytes.Split(bytes.Clone(a.Body), []byte(sample))
	if len(t.answer) < 2 {
		return nil, fmt.Errorf("%s: the answer does not carry the call's number: %.300s", name, a.Body)
	}
	return t, nil
}

// call is one client's view of a target: its connection and the bytes that it writes.
type call struct {
	target *target
	conn   *wire.Conn
	next   int64
	out    []byte
	digits []byte
}

// newCall connects. client makes the numbers of this client different from those of all others.
func (t *target) newCall(client int) (*call, error) {
	c, err := wire.Dial(t.address)
	if err != nil {
		return nil, err
	}
	return &call{target: t, conn: c, next: 100_000_000 + int64(client)*10_000_000}, nil
}

// do makes the next call and verifies its answer.
func (c *call) do() error {
	c.next++
	c.digits = strconv.AppendInt(c.digits[:0], c.next, 10)
	c.out = join(c.out[:0], c.target.request, c.digits)
	a, err := c.conn.Exchange(c.out)
	if err != nil {
		return err
	}
	if a.Status != 200 {
		return fmt.Errorf("status %d: %.300s", a.Status, a.Body)
	}
	if !matches(a.Body, c.target.answer, c.digits) {
		return fmt.Errorf("the answer to call %s is not what it should be: %.300s", c.digits, a.Body)
	}
	return nil
}

func join(dst []byte, parts [][]byte, number []byte) []byte {
	for i, part := range parts {
		if i > 0 {
			dst = append(dst, number...)
		}
		dst = append(dst, part...)
	}
	return dst
}

// matches reports whether body is the parts with the number between them.
func matches(body []byte, parts [][]byte, number []byte) bool {
	for i, part := range parts {
		if i > 0 {
			if !bytes.HasPrefix(body, number) {
				return false
			}
			body = body[len(number):]
		}
		if !bytes.HasPrefix(body, part) {
			return false
		}
		body = body[len(part):]
	}
	return len(body) == 0
}

// get is a request to the upstream or to the reverse proxy.
func get(path, host string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nAccept: application/json\r\n\r\n"
}

// verifyPlain wants the upstream's answer as it is.
func verifyPlain(p payload) func([]byte) error {
	return func(body []byte) error {
		if string(body) != p.body(sample) {
			return fmt.Errorf("the answer is not the upstream's: %.300s", body)
		}
		return nil
	}
}

// verifyTool wants a tool's result that holds the upstream's answer as text and, unless textOnly, as
// structuredContent.
func verifyTool(p payload, textOnly bool) func([]byte) error {
	return func(body []byte) error {
		var reply struct {
			ID     json.RawMessage
			Error  json.RawMessage
			Result struct {
				Content           []struct{ Type, Text string }
				StructuredContent json.RawMessage
				IsError           bool
			}
		}
		if err := json.Unmarshal(body, &reply); err != nil {
			return fmt.Errorf("the answer is not JSON: %w: %.300s", err, body)
		}
		want := p.body(sample)
		switch r := reply.Result; {
		case string(reply.ID) != sample:
			return fmt.Errorf("the answer has another id: %.300s", body)
		case reply.Error != nil || r.IsError || len(r.Content) != 1 || r.Content[0].Type != "text":
			return fmt.Errorf("the call failed: %.300s", body)
		case r.Content[0].Text != want:
			return fmt.Errorf("the text is not the upstream's answer: %.300s", body)
		case textOnly && r.StructuredContent != nil:
			return fmt.Errorf("there is structuredContent, which should be off: %.300s", body)
		case !textOnly && string(r.StructuredContent) != want:
			return fmt.Errorf("structuredContent is not the upstream's answer: %.300s", body)
		}
		return nil
	}
}
