package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/gateway/mcp"
	"drawbridge/test/timebox"
)

// bubble serves h as a server with a deadline of its own for answers does, and returns a way to connect to it. The time at which
// a connection of HTTP/1 is closed goes to closed.
func bubble(t *testing.T, h http.Handler, patience time.Duration) (dial func() net.Conn, closed <-chan time.Time) {
	t.Helper()
	ends := make(chan time.Time, 10)
	s := &http.Server{Handler: h, WriteTimeout: patience, Protocols: new(http.Protocols), ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			ends <- time.Now()
		}
	}}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(l) // which says that it was closed
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-ended
	})
	return func() net.Conn {
		theirs, ours := net.Pipe()
		l.conns <- theirs
		return ours
	}, ends
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { close(l.closed); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// TestCallOutlastsTheServer: a call may take longer than the server has patience with answers, and so may the pause in the
// answers of a connection.
func TestCallOutlastsTheServer(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(proto, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dial, _ := bubble(t, mcp.NewHandler(mcp.Methods{"tools/call": func(_ context.Context, _ *mcp.Request, reply *mcp.Reply) error {
					time.Sleep(time.Minute)
					return reply.Result(mcp.Chunk{Bytes: []byte(`"x":1`)})
				}}, mcp.Options{Capabilities: mcp.Capabilities{Tools: true}}), 10*time.Second)
				client := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return dial(), nil }, Protocols: new(http.Protocols)}
				client.Protocols.SetHTTP1(proto == "HTTP/1.1")
				client.Protocols.SetUnencryptedHTTP2(proto == "HTTP/2.0")
				defer client.CloseIdleConnections()
				for range 2 {
					resp, err := client.RoundTrip(modernCall(t, "mcp.example", "x"))
					if err != nil {
						t.Fatal(err)
					}
					body, err := io.ReadAll(resp.Body)
					if resp.Proto != proto || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `"x":1`) {
						t.Errorf("%s %s %s, %v", resp.Proto, resp.Status, body, err)
					}
					time.Sleep(time.Minute)
				}
			})
		})
	}
}

// TestDeadlinesDoNotOutliveTheAnswer: on a connection that is used again the next answer may come from another handler, long after,
// also where the server has no deadline of its own.
func TestDeadlinesDoNotOutliveTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endpoint, dials := newEndpoint(t, testMethods(), mcp.Options{}), 0
		dial, _ := bubble(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/mcp" {
				endpoint.ServeHTTP(w, r)
				return
			}
			_, _ = io.WriteString(w, "other")
		}), 0)
		client := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { dials++; return dial(), nil }}
		defer client.CloseIdleConnections()
		for _, tool := range []string{"echo", "nope", "fail"} {
			other := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://mcp.example/other", nil)
			for _, r := range []*http.Request{modernCall(t, "mcp.example", tool), other} {
				resp, err := client.RoundTrip(r)
				if err != nil {
					t.Fatalf("%s: %v", tool, err)
				}
				if body, err := io.ReadAll(resp.Body); err != nil || r == other && string(body) != "other" {
					t.Errorf("%s: %s, %v", tool, body, err)
				}
				time.Sleep(time.Minute)
			}
		}
		if dials != 1 {
			t.Errorf("%d connections", dials)
		}
	})
}

// TestServerDeadlines holds that the server's deadline is cleared where it would do harm without a write.
func TestServerDeadlines(t *testing.T) {
	t.Parallel()
	endpoint := newEndpoint(t, testMethods(), mcp.Options{})
	for _, c := range []struct {
		major  int
		secure bool
		taken  bool
	}{{1, false, false}, {1, true, true}, {2, false, true}, {2, true, true}} {
		r := modernCall(t, "mcp.example", "echo")
		if r.ProtoMajor = c.major; c.secure {
			r.TLS = &tls.ConnectionState{}
		}
		deadlines := make(chan time.Time, 100)
		endpoint.ServeHTTP(&deadlineWriter{httptest.NewRecorder(), deadlines}, r)
		if first := timebox.Receive(t, deadlines); first.IsZero() != c.taken {
			t.Errorf("%+v: the first write deadline is %v", c, first)
		}
	}
}

// TestUnreadEnds is H7: what net/http writes when an exchange is over is given up like the answer itself.
func TestUnreadEnds(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 2<<20)
	request := func(t *testing.T, body string, headers ...string) []byte {
		t.Helper()
		var b bytes.Buffer
		if err := newRequest(t, "mcp.example", body, headers...).Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	methods := mcp.Methods{"tools/call": func(_ context.Context, _ *mcp.Request, reply *mcp.Reply) error {
		return reply.Result(mcp.Chunk{Bytes: []byte(`"x":"`)}, mcp.Chunk{Bytes: long, Escape: true}, mcp.Chunk{Bytes: []byte(`"`)})
	}}
	o := mcp.Options{Capabilities: mcp.Capabilities{Tools: true}}
	call := func(t *testing.T) []byte {
		return request(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x",`+modernMeta+`}}`,
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "x")
	}
	givenUp := func(t *testing.T, from time.Time, closed <-chan time.Time) {
		t.Helper()
		select {
		case at := <-closed:
			if took := at.Sub(from); took != 10*time.Second {
				t.Errorf("given up after %v", took)
			}
		case <-time.After(time.Hour):
			t.Error("not given up")
		}
	}
	t.Run("202", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dial, closed := bubble(t, mcp.NewHandler(methods, o), 0)
			conn := dial()
			defer conn.Close()
			if _, err := conn.Write(request(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "notifications/progress")); err != nil {
				t.Fatal(err)
			}
			givenUp(t, time.Now(), closed)
		})
	})
	t.Run("the last chunk", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dial, closed := bubble(t, mcp.NewHandler(methods, o), 0)
			conn := dial()
			defer conn.Close()
			if _, err := conn.Write(call(t)); err != nil {
				t.Fatal(err)
			}
			r := bufio.NewReader(conn)
			resp, err := http.ReadResponse(r, nil)
			if err != nil || resp.ContentLength >= 0 {
				t.Fatalf("%+v, %v", resp, err)
			}
			// The end of the JSON is the end of what the handler writes.
			for tail := ""; !strings.HasSuffix(tail, `"}}`); {
				b := make([]byte, 64<<10)
				n, err := resp.Body.Read(b)
				if err != nil {
					t.Fatal(err)
				}
				tail = string(b[max(0, n-10):n])
			}
			if end, err := r.Peek(2); string(end) != "\r\n" { // of its chunk
				t.Fatalf("%q, %v", end, err)
			}
			givenUp(t, time.Now(), closed)
		})
	})
}
