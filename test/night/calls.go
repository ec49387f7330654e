package main

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"drawbridge/test/openload"
	"drawbridge/test/wire"
)

// calls are those that tell whether callers notice a fault: of a tool, so many a second by so many clients.
type calls struct {
	tool          string
	rate, clients int
}

// traffic is calls of one tool through nginx, all the time.
type traffic struct {
	load *openload.Load

	mu      sync.Mutex
	streak  int    // calls that succeeded since the last that failed, or since reset
	failure string // of the last that failed
}

// call begins them.
func (p *pair) call(ctx context.Context, c calls) *traffic {
	t := &traffic{}
	client := &wire.Client{Host: p.front, Revision: wire.Modern, Token: p.token}
	conns := make([]*wire.Conn, c.clients)
	t.load = openload.Start(ctx, c.rate, c.clients, func(worker, n int, _ time.Time) {
		failure := ""
		var a wire.Answer
		var err error
		if conns[worker] == nil {
			conns[worker], err = wire.Dial(p.front)
		}
		if err == nil {
			a, err = conns[worker].Exchange([]byte(client.Call(c.tool, fmt.Sprint(n), fmt.Sprintf(`{"id":"%d"}`, n))))
		}
		switch {
		case err != nil:
			failure = err.Error()
		case a.Status != 200 || !bytes.Contains(a.Body, fmt.Appendf(nil, `{\"id\":\"%d\"}`, n)) || bytes.Contains(a.Body, []byte(`"isError":true`)):
			failure = fmt.Sprintf("status %d: %.300s", a.Status, a.Body)
		}
		if conn := conns[worker]; conn != nil && (err != nil || a.Closing) {
			conn.Close()
			conns[worker] = nil
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if failure != "" {
			t.streak, t.failure = 0, failure
			return
		}
		t.streak++
	})
	return t
}

// reset begins to count anew.
func (t *traffic) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.streak = 0
}

// succeeds is an error unless the last 20 calls since reset have succeeded: one or two may reach the replica that is well.
func (t *traffic) succeeds() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.streak < 20 {
		return fmt.Errorf("%d calls in a row have succeeded; the last that did not: %s", t.streak, t.failure)
	}
	return nil
}
