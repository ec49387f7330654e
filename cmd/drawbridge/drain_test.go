package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

// oldStream opens a stream of the transport of 2024-11-05 and makes a session of it. send posts a message, next returns the data of the next event.
func oldStream(t *testing.T, s *served) (send func(body string), next func() string) {
	t.Helper()
	do := func(method, url, body string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "text/event-stream")
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp
	}
	events := bufio.NewScanner(do(http.MethodGet, s.mcp, "").Body)
	next = func() string {
		for events.Scan() {
			if data, ok := strings.CutPrefix(events.Text(), "data: "); ok {
				return data
			}
		}
		return ""
	}
	messages := strings.TrimSuffix(s.mcp, "/mcp") + next()
	send = func(body string) {
		t.Helper()
		if resp := do(http.MethodPost, messages, body); resp.StatusCode != http.StatusAccepted {
			t.Fatalf("POST %s = %d", messages, resp.StatusCode)
		}
	}
	send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`)
	if answer := next(); !strings.Contains(answer, `"protocolVersion":"2024-11-05"`) {
		t.Fatalf("initialize: %s", answer)
	}
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return send, next
}

// TestDrainWithAStreamThatStays: a stream of the old transport ends with its last call, and nothing but its own client waits for that. The
// listener is closed at once, and the calls of the others have all of drain_timeout.
func TestDrainWithAStreamThatStays(t *testing.T) {
	service := newThings(t)
	s := serve(t, service.configuration("shutdown_delay: 0s, drain_timeout: 1m, old_transport: true"))
	s.awaitReady()
	send, next := oldStream(t, s)
	send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"getThing","arguments":{"id":"held-old"}}}`)
	timebox.Wait(t, service.arrived)
	held := make(chan string, 1)
	go func() {
		fault, err := getThing(context.Background(), &http.Transport{DisableKeepAlives: true}, s.mcp, "held")
		held <- fmt.Sprint(fault, err)
	}()
	timebox.Wait(t, service.arrived)
	s.signals <- syscall.SIGTERM
	s.await("draining", 1)
	address := strings.TrimSuffix(strings.TrimPrefix(s.mcp, "http://"), "/mcp")
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			break // nobody listens
		}
		_ = conn.Close()
		if time.Now().After(deadline) {
			t.Error("it listens as long as a stream is open")
			break
		}
	}
	close(service.release)
	if result := timebox.Receive(t, held); result != "<nil>" {
		t.Errorf("the call of another client: %s", result)
	}
	if answer := next(); !strings.Contains(answer, "held-old") {
		t.Errorf("the call on the stream: %q", answer)
	}
	if rest := next(); rest != "" {
		t.Errorf("the stream goes on with %q", rest)
	}
	if code := s.exited(); code != exitOK {
		t.Errorf("exit code %d, want 0", code)
	}
	s.await("drained", 1)
	s.never("cancelling calls that are still running")
}
