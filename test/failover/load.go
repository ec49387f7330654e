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

// workers is the number of clients.
const workers = 50

// load is calls through nginx that go on until they are stopped.
type load struct {
	calls *openload.Load

	mu   sync.Mutex
	made []made
}

// made is one call.
type made struct {
	at      time.Time // when its answer came
	failure string    // "" if it succeeded
}

// load begins the calls, on connections to nginx that stay open. Nothing is tried twice.
func (c *cluster) load(ctx context.Context) *load {
	l := &load{}
	conns := make([]*wire.Conn, workers)
	clients := make([]*wire.Client, workers)
	for i := range clients {
		clients[i] = &wire.Client{Host: c.front, Revision: wire.Modern, Token: c.token}
	}
	l.calls = openload.Start(ctx, c.rps, workers, func(worker, n int, _ time.Time) {
		failure := ""
		var a wire.Answer
		var err error
		if conns[worker] == nil {
			conns[worker], err = wire.Dial(c.front)
		}
		if err == nil {
			a, err = conns[worker].Exchange([]byte(clients[worker].Call("get_thing", fmt.Sprint(n), fmt.Sprintf(`{"id":"%d"}`, n))))
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
		l.mu.Lock()
		defer l.mu.Unlock()
		l.made = append(l.made, made{time.Now(), failure})
	})
	return l
}

// count returns the number of calls so far.
func (l *load) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.made)
}

// stop ends the calls, and waits for those that run.
func (l *load) stop() *load {
	l.calls.Stop()
	return l
}

// failures counts the calls since a time, and those that failed, with the reason of the first.
func (l *load) failures(since time.Time) (failed, all int, why string) {
	return l.between(since, time.Now())
}

// between is failures for calls that ended in a span of time.
func (l *load) between(from, to time.Time) (failed, all int, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.made {
		if m.at.Before(from) || !m.at.Before(to) {
			continue
		}
		all++
		if m.failure == "" {
			continue
		}
		if failed++; failed == 1 {
			why = ": " + m.failure
		}
	}
	return failed, all, why
}
