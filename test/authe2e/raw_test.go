package authe2e

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

const rawCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getOrder","arguments":{"order_no":"SO 1001"},` +
	`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"authe2e","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`

// newRawCall is a call of getOrder as a client of 2026-07-28 sends it, for what no client would do: use a token that has
// ended, or another's.
func (w *world) newRawCall(ctx context.Context, authorization string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.endpoint, strings.NewReader(rawCall))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Authorization": authorization, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "getOrder",
	} {
		r.Header.Set(name, value)
	}
	return r, nil
}

// try makes a raw call and returns the status.
func (w *world) try(ctx context.Context, token string) (int, error) {
	r, err := w.newRawCall(ctx, "Bearer "+token)
	if err != nil {
		return 0, err
	}
	_, status, err := w.do(r)
	return status, err
}

// awaitRefusal makes raw calls until the gateway refuses the token, and returns after how long that was. Anything but
// 200 before and 401 after fails the test.
func (w *world) awaitRefusal(ctx context.Context, t *testing.T, token string) time.Duration {
	t.Helper()
	began := time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		switch status, err := w.try(ctx, token); {
		case err != nil:
			t.Fatalf("still accepted after %s: %v", time.Since(began), err)
		case status == http.StatusUnauthorized:
			return time.Since(began)
		case status != http.StatusOK:
			t.Fatalf("status %d", status)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("still accepted after %s", time.Since(began))
		}
	}
}

// hammer makes raw calls, several at a time, until stop is called, which returns how many there were and fails the test
// if one was not answered with 200.
func (w *world) hammer(ctx context.Context, t *testing.T, token string) (stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	var wg sync.WaitGroup
	var mu sync.Mutex
	statuses := make(map[string]int)
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				status := ""
				if r, err := w.newRawCall(context.WithoutCancel(ctx), "Bearer "+token); err != nil {
					status = err.Error()
				} else if resp, err := client.Do(r); err != nil {
					status = err.Error()
				} else {
					var body bytes.Buffer
					body.ReadFrom(resp.Body)
					resp.Body.Close()
					if status = resp.Status; resp.StatusCode != http.StatusOK {
						status += " " + resp.Header.Get("WWW-Authenticate") + body.String()
					}
				}
				mu.Lock()
				statuses[status]++
				mu.Unlock()
			}
		})
	}
	return func() int {
		cancel()
		timebox.Done(t, wg.Wait)
		client.CloseIdleConnections()
		good := statuses["200 OK"]
		delete(statuses, "200 OK")
		if len(statuses) > 0 || good == 0 {
			t.Errorf("besides %d answers with 200: %s", good, fmt.Sprint(statuses))
		}
		return good
	}
}
