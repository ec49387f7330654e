package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"drawbridge/gateway/mcp"
	"drawbridge/test/faultnet"
	"drawbridge/test/timebox"
)

// longList serves a list that no buffer takes at once.
type longList struct {
	*httptest.Server
	readers mcp.SlowReaders
	events  chan mcp.Event
	panics  chan any
	members []byte
}

func serveLongList(t *testing.T, secure bool, stall, patience time.Duration) *longList {
	t.Helper()
	random := make([]byte, 256<<10) // which does not become small by compressing it
	chacha := rand.NewChaCha8([32]byte{1})
	_, _ = chacha.Read(random) // never fails (math/rand/v2)
	l := &longList{events: make(chan mcp.Event, 10), panics: make(chan any, 10), members: []byte(`"tools":[],"x":"` + hex.EncodeToString(random) + `"`)}
	list := mcp.NewPrecompressed(l.members)
	h := mcp.NewHandler(mcp.Methods{"tools/list": func(_ context.Context, _ *mcp.Request, reply *mcp.Reply) error { return reply.Precompressed(list) }}, mcp.Options{
		Capabilities: mcp.Capabilities{Tools: true}, SlowReaders: &l.readers,
		RunAfterMiddleware: func(ctx context.Context, rest func()) bool {
			*ctx.Value(restKey{}).(*func()) = rest
			return true
		},
		Observe: func(_ *mcp.Request, e mcp.Event, _ *mcp.Called) { l.events <- e },
		OnPanic: func(_ string, v any) { l.panics <- v },
	})
	h.SetStall(stall)
	h.SetPatience(patience)
	l.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var rest func()
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), restKey{}, &rest)))
		if rest != nil {
			rest()
		}
	}))
	l.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if c, ok := c.(*net.TCPConn); ok {
			_ = c.SetWriteBuffer(32 << 10) // else more fits
		}
		return ctx
	}
	if secure {
		l.StartTLS()
	} else {
		l.Start()
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = l.readers.Drain(ctx)
		l.Close()
	})
	return l
}

// ask sends a request for the list on a connection with a small buffer.
func (l *longList) ask(t *testing.T, header string) net.Conn {
	t.Helper()
	d := net.Dialer{Control: faultnet.Narrow}
	conn, err := d.DialContext(t.Context(), "tcp", l.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	askAgain(t, conn, header)
	return conn
}

func askAgain(t *testing.T, w io.Writer, header string) {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":"me","method":"tools/list","params":{` + modernMeta + `}}`
	if _, err := fmt.Fprintf(w, "POST /mcp HTTP/1.1\r\nHost: mcp.example\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\n"+
		"Mcp-Method: tools/list\r\nContent-Length: %d\r\n%s\r\n%s", len(body), header, body); err != nil {
		t.Fatal(err)
	}
}

// slow waits until so many clients are slow.
func (l *longList) slow(t *testing.T, n int) {
	t.Helper()
	for start := time.Now(); l.readers.Count() != n; time.Sleep(time.Millisecond) {
		if time.Since(start) > 20*time.Second {
			t.Fatalf("%d clients are slow, want %d", l.readers.Count(), n)
		}
	}
}

// answer reads an answer, and returns its body as it came.
func answer(t *testing.T, r *bufio.Reader) []byte {
	t.Helper()
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || resp.ContentLength != int64(len(body)) || resp.Close {
		t.Fatalf("%d bytes: %+v", len(body), resp)
	}
	return body
}

// TestSlowReader holds that a client that pauses and reads on gets the same bytes as a quick one and is reported
// likewise, and that its connection is closed afterwards. A quick client keeps its connection.
func TestSlowReader(t *testing.T) {
	for name, header := range map[string]string{
		"plain": "Accept: application/json\r\n", "compressed": "Accept: application/json\r\nAccept-Encoding: gzip\r\n", "event": "Accept: text/event-stream\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			l := serveLongList(t, false, time.Minute, time.Millisecond)
			conn := l.ask(t, header)
			l.slow(t, 1)
			patient := serveLongList(t, false, time.Minute, time.Minute)
			quick := patient.ask(t, header)
			buffered := bufio.NewReader(quick)
			want := answer(t, buffered)
			event := timebox.Receive(t, patient.events)
			askAgain(t, quick, header)
			if again := answer(t, buffered); !bytes.Equal(again, want) || name == "plain" && !bytes.Contains(want, l.members) {
				t.Errorf("%.200s, and then %.200s", want, again)
			}
			buffered = bufio.NewReader(conn)
			if got := answer(t, buffered); !bytes.Equal(got, want) {
				t.Errorf("%d bytes, want %d: %.200s", len(got), len(want), got)
			}
			if rest, err := io.ReadAll(buffered); err != nil || len(rest) > 0 {
				t.Errorf("%q, %v behind the answer", rest, err)
			}
			got := timebox.Receive(t, l.events)
			if got.Duration = event.Duration; got != event {
				t.Errorf("%+v, want %+v", got, event)
			}
			l.slow(t, 0)
		})
	}
}

// TestSlowReaderIsGivenUp is H7: an answer that stands still is not sent for ever.
func TestSlowReaderIsGivenUp(t *testing.T) {
	l := serveLongList(t, false, 200*time.Millisecond, time.Millisecond)
	var givenUp atomic.Int32
	l.readers.OnTimeout = func() { givenUp.Add(1) }
	conn := l.ask(t, "")
	if e := timebox.Receive(t, l.events); e.HTTPStatus != 499 || e.Code != mcp.CodeCancelled || e.ResponseBytes == 0 {
		t.Errorf("%+v", e)
	}
	l.slow(t, 0)
	if n := givenUp.Load(); n != 1 {
		t.Errorf("%d were given up", n)
	}
	if got, _ := io.ReadAll(conn); len(got) == 0 || len(got) > len(l.members) { // an end, or a reset
		t.Errorf("%d bytes", len(got))
	}
}

// TestSlowReaderLeaves: so is one whose client goes away.
func TestSlowReaderLeaves(t *testing.T) {
	l := serveLongList(t, false, time.Minute, time.Millisecond)
	l.readers.OnTimeout = func() { t.Error("it was given up") }
	conn := l.ask(t, "")
	l.slow(t, 1)
	_ = conn.Close()
	if e := timebox.Receive(t, l.events); e.HTTPStatus != 499 {
		t.Errorf("%+v", e)
	}
	l.slow(t, 0)
}

// TestSlowReadersEnd: answers that are under way are waited for, as long as there is time.
func TestSlowReadersEnd(t *testing.T) {
	l := serveLongList(t, false, time.Minute, time.Millisecond)
	reads, never := l.ask(t, ""), l.ask(t, "")
	l.slow(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.readers.Drain(ctx) }()
	if got := answer(t, bufio.NewReader(reads)); !bytes.Contains(got, l.members) {
		t.Errorf("%.200s", got)
	}
	if e := timebox.Receive(t, l.events); e.HTTPStatus != 200 {
		t.Errorf("%+v", e)
	}
	select {
	case err := <-ended:
		t.Fatalf("the other was not waited for: %v", err)
	default:
	}
	cancel()
	if err := timebox.Receive(t, ended); !errors.Is(err, context.Canceled) || l.readers.Count() != 0 {
		t.Errorf("%v, %d are left", err, l.readers.Count())
	}
	if e := timebox.Receive(t, l.events); e.HTTPStatus != 499 {
		t.Errorf("%+v", e)
	}
	if got, _ := io.ReadAll(never); len(got) > len(l.members) { // an end, or a reset
		t.Errorf("%d bytes", len(got))
	}
	if err := l.readers.Drain(t.Context()); err != nil { // nothing to wait for
		t.Error(err)
	}
	l.ask(t, "") // comes too late to be waited for
	if e := timebox.Receive(t, l.events); e.HTTPStatus != 499 {
		t.Errorf("%+v", e)
	}
}

// TestLongListWithTLS: a connection that is not a socket in clear stays net/http's.
func TestLongListWithTLS(t *testing.T) {
	l := serveLongList(t, true, time.Minute, time.Millisecond)
	for range 2 {
		r := newRequest(t, "mcp.example", `{"jsonrpc":"2.0","id":"me","method":"tools/list","params":{`+modernMeta+`}}`, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list", "Accept-Encoding", "identity")
		r.RequestURI, r.URL.Scheme, r.URL.Host = "", "https", l.Listener.Addr().String()
		resp, err := l.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || !strings.Contains(string(body), string(l.members)) {
			t.Errorf("%.200s, %v", body, err)
		}
		_ = resp.Body.Close()
		if e := timebox.Receive(t, l.events); e.HTTPStatus != 200 || e.ResponseBytes != int64(len(body)) {
			t.Errorf("%+v for %d bytes", e, len(body))
		}
	}
}

// TestSlowReaderIsSlowAgain holds that a client that is slow again, before the goroutine that handed its connection
// back has ended, is not forgotten.
func TestSlowReaderIsSlowAgain(t *testing.T) {
	l := serveLongList(t, false, time.Minute, time.Millisecond)
	var client net.Conn
	again := &oneConn{ended: make(chan struct{})}
	server := &http.Server{Handler: l.Config.Handler, ReadHeaderTimeout: time.Minute}
	given, ended := make(chan struct{}), make(chan struct{})
	l.readers.Reuse = func(conn net.Conn, _ []byte) {
		if again.Conn != nil { // that is enough
			_ = conn.Close()
			return
		}
		again.Conn = conn
		go func() {
			defer close(ended)
			_ = server.Serve(again)
		}()
		askAgain(t, client, "")
		l.slow(t, 1)
		close(given)
	}
	client = l.ask(t, "")
	l.slow(t, 1)
	r := bufio.NewReader(client)
	first := answer(t, r)
	timebox.Wait(t, given)
	for start := time.Now(); time.Since(start) < 50*time.Millisecond; time.Sleep(time.Millisecond) {
		if n := l.readers.Count(); n != 1 {
			t.Errorf("%d clients are slow, want 1", n)
			break
		}
	}
	if second := answer(t, r); !bytes.Equal(first, second) {
		t.Errorf("%.200s, and then %.200s", first, second)
	}
	l.slow(t, 0)
	close(again.ended)
	timebox.Wait(t, ended)
	_ = server.Close()
}

// TestSlowReaderHasNoDeadlineLeft: the time for its answer is not that for the next one, which somebody else may write.
func TestSlowReaderHasNoDeadlineLeft(t *testing.T) {
	const stall = time.Second
	l := serveLongList(t, false, stall, time.Millisecond)
	said := make(chan error, 1)
	l.readers.Reuse = func(conn net.Conn, _ []byte) {
		time.Sleep(stall + stall/10) // what is under test is the connection's own clock
		_, err := io.WriteString(conn, "next")
		said <- errors.Join(err, conn.Close())
	}
	conn := l.ask(t, "")
	l.slow(t, 1)
	r := bufio.NewReader(conn)
	answer(t, r)
	next, _ := io.ReadAll(r)
	if err := timebox.Receive(t, said); err != nil || string(next) != "next" {
		t.Errorf("%q, %v", next, err)
	}
}

// oneConn is a listener that has one connection.
type oneConn struct {
	net.Conn
	taken bool
	ended chan struct{}
}

func (o *oneConn) Accept() (net.Conn, error) {
	if !o.taken {
		o.taken = true
		return o.Conn, nil
	}
	<-o.ended
	return nil, net.ErrClosed
}

func (o *oneConn) Close() error { return nil }

func (o *oneConn) Addr() net.Addr { return o.LocalAddr() }
