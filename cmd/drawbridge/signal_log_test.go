package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

// TestSignalsWithAnUnreadLog: nobody reads what the program writes to its standard error, which is full. Signals end it all the same.
func TestSignalsWithAnUnreadLog(t *testing.T) {
	for command, up := range map[string]string{"serve": "listening", "stdio": "serving on standard input"} {
		t.Run(command, func(t *testing.T) {
			files := newThings(t).configuration("shutdown_delay: 0s")
			dir := t.TempDir()
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c := exec.CommandContext(t.Context(), "drawbridge", command, "--config", filepath.Join(dir, "drawbridge.yaml"))
			unread, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			c.Stderr = out
			in, err := c.StdinPipe() // which a host leaves open
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = c.Wait()
			}()
			var written atomic.Int64
			full := make(chan struct{})
			defer func() {
				_ = c.Process.Kill()
				timebox.Wait(t, ended)
			}()
			for lines := bufio.NewReader(unread); ; {
				line, err := lines.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(line, up) {
					break
				}
			}
			defer func() {
				_ = unread.Close() // which ends the writing
				timebox.Wait(t, full)
				_ = out.Close()
			}()
			go func() {
				defer close(full)
				for {
					n, err := io.Copy(out, bytes.NewReader(make([]byte, 4096)))
					if err != nil {
						return
					}
					written.Add(n)
				}
			}()
			for before := int64(-1); before < 1<<15 || written.Load() != before; time.Sleep(100 * time.Millisecond) {
				before = written.Load()
			}
			for deadline := time.Now().Add(20 * time.Second); ; {
				_ = c.Process.Signal(syscall.SIGTERM)
				select {
				case <-ended:
					return
				case <-time.After(10 * time.Millisecond):
				}
				if time.Now().After(deadline) {
					t.Fatal("it is still there")
				}
			}
		})
	}
}
