package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"drawbridge/test/openload"
	"drawbridge/test/wire"
)

// made is one call.
type made struct {
	at      time.Time     // when it was due
	took    time.Duration // from then on
	limited bool          // of the API that has a limit
	outcome string
}

// outcomes of a call that is as it should be; any other is told in words.
const (
	served  = "served"
	refused = "refused" // 429
)

// outcomeOf is what came of a call of a tool. An answer counts as one only with what the service has said in it: a failure of the gateway is
// a result with status 200 as well.
func outcomeOf(a wire.Answer, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case a.Status == http.StatusTooManyRequests:
		return refused
	case a.Status == http.StatusOK && bytes.Contains(a.Body, []byte(`{\"done\":true}`)) && !bytes.Contains(a.Body, []byte(`"isError":true`)):
		return served
	}
	return fmt.Sprintf("status %d: %.200s", a.Status, a.Body)
}

// load is calls that go on until they are stopped.
type load struct {
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu             sync.Mutex
	plain, limited []made
}

// tries is how many times what it allows the limited API is called.
const tries = 3

// load begins the calls: of a tool that anybody may call as often as he likes, and of one that has a limit.
func (c *cluster) load(ctx context.Context) *load {
	ctx, cancel := context.WithCancel(ctx)
	l := &load{cancel: cancel}
	const workers = 4 // of each gateway
	start := time.Now()
	begin := func(host, tool string, n, of, rate int, to *[]made) {
		pause := time.Second * time.Duration(of) / time.Duration(rate)
		l.done.Go(func() { l.call(ctx, host, tool, start.Add(pause*time.Duration(n)/time.Duration(of)), pause, to) })
	}
	for i, host := range c.hosts {
		for w := range workers {
			begin(host, "shop_look", i*workers+w, len(c.hosts)*workers, c.rps, &l.plain)
		}
		begin(host, "scarce_look", i, len(c.hosts), tries*c.limit, &l.limited)
	}
	return l
}

// stop ends the calls, and waits for those that run.
func (l *load) stop() {
	l.cancel()
	l.done.Wait()
}

// call makes one call after the other at a gateway, each due a pause after the one before. What a late answer keeps waiting is late as well.
func (l *load) call(ctx context.Context, host, tool string, due time.Time, pause time.Duration, to *[]made) {
	client := &wire.Client{Host: host, Revision: wire.Modern}
	request := []byte(client.Call(tool, "1", "{}"))
	var conn *wire.Conn
	defer func() {
		if conn != nil {
			conn.Close()
		}
	}()
	for ; openload.Pause(ctx, time.Until(due)); due = due.Add(pause) {
		var a wire.Answer
		var err error
		if conn == nil {
			conn, err = wire.Dial(host)
		}
		if err == nil {
			a, err = conn.Exchange(request)
		}
		m := made{at: due, took: time.Since(due), limited: to == &l.limited, outcome: outcomeOf(a, err)}
		if err != nil && conn != nil {
			conn.Close()
			conn = nil
		}
		l.mu.Lock()
		*to = append(*to, m)
		l.mu.Unlock()
	}
}
