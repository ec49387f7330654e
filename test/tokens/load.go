package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// workers is how many calls may be under way at once.
const workers = 32

// load is calls at a fixed rate.
type load struct {
	world  *world
	client *http.Client
	token  atomic.Pointer[string] // the good one, which may be exchanged while it runs
	cancel context.CancelFunc
	ended  sync.WaitGroup

	mu     sync.Mutex
	counts map[string]int // by what came out of a call
	times  []time.Duration
}

func (w *world) newLoad() *load {
	return &load{world: w, counts: map[string]int{}, client: &http.Client{
		Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: workers},
	}}
}

// startLoad begins to call with a good token.
func (w *world) startLoad(ctx context.Context) (*load, error) {
	l := w.newLoad()
	if err := l.renew(); err != nil {
		return nil, err
	}
	l.start(ctx, w.rps, func() string { return *l.token.Load() })
	return l, nil
}

// flood calls with these tokens, one after the other and again, and counts what came of it.
func (w *world) flood(ctx context.Context, tokens []string, length time.Duration) (map[string]int, error) {
	l := w.newLoad()
	var n atomic.Int64
	l.start(ctx, w.others, func() string { return tokens[int(n.Add(1)-1)%len(tokens)] })
	err := pause(ctx, length)
	counts, _, _ := l.stop()
	return counts, err
}

// start begins to call so many times a second, each time with the token that is next.
func (l *load) start(ctx context.Context, rps int, next func() string) {
	ctx, l.cancel = context.WithCancel(ctx)
	due := make(chan time.Time, workers)
	l.ended.Go(func() {
		defer close(due)
		tick := time.NewTicker(time.Second / time.Duration(rps))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case t := <-tick.C:
				due <- t // a late gateway makes callers wait, and their time counts from when they were due
			}
		}
	})
	for range workers {
		l.ended.Go(func() {
			for t := range due {
				outcome := l.world.call(context.WithoutCancel(ctx), l.client, next())
				l.mu.Lock()
				l.counts[outcome]++
				l.times = append(l.times, time.Since(t))
				l.mu.Unlock()
			}
		})
	}
}

// renew takes a token that is signed with the newest key.
func (l *load) renew() error {
	token, err := l.world.issue()
	if err != nil {
		return err
	}
	l.token.Store(&token)
	return nil
}

// stop ends the load and returns what came out of it.
func (l *load) stop() (counts map[string]int, p50, p99 time.Duration) {
	l.cancel()
	l.ended.Wait()
	l.client.CloseIdleConnections()
	slices.Sort(l.times)
	if n := len(l.times); n > 0 {
		p50, p99 = l.times[n/2], l.times[n*99/100]
	}
	return l.counts, p50, p99
}

const callBody = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{},"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`

// call makes one call and returns "ok", or the status and, with Retry-After, "+retry".
func (w *world) call(ctx context.Context, client *http.Client, token string) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.endpoint, strings.NewReader(callBody))
	if err != nil {
		return err.Error()
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "look",
	} {
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		return "no answer"
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return "half an answer"
	case resp.StatusCode == http.StatusOK && strings.Contains(string(body), `{\"done\":true}`):
		return "ok"
	case resp.Header.Get("Retry-After") != "":
		return fmt.Sprintf("%d+retry", resp.StatusCode)
	}
	return fmt.Sprint(resp.StatusCode)
}

// failures counts what is not ok, and names it.
func failures(counts map[string]int) (failed int, words string) {
	for outcome, n := range counts {
		if outcome != "ok" {
			failed += n
			words += fmt.Sprintf(" %s: %d", outcome, n)
		}
	}
	return failed, words
}
