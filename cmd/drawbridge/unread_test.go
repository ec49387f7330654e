package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/gateway/listener"
	"drawbridge/test/timebox"
)

// guardedServer is a server whose gateway serves an API to those with a token. more are further lines of its configuration.
func guardedServer(t *testing.T, more string) *server {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"drawbridge.yaml": `server: {listen: "127.0.0.1:0", public_url: "https://localhost", manifest: true}
auth: {issuers: [{issuer: "https://127.0.0.1:1"}], default_scopes: [mcp:tools]}
apis: [{spec: api.yaml, name: things, base_url: "http://127.0.0.1:1"}]
` + more,
		"api.yaml": servedDocument,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, problems := config.Load(filepath.Join(dir, "drawbridge.yaml"), func(string) string { return "" })
	if cfg == nil {
		t.Fatal(problems.Err())
	}
	log := slog.New(slog.DiscardHandler)
	g, err := gateway.New(gateway.Options{Config: cfg, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		timebox.Wait(t, ended)
	})
	timebox.Wait(t, g.Serving())
	return &server{gateway: g, config: cfg, log: log}
}

// pipes is a listener whose connections a test makes, in a bubble.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// unread serves one connection, that a client uses, and returns when the server has closed it, and after how long that was.
func unread(t testing.TB, h *http.Server, client func(net.Conn)) time.Duration {
	begin, closed := time.Now(), make(chan time.Time, 1)
	h.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			closed <- time.Now()
		}
	}
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = h.Serve(l) // which says that it was closed
	}()
	theirs, ours := net.Pipe()
	l.conns <- theirs
	client(ours)
	var end time.Time
	select {
	case end = <-closed:
	case <-time.After(time.Hour):
		end = time.Now()
	}
	_ = ours.Close()
	_ = h.Close()
	timebox.Wait(t, ended)
	return end.Sub(begin)
}

// TestUnreadAnswers is H7 over HTTP/1.1: a client that reads nothing is given up, whoever answers it: the gateway, at whatever place, or net/http.
func TestUnreadAnswers(t *testing.T) {
	s := guardedServer(t, "")
	for name, request := range map[string]string{
		"no such path":      "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"no token":          "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
		"a foreign origin":  "GET /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n\r\n",
		"the metadata":      "GET /.well-known/oauth-protected-resource HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"the manifest":      "GET /manifest HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"the server itself": "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"a bad request":     "GET / HTTP/1.1\r\n\r\n",
		"an expectation":    "GET / HTTP/1.1\r\nHost: localhost\r\nExpect: more\r\n\r\n",
		"a body in between": "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
	} {
		for which, h := range map[string]*http.Server{"public": s.publicServer(context.Background()), "admin": s.adminServer(context.Background())} {
			t.Run(name+", "+which, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					took := unread(t, h, func(conn net.Conn) {
						if _, err := io.WriteString(conn, request); err != nil {
							t.Error(err)
						}
					})
					if took == 0 || took > answerTimeout+time.Second { // in which net/http closes
						t.Errorf("given up after %v", took)
					}
				})
			})
		}
	}
}

// TestAnswerAfterAStalledBody: who sends no more of a body that nobody reads has its answer nevertheless.
func TestAnswerAfterAStalledBody(t *testing.T) {
	s := guardedServer(t, "")
	h := s.publicServer(context.Background())
	synctest.Test(t, func(t *testing.T) {
		unread(t, h, func(conn net.Conn) {
			_, _ = io.WriteString(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
			begin := time.Now()
			got, err := bufio.NewReader(conn).ReadString('\n')
			if took := time.Since(begin); got != "HTTP/1.1 401 Unauthorized\r\n" || took > listener.BodyStall {
				t.Errorf("%q, %v after %v", got, err, took)
			}
		})
	})
}

// TestClosedWindows is H7 over HTTP/2: a client that lets the server send no body holds no stream for long, with or without a token.
func TestClosedWindows(t *testing.T) {
	s := guardedServer(t, "")
	for _, path := range []string{"/x", "/mcp", "/.well-known/oauth-protected-resource", "/manifest"} {
		h := s.publicServer(context.Background())
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const streams = 100
				unread(t, h, func(conn net.Conn) {
					reset := make(chan time.Duration, streams)
					begin := time.Now()
					f, out := windowed(t, conn, 0, func(f http2.Frame) {
						if _, ok := f.(*http2.RSTStreamFrame); ok {
							reset <- time.Since(begin)
						}
					})
					var head bytes.Buffer
					for n := range uint32(streams) {
						head.Reset()
						e := hpack.NewEncoder(&head)
						for _, field := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", "localhost"}, {":path", path}, {"x-held", strings.Repeat("a", 10<<10)}} {
							_ = e.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
						}
						out <- func() error {
							return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*n + 1, BlockFragment: head.Bytes(), EndStream: true, EndHeaders: true})
						}
						out <- nil // it is written
					}
					for n := range streams {
						select {
						case took := <-reset:
							if took == 0 || took > answerTimeout {
								t.Errorf("a stream was given up after %v", took)
							}
						case <-time.After(time.Minute):
							t.Fatalf("%d of %d streams were given up", n, streams)
						}
					}
					close(out)
					_ = conn.Close()
				})
			})
		})
	}
}

// windowed begins a connection of HTTP/2 in clear whose client takes so many bytes of each body and is alive otherwise. What is put into out writes to the
// connection, in order; seen has what comes.
func windowed(t *testing.T, conn net.Conn, window uint32, seen func(http2.Frame)) (f *http2.Framer, out chan<- func() error) {
	t.Helper()
	writes := make(chan func() error)
	f = http2.NewFramer(conn, conn)
	answers := make(chan func() error, 1000)
	go func() { // a pipe holds nothing, so that reading must not wait for writing
		for {
			var write func() error
			var ok bool
			select {
			case write = <-answers:
				ok = true
			case write, ok = <-writes:
			}
			if !ok {
				return
			}
			if write != nil && write() != nil {
				return
			}
		}
	}()
	go func() {
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			switch frame := frame.(type) {
			case *http2.SettingsFrame:
				if !frame.IsAck() {
					answers <- f.WriteSettingsAck
				}
			case *http2.PingFrame:
				if data := frame.Data; !frame.IsAck() {
					answers <- func() error { return f.WritePing(true, data) }
				}
			}
			seen(frame)
		}
	}()
	writes <- func() error {
		if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
			return err
		}
		return f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
	}
	return f, writes
}
