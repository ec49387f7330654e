package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/test/timebox"
)

// flaky is a listener that has no file descriptors left the first time.
type flaky struct {
	net.Listener
	failed bool
}

type temporary struct{ error }

func (temporary) Timeout() bool   { return false }
func (temporary) Temporary() bool { return true }

func (l *flaky) Accept() (net.Conn, error) {
	if !l.failed {
		l.failed = true
		return nil, temporary{errors.New("accept: too many open files")}
	}
	return l.Listener.Accept()
}

// TestServerErrors shows at the levels that operators see what net/http alone knows of: a panic in a handler, and
// connections that can't be accepted. Noise of clients is for debugging.
func TestServerErrors(t *testing.T) {
	text := newLogBuffer()
	s := &server{config: &config.Config{}, log: slog.New(slog.NewJSONHandler(text, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	s.config.Limits.MaxHeader = 32 << 10
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := s.httpServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a bug") }), context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serveHTTP(h, &flaky{Listener: l}) }()
	if resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(httpGet(t, "http://"+l.Addr().String())); err == nil {
		resp.Body.Close()
		t.Errorf("answered with %s", resp.Status)
	}
	h.Close()
	if err := timebox.Receive(t, ended); err != nil {
		t.Error(err)
	}
	h.ErrorLog.Print("http: TLS handshake error from 127.0.0.1:1: EOF")
	for message, want := range map[string][2]string{
		"panic in the HTTP server": {"ERROR", "a bug"},
		"can't accept connections": {"WARN", "too many open files"},
		"HTTP server":              {"DEBUG", "TLS handshake error"},
	} {
		found, _ := text.records(message)
		if len(found) != 1 || found[0]["level"] != want[0] || !strings.Contains(found[0]["detail"].(string), want[1]) {
			t.Errorf("%s: %v, want %v", message, found, want)
		}
	}
}

// TestOptionsOfAll: "OPTIONS *" passes what every request passes; net/http would answer it by itself, and wait for its body without an end.
func TestOptionsOfAll(t *testing.T) {
	s := &server{config: &config.Config{}, log: slog.New(slog.DiscardHandler)}
	s.config.Limits.MaxHeader = 32 << 10
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := s.httpServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }), context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serveHTTP(h, l) }()
	r := httpGet(t, "http://"+l.Addr().String())
	r.Method, r.URL.Opaque = http.MethodOptions, "*"
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusTeapot {
		t.Errorf("answered with %s, not by the handler", resp.Status)
	}
	h.Close()
	if err := timebox.Receive(t, ended); err != nil {
		t.Error(err)
	}
}

func httpGet(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
