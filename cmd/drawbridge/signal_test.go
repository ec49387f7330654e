package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

// TestSignalAfterTheDrain: what is left of the program when its calls have ended may wait, here for somebody who does not read the audit log. Another signal
// ends it then, too.
func TestSignalAfterTheDrain(t *testing.T) {
	service := newThings(t)
	files := service.configuration("shutdown_delay: 0s")
	files["drawbridge.yaml"] += "audit: {}\n"
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), "drawbridge", "serve", "--config", filepath.Join(dir, "drawbridge.yaml"))
	unread, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	s := &served{t: t, log: newLogBuffer()}
	c.Stdout, c.Stderr = out, s.log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Wait()
	}()
	defer func() {
		_ = c.Process.Kill()
		timebox.Wait(t, ended)
	}()
	line := s.await("listening", 1)
	s.mcp, s.admin = line["mcp"].(string), line["admin"].(string)
	s.awaitReady()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for range 300 { // with some 500 bytes each: a pipe holds 64 KiB
		if fault, err := getThing(t.Context(), transport, s.mcp, "1"); err != nil || fault != "" {
			t.Fatal(fault, err)
		}
	}
	_ = c.Process.Signal(syscall.SIGTERM)
	s.await("drained", 1)
	for { // the first may come a moment too early
		_ = c.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
			if status := c.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() {
				t.Errorf("it has ended by itself: %v", c.ProcessState)
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}
