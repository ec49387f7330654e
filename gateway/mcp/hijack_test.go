package mcp_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"drawbridge/gateway/mcp"
	"drawbridge/test/logbuffer"
)

type restKey struct{}

// parked serves the endpoint as the gateway does: streams wait outside of everything, on connections of their own.
func parked(t testing.TB, o mcp.Options) http.Handler {
	t.Helper()
	o.RunAfterMiddleware = func(ctx context.Context, rest func()) bool {
		*ctx.Value(restKey{}).(*func()) = rest
		return true
	}
	h := newEndpoint(t, nil, o)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var rest func()
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), restKey{}, &rest)))
		if rest != nil {
			rest()
		}
	})
}

// gone waits until the broker has so many streams.
func (w *whole) gone(t testing.TB, streams int) {
	t.Helper()
	for start := time.Now(); w.broker.Streams() != streams; time.Sleep(time.Millisecond) {
		if time.Since(start) > 20*time.Second {
			t.Fatalf("%d streams are open, want %d", w.broker.Streams(), streams)
		}
	}
}

// message reads the next message of a stream as it is on the wire, chunks and all.
func message(t testing.TB, r *bufio.Reader) string {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return data
		}
	}
}

// TestTakenStream holds that a stream on a hijacked connection is to its client like any other: it gets change
// notifications and keep-alive comments, ends with its result and in good order, and with its client.
func TestTakenStream(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls %t", secure), func(t *testing.T) {
			w := newWhole(mcp.BrokerOptions{})
			server := httptest.NewUnstartedServer(parked(t, mcp.Options{ReloadableOptions: mcp.ReloadableOptions{KeepAlive: 20 * time.Millisecond}, Broker: w.broker}))
			if secure {
				server.StartTLS()
			} else {
				server.Start()
			}
			defer server.Close()
			client := server.Client()
			client.Transport.(*http.Transport).ForceAttemptHTTP2 = false
			client.Transport.(*http.Transport).TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
			open := func(ctx context.Context) (*http.Response, *bufio.Reader) {
				r := newRequest(t, "mcp.example", `{"jsonrpc":"2.0","id":"a","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+modernMeta+`}}`,
					"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen").WithContext(ctx)
				r.RequestURI, r.URL.Scheme, r.URL.Host = "", strings.SplitN(server.URL, ":", 2)[0], server.Listener.Addr().String()
				resp, err := client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				if resp.StatusCode != http.StatusOK || resp.ProtoMajor != 1 || !resp.Close {
					t.Fatalf("%+v", resp)
				}
				lines := bufio.NewReader(resp.Body)
				if got := message(t, lines); !strings.Contains(got, "acknowledged") {
					t.Fatal(got)
				}
				return resp, lines
			}
			ctx, cancel := context.WithCancel(t.Context())
			leaving, _ := open(ctx)
			staying, lines := open(t.Context())
			defer staying.Body.Close()
			for range 3 {
				w.change(mcp.ToolsList)
				if got := message(t, lines); !strings.Contains(got, "tools/list_changed") {
					t.Fatal(got)
				}
			}
			for comments := 0; comments < 3; {
				line, err := lines.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if line == ":\n" {
					comments++
				}
			}
			cancel()
			leaving.Body.Close()
			w.gone(t, 1)
			if err := w.broker.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := message(t, lines); !strings.Contains(got, `"id":"a","result":{`) {
				t.Fatal(got)
			}
			if rest, err := io.ReadAll(lines); err != nil { // not io.ErrUnexpectedEOF
				t.Fatalf("%v behind %q", err, rest)
			}
		})
	}
}

// TestTakenConnection holds that data from the client on the connection of its stream is not served, and that much of
// it ends the stream. An HTTP/1.0 connection is not hijacked.
func TestTakenConnection(t *testing.T) {
	w := newWhole(mcp.BrokerOptions{})
	server := httptest.NewServer(parked(t, mcp.Options{Broker: w.broker}))
	defer server.Close()
	addr := server.Listener.Addr().String()
	quiet, chatty := openListen(t, addr, "quiet"), openListen(t, addr, "chatty")
	defer quiet.Close()
	defer chatty.Close()
	if _, err := io.WriteString(quiet, "\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(chatty, "POST /mcp HTTP/1.1\r\nHost: mcp.example\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	w.gone(t, 1)
	if rest, err := io.ReadAll(chatty); strings.Contains(string(rest), "HTTP/1.1") || err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the other request got %q, %v", rest, err)
	}
	w.change(mcp.ToolsList)
	if got := message(t, bufio.NewReader(quiet)); !strings.Contains(got, "list_changed") {
		t.Error(got)
	}
	old, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	body := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`
	fmt.Fprintf(old, "POST /mcp HTTP/1.0\r\nHost: mcp.example\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	lines := bufio.NewReader(old)
	if got := message(t, lines); !strings.Contains(got, "acknowledged") {
		t.Error(got)
	}
	w.change(mcp.ToolsList)
	if got := message(t, lines); !strings.Contains(got, "list_changed") {
		t.Error(got)
	}
	if err := w.broker.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestTakenStreamPanics holds that a panic in a notification is logged and ends that stream by closing its connection,
// and no other.
func TestTakenStreamPanics(t *testing.T) {
	var log logbuffer.Buffer
	var armed atomic.Bool
	broker := mcp.NewBroker(mcp.BrokerOptions{ListVersion: func(context.Context, mcp.Subscriber, mcp.List) string {
		if armed.CompareAndSwap(true, false) {
			panic("a secret")
		}
		return rand.Text()
	}})
	w := &whole{broker: broker}
	server := httptest.NewServer(parked(t, mcp.Options{Broker: broker, Logger: slog.New(slog.NewTextHandler(&log, nil))}))
	defer server.Close()
	addr := server.Listener.Addr().String()
	bad := openListen(t, addr, "bad")
	defer bad.Close()
	armed.Store(true)
	broker.ListsChanged(mcp.ToolsList)
	if rest, err := io.ReadAll(bad); err != nil || len(rest) > 0 { // no last chunk
		t.Errorf("the stream ends with %q, %v", rest, err)
	}
	w.gone(t, 0)
	if text := log.String(); !strings.Contains(text, "panic in a stream of changes") || strings.Contains(text, "a secret") {
		t.Error(text)
	}
	good := openListen(t, addr, "good")
	defer good.Close()
	broker.ListsChanged(mcp.ToolsList)
	if got := message(t, bufio.NewReader(good)); !strings.Contains(got, "list_changed") {
		t.Error(got)
	}
	if err := broker.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestTakenSlowListener holds that a client that reads nothing is dropped after the write timeout and delays no other.
func TestTakenSlowListener(t *testing.T) {
	w := newWhole(mcp.BrokerOptions{})
	w.broker.SetListsPause(0)
	h := mcp.NewHandler(nil, mcp.Options{Broker: w.broker, Capabilities: mcp.Capabilities{Tools: true}, RunAfterMiddleware: func(ctx context.Context, rest func()) bool {
		*ctx.Value(restKey{}).(*func()) = rest
		return true
	}})
	h.SetStall(300 * time.Millisecond)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var rest func()
		if h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), restKey{}, &rest))); rest != nil {
			rest()
		}
	}))
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		_ = c.(*net.TCPConn).SetWriteBuffer(4 << 10)
		return ctx
	}
	server.Start()
	defer server.Close()
	addr := server.Listener.Addr().String()
	slow, quick := openListen(t, addr, "slow"), openListen(t, addr, "quick")
	defer slow.Close()
	defer quick.Close()
	_ = slow.(*net.TCPConn).SetReadBuffer(4 << 10)
	r := bufio.NewReader(quick)
	for i := 0; w.broker.Streams() == 2; i++ {
		if i > 1_000_000 {
			t.Fatal("a client that reads nothing is still there")
		}
		start := time.Now()
		w.change(mcp.ToolsList)
		message(t, r)
		if took := time.Since(start); took > 5*time.Second {
			t.Fatalf("told after %v", took)
		}
	}
	if err := w.broker.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestTakenStreamMemory: an open stream with nothing to say costs at most 12 KiB of memory, the client's side of it in this
// process included.
func TestTakenStreamMemory(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector takes memory of its own")
	}
	const streams, limit = 500, 12 << 10
	w := newWhole(mcp.BrokerOptions{})
	server := httptest.NewServer(parked(t, mcp.Options{Broker: w.broker}))
	defer server.Close()
	addr := server.Listener.Addr().String()
	used := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	openListen(t, addr, "warm").Close()
	before := used()
	for i := range streams {
		defer openListen(t, addr, fmt.Sprint(i)).Close()
	}
	each := (used() - before) / streams
	t.Logf("%d bytes for each stream", each)
	if each > limit {
		t.Errorf("%d bytes for each stream, want at most %d", each, limit)
	}
}
