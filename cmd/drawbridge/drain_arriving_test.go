package main

import (
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDrainServesWhatHasBegunToArrive: a request whose first half came before the signal, and whose second half comes when nothing listens any more, is
// answered. Who has said nothing is not waited for.
func TestDrainServesWhatHasBegunToArrive(t *testing.T) {
	s := serve(t, newThings(t).configuration("shutdown_delay: 0s, drain_timeout: 1m"))
	s.awaitReady()
	address := strings.TrimSuffix(strings.TrimPrefix(s.mcp, "http://"), "/mcp")
	dial := func() (net.Conn, error) { return (&net.Dialer{}).DialContext(t.Context(), "tcp", address) }
	var conns [2]net.Conn
	for i := range conns {
		var err error
		if conns[i], err = dial(); err != nil {
			t.Fatal(err)
		}
		defer conns[i].Close()
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	request := "POST /mcp HTTP/1.1\r\nHost: " + address + "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
		"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	if _, err := io.WriteString(conns[0], request[:100]); err != nil {
		t.Fatal(err)
	}
	until := func(what string, is func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	until("the connections are not taken", func() bool {
		_, text := s.get("/metrics")
		return strings.Contains(text, "drawbridge_open_connections 2\n")
	})
	s.signals <- syscall.SIGTERM
	until("it listens", func() bool {
		conn, err := dial()
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	if n, err := conns[1].Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("who has said nothing has %d bytes, %v", n, err)
	}
	if _, err := io.WriteString(conns[0], request[100:]); err != nil {
		t.Error(err)
	}
	answer, err := io.ReadAll(conns[0])
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200 OK\r\n") || !strings.Contains(string(answer), `"getThing"`) {
		t.Errorf("%v, %s", err, answer)
	}
	if code := s.exited(); code != exitOK {
		t.Errorf("exit code %d, want 0", code)
	}
	s.await("drained", 1)
}
