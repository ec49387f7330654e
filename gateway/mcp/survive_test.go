package mcp_test

import (
	"io"
	"net"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

// TestSlowReaderPanics: a panic behind an answer that its client was slow to read is the end of the connection alone.
func TestSlowReaderPanics(t *testing.T) {
	l := serveLongList(t, false, 10*time.Second, time.Millisecond)
	l.readers.Reuse = func(conn net.Conn, _ []byte) {
		_ = conn.Close()
		panic("injected")
	}
	conn := l.ask(t, "")
	l.slow(t, 1)
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Error(err)
	}
	if v := timebox.Receive(t, l.panics); v != "injected" {
		t.Errorf("told of %v", v)
	}
}
