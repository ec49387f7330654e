package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"drawbridge/cmd/drawbridge/terminal"
	"drawbridge/test/timebox"
)

// newTerminal opens a terminal of its own; nobody sits before it.
func newTerminal(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("not run: a terminal: %v", err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestTerminalOf(t *testing.T) {
	open := func(name string) *os.File {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	for name, w := range map[string]io.Writer{
		"buffer": &bytes.Buffer{}, "file": open(filepath.Join(t.TempDir(), "log")), "null device": open(os.DevNull),
	} {
		if terminal.Of(w) != nil {
			t.Errorf("a %s is a terminal", name)
		}
	}
	if s := terminal.Of(newTerminal(t)); s == nil || terminal.Of(s) != s {
		t.Error("a terminal is none")
	}
}

// TestInterruptAtATerminal: Ctrl-C at a terminal ends a gateway that does nothing at once, and one with a call when that has ended. The
// shutdown delay is for load balancers: SIGTERM has it wherever, and SIGINT where nobody looks on. (pains row 119)
func TestInterruptAtATerminal(t *testing.T) {
	const delay = 10 * time.Minute // longer than any test takes
	for name, tt := range map[string]struct {
		terminal bool
		signal   os.Signal
		calls    bool
		ends     bool
	}{
		"nothing under way":        {true, os.Interrupt, false, true},
		"a call under way":         {true, os.Interrupt, true, true},
		"termination":              {true, syscall.SIGTERM, false, false},
		"an interrupt in a script": {false, os.Interrupt, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			arrived, release := make(chan struct{}), make(chan struct{})
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				close(arrived)
				select {
				case <-release:
				case <-r.Context().Done():
				}
				_, _ = io.WriteString(w, `{}`)
			}))
			defer service.Close()
			dir, listen, admin := t.TempDir(), freeAddress(t), freeAddress(t)
			for file, text := range map[string]string{
				"things.yaml": servedDocument,
				"drawbridge.yaml": "server: {listen: " + listen + ", shutdown_delay: " + delay.String() + ", drain_timeout: 1m}\nadmin: {listen: " + admin + "}\n" +
					"telemetry: {log_level: error}\napis: [{spec: things.yaml, name: things, base_url: \"" + service.URL + "\"}]\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var stderr io.Writer = newLogBuffer()
			if tt.terminal {
				stderr = newTerminal(t)
			}
			transport := &http.Transport{DisableKeepAlives: true}
			signals, exit := make(chan os.Signal, 2), make(chan int, 1)
			go func() {
				exit <- run(context.Background(), []string{"serve", "--config", filepath.Join(dir, "drawbridge.yaml")}, func(string) string { return "" }, io.Discard, stderr, signals)
			}()
			status := func(want int) {
				t.Helper()
				for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(time.Millisecond) {
					resp, err := (&http.Client{Transport: transport}).Get("http://" + admin + "/readyz")
					if err != nil {
						continue
					}
					_ = resp.Body.Close()
					if resp.StatusCode == want {
						return
					}
				}
				t.Fatalf("/readyz does not say %d", want)
			}
			status(http.StatusOK)
			answered := make(chan string, 1)
			if tt.calls {
				go func() {
					code, body, err := rpc(context.Background(), transport, "http://"+listen+"/mcp", "tools/call", "getThing", `{"id":"7"}`)
					if err != nil {
						body = []byte(err.Error())
					}
					answered <- http.StatusText(code) + " " + string(body)
				}()
				timebox.Wait(t, arrived)
			}
			signals <- tt.signal
			if tt.calls {
				status(http.StatusServiceUnavailable)
				close(release)
				if answer := timebox.Receive(t, answered); !strings.HasPrefix(answer, "OK ") || strings.Contains(answer, "isError") {
					t.Errorf("the call under way = %s", answer)
				}
			}
			if !tt.ends {
				status(http.StatusServiceUnavailable) // it drains, and serves
				if conn, err := net.Dial("tcp", listen); err != nil {
					t.Errorf("the listener is closed: %v", err)
				} else {
					_ = conn.Close()
				}
				signals <- tt.signal
			}
			if code := timebox.Receive(t, exit); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// freeAddress is an address on which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
