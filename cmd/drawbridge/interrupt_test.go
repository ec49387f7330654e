package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"drawbridge/test/timebox"
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
		timebox.Wait(t, arrived)
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

// TestInterruptedWait ends a command at the first signal although what it waits for knows of no context, as a disk that hangs. (pains row 110)
func TestInterruptedWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals, release := make(chan os.Signal, 1), make(chan struct{})
		p := &program{signals: signals}
		c := &cobra.Command{}
		c.SetContext(t.Context())
		signals <- syscall.SIGINT
		began := time.Now()
		err := p.interruptible(func(*cobra.Command, []string) error { <-release; return nil })(c, nil)
		if want := exitError(130); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		if took := time.Since(began); took != interruptGrace {
			t.Errorf("it ended after %s", took)
		}
		close(release)
	})
}

// TestPipeIsRefused gives a named pipe as the document: it is refused at once, whether or not somebody writes to it. (pains row 110)
func TestPipeIsRefused(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "spec.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	var errs strings.Builder
	code := run(context.Background(), []string{"check", pipe}, func(string) string { return "" }, &errs, &errs, nil)
	if code != 2 || !strings.Contains(errs.String(), "is not a regular file") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}

// TestInterruptedLock ends a lock while one of two documents is read: what was read of the other must not be approved,
// since a running gateway takes the file over.
func TestInterruptedLock(t *testing.T) {
	const approved = "version: 3\ntools: {}\n"
	arrived := make(chan struct{}, 16)
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	defer hang.Close()
	for name, before := range map[string]string{"a new file": "", "another one": approved} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "drawbridge.lock")
			write := func(name, text string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("things.yaml", servedDocument)
			write("drawbridge.yaml", "tools: {lock: drawbridge.lock}\napis: [{spec: things.yaml, name: things, base_url: \"http://127.0.0.1:1\"}, {spec: \""+hang.URL+"\", name: hanging}]\n")
			if before != "" {
				write("drawbridge.lock", before)
			}
			signals, code := make(chan os.Signal, 1), make(chan int, 1)
			go func() {
				code <- run(context.Background(), []string{"lock", "--config", filepath.Join(dir, "drawbridge.yaml")}, func(string) string { return "" }, io.Discard, io.Discard, signals)
			}()
			timebox.Wait(t, arrived)
			signals <- syscall.SIGINT
			if got := timebox.Receive(t, code); got != 130 {
				t.Errorf("exit code %d, want 130", got)
			}
			if text, err := os.ReadFile(file); before == "" && !os.IsNotExist(err) || string(text) != before {
				t.Errorf("the file is %q (%v), was %q", text, err, before)
			}
		})
	}
}
