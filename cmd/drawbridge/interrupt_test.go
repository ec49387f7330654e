package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestInterrupt ends commands that wait for a document. They were deaf to Ctrl-C: the program takes the signals for serve
// and demo, and nobody else looked at them.
func TestInterrupt(t *testing.T) {
	arrived := make(chan struct{}, 16)
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	defer hang.Close()
	for _, tt := range []struct {
		args   []string
		signal os.Signal
		code   int
	}{
		{[]string{"check", hang.URL}, syscall.SIGINT, 130},
		{[]string{"tools", hang.URL}, syscall.SIGTERM, 143},
		{[]string{"call", hang.URL, "tool"}, syscall.SIGINT, 130},
		{[]string{"check", hang.URL}, syscall.SIGHUP, 129}, // the terminal is gone
	} {
		signals, code := make(chan os.Signal, 1), make(chan int, 1)
		go func() {
			code <- run(context.Background(), tt.args, func(string) string { return "" }, io.Discard, io.Discard, signals)
		}()
		<-arrived
		signals <- tt.signal
		select {
		case got := <-code:
			if got != tt.code {
				t.Errorf("%v: exit code %d, want %d", tt.args, got, tt.code)
			}
		case <-time.After(20 * time.Second): // the document may take 30
			t.Fatalf("%v: still there after %s", tt.args, tt.signal)
		}
	}
}
