package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway/mcp"
	"drawbridge/test/timebox"
)

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// newRequest makes a POST of one message; headers are name, value, name, value.
func newRequest(t testing.TB, addr, body string, headers ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func modernCall(t testing.TB, addr, tool string) *http.Request {
	t.Helper()
	return newRequest(t, addr, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`",`+modernMeta+`}}`,
		"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
}

// send sends a request on a connection of its own and returns status and body.
func send(t testing.TB, r *http.Request) (*http.Response, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func initialize(t testing.TB, addr string) string {
	t.Helper()
	resp, body := send(t, newRequest(t, addr, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`))
	id := resp.Header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatalf("no session: %s", body)
	}
	return id
}

// waiting is a tool that tells when it runs, waits for the end of its context or for
// the client to leave, and tells which it was.
type waiting struct {
	started chan struct{}
	ended   chan string
}

func (w *waiting) methods() mcp.Methods {
	return mcp.Methods{"tools/call": func(ctx context.Context, req *mcp.Request, _ *mcp.Reply) error {
		w.started <- struct{}{}
		select {
		case <-ctx.Done():
		case <-req.Disconnected():
		}
		ended, gone := ctx.Err() != nil, req.HTTP.Context().Err() != nil
		w.ended <- fmt.Sprintf("context ended: %v, client gone: %v", ended, gone)
		return context.Canceled
	}}
}

func newWaiting() *waiting {
	return &waiting{started: make(chan struct{}), ended: make(chan string, 1)}
}

// TestDisconnect holds that a disconnect of a stateless client cancels its call (mcp-T15), while a legacy call goes on
// and can see the disconnect (2025-11-25 transports, Sending Messages).
func TestDisconnect(t *testing.T) {
	t.Parallel()
	for _, family := range []string{"modern", "legacy"} {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			w := newWaiting()
			events := make(chan mcp.Event, 10)
			addr := startServer(t, w.methods(), mcp.Options{Observe: func(_ *mcp.Request, e mcp.Event, _ *mcp.Called) { events <- e }})
			var r *http.Request
			if family == "modern" {
				r = modernCall(t, addr, "wait")
			} else {
				r = newRequest(t, addr, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`, "Mcp-Session-Id", initialize(t, addr))
				timebox.Wait(t, events)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
				if resp, err := client.Do(r.WithContext(ctx)); err == nil {
					resp.Body.Close()
					t.Error("an answer came")
				}
			}()
			timebox.Wait(t, w.started)
			start := time.Now()
			cancel()
			if got, want := timebox.Receive(t, w.ended), fmt.Sprintf("context ended: %v, client gone: true", family == "modern"); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("noticed after %v", took)
			}
			timebox.Wait(t, done)
			if e := timebox.Receive(t, events); e.Code != mcp.CodeCancelled || e.HTTPStatus != 499 || e.Method != "tools/call" {
				t.Errorf("event %+v", e)
			}
		})
	}
}

// TestCancelledNotification: notifications/cancelled ends the call with that id in
// that session, however the id is spelled, and no other.
func TestCancelledNotification(t *testing.T) {
	t.Parallel()
	w := newWaiting()
	addr := startServer(t, w.methods(), mcp.Options{})
	mine, other := initialize(t, addr), initialize(t, addr)
	answer := make(chan string, 1)
	r := newRequest(t, addr, `{"jsonrpc":"2.0","id":"caf\u00e9","method":"tools/call","params":{"name":"wait"}}`, "Mcp-Session-Id", mine)
	go func() {
		_, body := send(t, r)
		answer <- body
	}()
	timebox.Wait(t, w.started)
	cancel := func(session, id string) {
		resp, _ := send(t, newRequest(t, addr, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`, "Mcp-Session-Id", session))
		if resp.StatusCode != http.StatusAccepted {
			t.Errorf("cancelled: %s", resp.Status)
		}
	}
	cancel(other, `"café"`)
	cancel(mine, `1`)
	cancel(mine, `"CAFÉ"`)
	select {
	case <-w.ended:
		t.Fatal("cancelled by a notification for another call")
	default:
	}
	cancel(mine, `"café"`)
	if got := timebox.Receive(t, w.ended); got != "context ended: true, client gone: false" {
		t.Error(got)
	}
	want := `{"jsonrpc":"2.0","id":"caf\u00e9","error":{"code":-32800,"message":"cancelled by notifications/cancelled"}}`
	if got := timebox.Receive(t, answer); got != want {
		t.Errorf("answer %s, want %s", got, want)
	}
}

// TestBodyLimits: mcp-T20, H5. A body over the limit is refused whether or not its
// length is announced, and one that fits exactly is read.
func TestBodyLimits(t *testing.T) {
	t.Parallel()
	addr := startServer(t, testMethods(), mcp.Options{ReloadableOptions: mcp.ReloadableOptions{MaxBody: 1000}})
	message := func(size int) string {
		const head = `{"jsonrpc":"2.0","id":1,"method":"test/describe","params":{` + modernMeta + `,"x":"`
		return head + strings.Repeat("x", size-len(head)-len(`"}}`)) + `"}}`
	}
	for _, chunked := range []bool{false, true} {
		for size, status := range map[int]int{400: 200, 999: 200, 1000: 200, 1001: 413, 50_000: 413} {
			r := newRequest(t, addr, message(size), "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "test/describe")
			if chunked {
				r.ContentLength, r.Body = -1, io.NopCloser(strings.NewReader(message(size)))
			}
			resp, body := send(t, r)
			if resp.StatusCode != status {
				t.Errorf("chunked %v, %d bytes: %s %s", chunked, size, resp.Status, body)
			}
			if status == 413 && body != `{"jsonrpc":"2.0","error":{"code":-32600,"message":"the body is larger than 1000 bytes"}}` {
				t.Errorf("body %s", body)
			}
		}
	}
}

// TestOwnFaultsAreLogged: the log has the cause under the reference that the
// client got, the stack of a panic, and no arguments; the client has nothing else.
func TestOwnFaultsAreLogged(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]string{"panic": "conversation_test.go", "fail": "a secret", "silent": "without an answer"} {
		var log bytes.Buffer
		var event mcp.Event
		h := newEndpoint(t, testMethods(), mcp.Options{
			Logger:  slog.New(slog.NewTextHandler(&log, nil)),
			Observe: func(_ *mcp.Request, e mcp.Event, _ *mcp.Called) { event = e },
		})
		r := modernCall(t, "mcp.example", tool)
		r.Body = io.NopCloser(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"canary":1},` + modernMeta + `}}`))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		body := w.Body.String()
		_, reference, _ := strings.Cut(body, "internal error, reference ")
		reference, _, _ = strings.Cut(reference, `"`)
		if len(reference) != 10 || !strings.Contains(log.String(), "reference="+reference) || !strings.Contains(log.String(), want) {
			t.Errorf("%s: answer %s, log %s", tool, body, &log)
		}
		if strings.Contains(log.String(), "canary") || strings.Contains(body, "secret") {
			t.Errorf("%s: leak: answer %s, log %s", tool, body, &log)
		}
		if event.Panicked != (tool == "panic") || event.Code != mcp.CodeInternal {
			t.Errorf("%s: event %+v", tool, event)
		}
	}
}

// TestPanicAfterTheAnswer: an answer that was complete arrives, and the server lives.
func TestPanicAfterTheAnswer(t *testing.T) {
	t.Parallel()
	events := make(chan mcp.Event, 1)
	addr := startServer(t, mcp.Methods{"tools/call": func(_ context.Context, _ *mcp.Request, reply *mcp.Reply) error {
		defer func() { panic("late") }()
		return reply.Result(mcp.Chunk{Bytes: []byte(`"isError":true`)})
	}}, mcp.Options{Observe: func(_ *mcp.Request, e mcp.Event, _ *mcp.Called) { events <- e }})
	for range 2 {
		resp, body := send(t, modernCall(t, addr, "x"))
		if resp.StatusCode != http.StatusOK || !strings.HasSuffix(body, `"isError":true}}`) {
			t.Errorf("%s %s", resp.Status, body)
		}
		if e := timebox.Receive(t, events); !e.Panicked {
			t.Errorf("event %+v", e)
		}
	}
}

// TestUnreadAnswer holds that writing a response that is not read ends after some time without progress (H7).
func TestUnreadAnswer(t *testing.T) {
	t.Parallel()
	const stall = time.Second
	big := bytes.Repeat([]byte("x"), 16<<20)
	ended := make(chan error, 1)
	h := mcp.NewHandler(mcp.Methods{"tools/call": func(_ context.Context, _ *mcp.Request, reply *mcp.Reply) error {
		err := reply.Result(mcp.Chunk{Bytes: []byte(`"x":"`)}, mcp.Chunk{Bytes: big, Escape: true}, mcp.Chunk{Bytes: []byte(`"`)})
		ended <- err
		return err
	}}, mcp.Options{Capabilities: mcp.Capabilities{Tools: true}})
	h.SetStall(stall)
	server := httptest.NewServer(h)
	defer server.Close()
	addr := server.Listener.Addr().String()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var b bytes.Buffer
	if err := modernCall(t, addr, "x").Write(&b); err != nil {
		t.Error(err)
	}
	start := time.Now()
	if _, err := conn.Write(b.Bytes()); err != nil {
		t.Error(err)
	}
	if err := timebox.Receive(t, ended); err == nil {
		t.Error("16 MiB went to a client that reads nothing")
	}
	if took := time.Since(start); took < stall*9/10 || took > 10*stall {
		t.Errorf("given up after %v", took)
	}
}

// tooSlow is a body that the server has given up.
type tooSlow struct{}

func (tooSlow) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// TestSlowBody: H7. A body that the server gives up is answered, and the connection ends.
func TestSlowBody(t *testing.T) {
	h := newEndpoint(t, testMethods(), mcp.Options{})
	r := modernCall(t, "mcp.example", "echo")
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader("{"), tooSlow{}))
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusRequestTimeout || w.Header().Get("Connection") != "close" || !strings.Contains(w.Body.String(), "the body did not arrive in time") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

// deadlineWriter tells the write deadlines that are set.
type deadlineWriter struct {
	http.ResponseWriter
	set chan time.Time
}

func (w *deadlineWriter) SetWriteDeadline(t time.Time) error { w.set <- t; return nil }
func (w *deadlineWriter) Flush()                             {}

// TestObserve: what an access log and metrics are told.
func TestObserve(t *testing.T) {
	t.Parallel()
	var got mcp.Event
	now := time.Unix(0, 0)
	h := newEndpoint(t, testMethods(), mcp.Options{
		Observe: func(_ *mcp.Request, e mcp.Event, _ *mcp.Called) { got = e },
		Now:     func() time.Time { now = now.Add(time.Millisecond); return now },
	})
	for _, c := range []struct {
		request *http.Request
		want    mcp.Event
	}{
		{modernCall(t, "mcp.example", "echo"), mcp.Event{Method: "tools/call", Family: mcp.Stateless, Revision: "2026-07-28", HTTPStatus: 200}},
		{modernCall(t, "mcp.example", "nope"), mcp.Event{Method: "tools/call", Family: mcp.Stateless, Revision: "2026-07-28", HTTPStatus: 400, Code: -32602}},
		{newRequest(t, "mcp.example", `{"jsonrpc":"2.0","id":1,"method":"drop tables"}`), mcp.Event{Family: mcp.Legacy, HTTPStatus: 400, Code: -32600}},
		{newRequest(t, "mcp.example", `{`), mcp.Event{HTTPStatus: 400, Code: -32700}},
		{newRequest(t, "mcp.example", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`),
			mcp.Event{Method: "initialize", Family: mcp.Legacy, Revision: "2025-06-18", HTTPStatus: 200}},
	} {
		w := httptest.NewRecorder()
		c.want.RequestBytes = c.request.ContentLength
		h.ServeHTTP(w, c.request)
		c.want.ResponseBytes, c.want.Duration = int64(w.Body.Len()), got.Duration
		if diff := cmp.Diff(c.want, got); diff != "" || got.Duration <= 0 {
			t.Errorf("%s (-want +got)\n%s", w.Body, diff)
		}
	}
}

// TestErrorAfterTheAnswer: it is for the log; the client has its answer.
func TestErrorAfterTheAnswer(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := newEndpoint(t, mcp.Methods{"tools/call": func(_ context.Context, _ *mcp.Request, reply *mcp.Reply) error {
		if err := reply.Result(); err != nil {
			return err
		}
		return mcp.InvalidParams("too %s", "late")
	}}, mcp.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, newRequest(t, "mcp.example", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`))
	r := newRequest(t, "mcp.example", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, "Mcp-Session-Id", w.Header().Get("Mcp-Session-Id"))
	w = httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Body.String() != `{"jsonrpc":"2.0","id":1,"result":{}}` || !strings.Contains(log.String(), `"too late"`) {
		t.Errorf("answer %s, log %s", w.Body, &log)
	}
}

// TestRevocationFails: a session that could not be ended is reported as such.
func TestRevocationFails(t *testing.T) {
	t.Parallel()
	r := newRevoked()
	r.err = errors.New("store is down")
	addr := startServer(t, testMethods(), mcp.Options{Revocations: r})
	req := newRequest(t, addr, "", "Mcp-Session-Id", initialize(t, addr))
	req.Method = http.MethodDelete
	resp, body := send(t, req)
	if resp.StatusCode != http.StatusServiceUnavailable || strings.Contains(body, "store") {
		t.Errorf("%s %s", resp.Status, body)
	}
}

// TestNoRevocations: without a store for tombstones DELETE is refused, as the legacy
// revisions allow, rather than pretended.
func TestNoRevocations(t *testing.T) {
	t.Parallel()
	addr := startServer(t, testMethods(), mcp.Options{})
	req := newRequest(t, addr, "", "Mcp-Session-Id", initialize(t, addr))
	req.Method = http.MethodDelete
	resp, _ := send(t, req)
	if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "POST" {
		t.Errorf("%s, Allow %q", resp.Status, resp.Header.Get("Allow"))
	}
}

// TestCapabilityGate: mcp-V2. Without the capability its methods are not there.
func TestCapabilityGate(t *testing.T) {
	t.Parallel()
	h := mcp.NewHandler(testMethods(), mcp.Options{Name: "test", Version: "1"})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, modernCall(t, "mcp.example", "echo"))
	if w.Code != http.StatusNotFound || w.Body.String() != `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found: \"tools/call\""}}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// BenchmarkCall measures a call over a real connection of HTTP/1.1, client included.
func BenchmarkCall(b *testing.B) {
	for _, size := range []int{1 << 10, 256 << 10} {
		document := bytes.Repeat([]byte(`{"id":"a-1","name":"x"},`), size/24)
		document = append(append([]byte("["), document[:len(document)-1]...), ']')
		addr := startServer(b, mcp.Methods{"tools/call": func(_ context.Context, _ *mcp.Request, reply *mcp.Reply) error {
			return reply.Result(
				mcp.Chunk{Bytes: []byte(`"content":[{"type":"text","text":"`)}, mcp.Chunk{Bytes: document, Escape: true},
				mcp.Chunk{Bytes: []byte(`"}],"structuredContent":`)}, mcp.Chunk{Bytes: document})
		}}, mcp.Options{})
		session := initialize(b, addr)
		for _, family := range []string{"modern", "legacy"} {
			b.Run(fmt.Sprintf("%dKiB/%s", size>>10, family), func(b *testing.B) {
				r := modernCall(b, addr, "x")
				if family == "legacy" {
					r = newRequest(b, addr, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, "Mcp-Session-Id", session)
				}
				var raw bytes.Buffer
				if err := r.Write(&raw); err != nil {
					b.Fatal(err)
				}
				conn, err := (&net.Dialer{}).DialContext(b.Context(), "tcp", addr)
				if err != nil {
					b.Fatal(err)
				}
				defer conn.Close()
				reader := bufio.NewReaderSize(conn, 64<<10)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := conn.Write(raw.Bytes()); err != nil {
						b.Fatal(err)
					}
					resp, err := http.ReadResponse(reader, nil)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := io.Copy(io.Discard, resp.Body); err != nil {
						b.Fatal(err)
					}
					if resp.StatusCode != http.StatusOK {
						b.Fatal(resp.Status)
					}
				}
			})
		}
	}
}
