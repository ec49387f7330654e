package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"drawbridge/test/figures"
	"drawbridge/test/openload"
	"drawbridge/test/wire"
)

// calls are calls at a fixed rate while the document changes. Three of four are of a tool that every version has; each fourth lists the tools and
// calls the one that only this version has.
type calls struct {
	world *world
	load  *openload.Load
	conns []*wire.Conn // of each worker; nil: none is open

	mu     sync.Mutex
	counts map[outcome]int
	words  string // of the last that is not as it should be
}

// outcome is what came of a call.
type outcome int

const (
	good   outcome = iota
	gone           // the tool went between the list and the call
	mixed          // what came is of several versions, or of one that was not served then
	failed         // there was no answer, or an error
)

func (w *world) startCalls(ctx context.Context) *calls {
	const workers = 32
	c := &calls{world: w, conns: make([]*wire.Conn, workers), counts: map[outcome]int{}}
	c.load = openload.Start(ctx, w.rps, workers, func(worker, n int, _ time.Time) {
		o, words := c.call(worker, n%4 == 0)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.counts[o]++; o >= mixed {
			c.words = ", the last: " + words
		}
	})
	return c
}

// stop ends the calls, and holds what came of them against the goals. It may be called again.
func (c *calls) stop() []figures.Figure {
	due := c.load.Stop()
	for worker := range c.conns {
		c.hangUp(worker)
	}
	return c.judge(due)
}

func (c *calls) judge(due int) []figures.Figure {
	made := c.counts[good] + c.counts[gone] + c.counts[mixed] + c.counts[failed]
	return []figures.Figure{
		figures.New(
			fmt.Sprintf("calls made of those that were due, %d a second", c.world.rps), ">= 95 %",
			fmt.Sprintf("%.0f %% (%d of %d)", 100*float64(made)/float64(due), made, due), float64(made) >= 0.95*float64(due),
		),
		figures.New("calls made meanwhile that failed", "0", fmt.Sprintf("%d of %d%s", c.counts[failed], made, c.wordsIf(failed)), c.counts[failed] == 0 && made > 0),
		figures.New(
			"mixed snapshots", "0", fmt.Sprintf("%d of %d, in %d the tool had gone since the list%s", c.counts[mixed], made, c.counts[gone], c.wordsIf(mixed)),
			c.counts[mixed] == 0 && c.counts[good] > 0,
		),
	}
}

// wordsIf are the last words if there is one of that outcome.
func (c *calls) wordsIf(o outcome) string {
	if c.counts[o] == 0 {
		return ""
	}
	return c.words
}

// call makes a call, or lists and calls.
func (c *calls) call(worker int, list bool) (outcome, string) {
	client := &wire.Client{Host: c.world.host, Revision: wire.Modern}
	least := c.world.taken.Load()
	if !list {
		a, err := c.exchange(worker, client.Call("look", "1", "{}"))
		return looked(a, err, least, c.world.written.Load())
	}
	a, err := c.exchange(worker, client.List(""))
	o, n, words := listed(a, err, least, c.world.written.Load())
	if o != good {
		return o, words
	}
	a, err = c.exchange(worker, client.Call(versioned("changedN", n), "1", versioned(`{"vN":"x"}`, n)))
	return called(a, err, n, c.world.written.Load())
}

// exchange sends a request on the worker's connection.
func (c *calls) exchange(worker int, request string) (wire.Answer, error) {
	if c.conns[worker] == nil {
		conn, err := wire.Dial(c.world.host)
		if err != nil {
			return wire.Answer{}, err
		}
		c.conns[worker] = conn
	}
	a, err := c.conns[worker].Exchange([]byte(request))
	if err != nil || a.Closing {
		c.hangUp(worker)
	}
	return a, err
}

func (c *calls) hangUp(worker int) {
	if c.conns[worker] != nil {
		c.conns[worker].Close()
		c.conns[worker] = nil
	}
}

var (
	versionsListed = regexp.MustCompile(`"changed(\d+)"|\bv(\d+)\b`)
	versionAsked   = regexp.MustCompile(`\{\\"asked\\":\\"/v/(\d+)/look\\"\}`)
)

// listed tells whether a list of tools is of one version, which was served when it was asked for: not older than that which was taken over before, nor
// newer than that which was written by then.
func listed(a wire.Answer, err error, least, most int64) (o outcome, n int64, words string) {
	if o, words := answered(a, err); o != good {
		return o, 0, words
	}
	n = -1
	for _, found := range versionsListed.FindAllSubmatch(a.Body, -1) {
		var v int64
		if _, err := fmt.Sscan(string(found[1])+string(found[2]), &v); err != nil || n >= 0 && v != n {
			return mixed, 0, fmt.Sprintf("a list of several versions: %.1000s", a.Body)
		}
		n = v
	}
	switch {
	case !bytes.Contains(a.Body, []byte(versioned(`"changedN"`, n))), !bytes.Contains(a.Body, []byte(versioned(`"vN"`, n))), !bytes.Contains(a.Body, []byte(`"look"`)):
		return mixed, 0, fmt.Sprintf("a list without its tools: %.1000s", a.Body)
	case n < least || n > most:
		return mixed, 0, fmt.Sprintf("a list of version %d where %d to %d were served", n, least, most)
	}
	return good, n, ""
}

// called tells whether the call of the tool of version n has come to its path. The tool may have gone since it was listed, but only if a newer version
// was written by the time of the answer.
func called(a wire.Answer, err error, n, newest int64) (outcome, string) {
	if err == nil && bytes.Contains(a.Body, []byte(versioned(`unknown tool \"changedN\"`, n))) {
		if n == newest {
			return mixed, fmt.Sprintf("the tool of version %d, which is the newest, is listed and not known", n)
		}
		return gone, ""
	}
	if o, words := answered(a, err); o != good {
		return o, words
	}
	if !bytes.Contains(a.Body, []byte(versioned(`{\"asked\":\"/v/N?vN=x\"}`, n))) {
		return mixed, fmt.Sprintf("the answer to the tool of version %d: %.500s", n, a.Body)
	}
	return good, ""
}

// looked tells whether the call of a tool that every version has has come to the path of one that was served.
func looked(a wire.Answer, err error, least, most int64) (outcome, string) {
	if o, words := answered(a, err); o != good {
		return o, words
	}
	var n int64
	found := versionAsked.FindSubmatch(a.Body)
	if found == nil {
		return failed, fmt.Sprintf("%.500s", a.Body)
	}
	if _, err := fmt.Sscan(string(found[1]), &n); err != nil || n < least || n > most {
		return mixed, fmt.Sprintf("a call came to version %s where %d to %d were served", found[1], least, most)
	}
	return good, ""
}

// answered tells whether there is a result that is no error.
func answered(a wire.Answer, err error) (outcome, string) {
	switch {
	case err != nil:
		return failed, err.Error()
	case a.Status != 200 || !strings.Contains(string(a.Body), `"result"`) || strings.Contains(string(a.Body), `"isError":true`):
		return failed, fmt.Sprintf("status %d: %.500s", a.Status, a.Body)
	}
	return good, ""
}
