package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway/mcp"
)

// openListen opens a subscription over a socket and waits for its first message. The
// connection has no buffers and no goroutine of its own.
func openListen(t testing.TB, addr, id string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	listenOn(t, conn, id)
	return conn
}

// listenOn is openListen on a connection.
func listenOn(t testing.TB, conn net.Conn, id string) {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":"` + id + `","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`
	_, err := fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: mcp.example\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	var b [512]byte
	for !strings.Contains(got.String(), "acknowledged") || !strings.HasSuffix(got.String(), "\n\n\r\n") {
		n, err := conn.Read(b[:])
		got.Write(b[:n])
		if err != nil {
			t.Fatalf("%v after %q", err, got.String())
		}
	}
}

// TestIdleStreamMemory: an open stream with nothing to say costs at most 30 KiB, with
// all that net/http has for its connection (10 KiB of buffers, two goroutines) and
// with the client's side of it.
func TestIdleStreamMemory(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector takes memory of its own")
	}
	const streams, limit = 500, 30 << 10
	w := newWhole(mcp.BrokerOptions{})
	addr := startServer(t, nil, mcp.Options{Broker: w.broker})
	used := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	openListen(t, addr, "warm").Close()
	before := used()
	conns := make([]net.Conn, streams)
	for i := range conns {
		conns[i] = openListen(t, addr, fmt.Sprint(i))
		defer conns[i].Close()
	}
	each := (used() - before) / streams
	t.Logf("%d bytes for each stream", each)
	if each > limit {
		t.Errorf("%d bytes for each stream, want at most %d", each, limit)
	}
}

// TestSlowListener holds that a client that reads nothing is dropped after the write timeout, and that the others are
// notified at once.
func TestSlowListener(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const stall = 500 * time.Millisecond
		w := newWhole(mcp.BrokerOptions{})
		w.broker.SetListsPause(0)
		h := mcp.NewHandler(nil, mcp.Options{Broker: w.broker, Capabilities: mcp.Capabilities{Tools: true}})
		h.SetStall(stall)
		pipes := newPipes()
		server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
		ended := make(chan error)
		go func() { ended <- server.Serve(pipes) }()
		slow, quick := pipes.dial(), pipes.dial()
		listenOn(t, slow, "slow")
		listenOn(t, quick, "quick")
		r := bufio.NewReader(quick)
		start := time.Now()
		for changes := 0; w.broker.Streams() == 2; changes++ { // a pipe holds nothing: the first is stuck
			w.change(mcp.ToolsList)
			for line := ""; !strings.Contains(line, "list_changed"); {
				var err error
				if line, err = r.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			if took := time.Since(start); took != time.Duration(changes)*stall/10 {
				t.Fatalf("change %d was told after %v", changes, took)
			}
			if changes > 10 {
				t.Fatal("a client that reads nothing is still there")
			}
			time.Sleep(stall / 10)
			synctest.Wait()
		}
		if took := time.Since(start); took != stall {
			t.Errorf("a client that reads nothing is ended after %v", took)
		}
		if err := errors.Join(slow.Close(), quick.Close(), server.Close()); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// pipes is a listener within the process.
type pipes struct {
	net.Listener
	conns chan net.Conn
	ended chan struct{}
	close sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), ended: make(chan struct{})} }

// dial returns the client's end of a new connection.
func (p *pipes) dial() net.Conn {
	here, there := net.Pipe()
	p.conns <- there
	return here
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }

func (p *pipes) Close() error {
	p.close.Do(func() { close(p.ended) })
	return nil
}

// TestOneForEachChange: of changes that a client has the time to read, each is told
// once, to each of many streams, while streams come and go; and nothing stays behind.
func TestOneForEachChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const streams, changes = 50, 200
		w := newWhole(mcp.BrokerOptions{})
		w.broker.SetListsPause(0)
		h := newEndpoint(t, nil, mcp.Options{Broker: w.broker})
		listen := func(ctx context.Context) *talk {
			k := &talk{header: http.Header{}}
			r := newRequest(t, "mcp.example", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+modernMeta+`}}`,
				"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
			h.ServeHTTP(k, r.WithContext(ctx))
			return k
		}
		var wg sync.WaitGroup
		var told atomic.Int64
		for range streams {
			wg.Go(func() {
				k := listen(t.Context())
				told.Add(int64(strings.Count(k.body.String(), "list_changed")))
				if !strings.Contains(k.body.String(), `"resultType":"complete"`) {
					t.Error("a stream without an end")
				}
			})
		}
		done := make(chan struct{})
		wg.Go(func() {
			for i := 0; ; i++ {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%7)*time.Millisecond)
				listen(ctx)
				cancel()
				select {
				case <-done:
					return
				default:
				}
			}
		})
		synctest.Wait()
		for range changes {
			w.change(mcp.ToolsList)
			w.broker.ListsChanged(mcp.ToolsList | mcp.PromptsList) // a reload without a change
			time.Sleep(time.Millisecond)
		}
		close(done)
		if err := w.broker.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		if err := w.broker.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if got := told.Load(); got != streams*changes {
			t.Errorf("%d notifications for %d streams and %d changes", got, streams, changes)
		}
		if got := w.broker.Streams(); got != 0 {
			t.Errorf("%d streams after the end", got)
		}
	})
}

// TestManyChanges: 37 changes within 15 seconds are told in notifications that are a pause apart, the first at once and the last not later
// than a pause after the last change. A change that is undone within the pause is not sent, and one that is held back when the stream
// ends is sent before its end.
func TestManyChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var version atomic.Int64
		broker := mcp.NewBroker(mcp.BrokerOptions{ListVersion: func(context.Context, mcp.Subscriber, mcp.List) string { return fmt.Sprint(version.Load()) }})
		h := newEndpoint(t, nil, mcp.Options{Broker: broker})
		k := &talk{header: http.Header{}}
		r := newRequest(t, "mcp.example", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+modernMeta+`}}`,
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
		var wg sync.WaitGroup
		wg.Go(func() { h.ServeHTTP(k, r) })
		told := func() int { synctest.Wait(); return strings.Count(k.text(), "list_changed") }
		change := func(to int) { version.Store(int64(to)); broker.ListsChanged(mcp.ToolsList); synctest.Wait() }
		synctest.Wait()
		change(1)
		if n := told(); n != 1 {
			t.Errorf("%d notifications after the first change", n)
		}
		for i := range 36 {
			time.Sleep(15 * time.Second / 37)
			change(2 + i)
		}
		time.Sleep(mcp.ListsPause)
		if n := told(); n != 6 {
			t.Errorf("%d notifications of 37 changes in 15 seconds", n)
		}
		time.Sleep(time.Hour)
		change(100)
		change(101)
		change(100)
		time.Sleep(time.Hour)
		if n := told(); n != 7 {
			t.Errorf("%d notifications after a change that was undone", n)
		}
		change(102)
		change(103)
		if err := broker.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if text := k.text(); told() != 9 || strings.LastIndex(text, "list_changed") > strings.LastIndex(text, `"resultType":"complete"`) {
			t.Errorf("%d notifications at the end: %s", told(), text)
		}
	})
}

// TestKeepAliveAtTheEnd holds that a comment that is due when its stream ends does not interfere with the last message.
func TestKeepAliveAtTheEnd(t *testing.T) {
	t.Parallel()
	for range 50 { // which of both is first is chance
		synctest.Test(t, func(t *testing.T) {
			w := newWhole(mcp.BrokerOptions{AuthorizedUntil: func(context.Context) time.Time { return time.Now().Add(time.Minute) }})
			h := newEndpoint(t, nil, mcp.Options{ReloadableOptions: mcp.ReloadableOptions{KeepAlive: time.Minute}, Broker: w.broker})
			r := newRequest(t, "mcp.example", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},`+modernMeta+`}}`,
				"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
			k := &talk{header: http.Header{}}
			h.ServeHTTP(k, r)
			synctest.Wait()
			if got := k.body.String(); !strings.HasSuffix(got, "}}}\n\n") || !strings.Contains(got, `"resultType":"complete"`) {
				t.Errorf("the stream ends with %q", got)
			}
		})
	}
}

// TestDrainGivesUp: a drain waits no longer than it may.
func TestDrainGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWhole(mcp.BrokerOptions{})
		h := newEndpoint(t, nil, mcp.Options{Broker: w.broker})
		r := newRequest(t, "mcp.example", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},`+modernMeta+`}}`,
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
		k := &stuck{header: http.Header{}, free: make(chan struct{})}
		var wg sync.WaitGroup
		wg.Go(func() { h.ServeHTTP(k, r) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.broker.Drain(ctx); err != context.DeadlineExceeded { //nolint:errorlint // it is passed on as it is
			t.Errorf("Drain: %v", err)
		}
		close(k.free)
		wg.Wait()
	})
}

// stuck is a client that takes nothing until it is freed.
type stuck struct {
	header http.Header
	free   chan struct{}
}

func (k *stuck) Header() http.Header              { return k.header }
func (k *stuck) WriteHeader(int)                  {}
func (k *stuck) Flush()                           {}
func (k *stuck) SetWriteDeadline(time.Time) error { return nil }
func (k *stuck) SetReadDeadline(time.Time) error  { return nil }
func (k *stuck) Write(b []byte) (int, error)      { <-k.free; return len(b), nil }

// BenchmarkChanged is one change that 1,000 open streams are notified of.
func BenchmarkChanged(b *testing.B) {
	const streams = 1000
	w := newWhole(mcp.BrokerOptions{})
	addr := startServer(b, nil, mcp.Options{Broker: w.broker})
	var told atomic.Int64
	for i := range streams {
		conn := openListen(b, addr, fmt.Sprint(i))
		defer conn.Close()
		go func() {
			r := bufio.NewReaderSize(conn, 512)
			for {
				line, err := r.ReadString('\n')
				if err != nil {
					return
				}
				if strings.Contains(line, "list_changed") {
					told.Add(1)
				}
			}
		}()
	}
	b.ReportAllocs()
	for b.Loop() {
		until := told.Load() + streams
		w.change(mcp.ToolsList)
		for told.Load() < until {
			runtime.Gosched()
		}
	}
}

// FuzzFilter holds that a filter of a client is read as encoding/json reads its members,
// or refused.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{`{"toolsListChanged":true}`, `{"resourceSubscriptions":["a","\u0061",""]}`, `{"taskIds":[1]}`, `[]`, `{"promptsListChanged":"x"}`, `{"prOmptsListChAnged":"x"}`} {
		f.Add(seed)
	}
	// No stream stays open.
	w := newWhole(mcp.BrokerOptions{AuthorizedUntil: func(context.Context) time.Time { return time.Unix(1, 0) }})
	h := newEndpoint(f, nil, mcp.Options{Broker: w.broker, Capabilities: mcp.Capabilities{Prompts: true, Resources: true}})
	f.Fuzz(func(t *testing.T, filter string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://mcp.example/mcp", strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":`+filter+`,`+modernMeta+`}}`))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"}}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		body, err := io.ReadAll(rec.Body)
		if err != nil {
			t.Fatal(err)
		}
		checkAcknowledged(t, filter, rec.Code, body)
	})
}

// checkAcknowledged holds what was acknowledged against what was asked for.
func checkAcknowledged(t *testing.T, filter string, status int, body []byte) {
	t.Helper()
	if status != http.StatusOK {
		if status != http.StatusBadRequest {
			t.Fatalf("%s: %d %s", filter, status, body)
		}
		return
	}
	type wants struct {
		ToolsListChanged, PromptsListChanged, ResourcesListChanged bool
		ResourceSubscriptions                                      []string
	}
	// By their exact names: encoding/json takes a name of a field in any case, MCP does not.
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(filter), &members); err != nil {
		t.Fatalf("%s was taken, though %v", filter, err)
	}
	var asked wants
	for name, to := range map[string]any{
		"toolsListChanged": &asked.ToolsListChanged, "promptsListChanged": &asked.PromptsListChanged,
		"resourcesListChanged": &asked.ResourcesListChanged, "resourceSubscriptions": &asked.ResourceSubscriptions,
	} {
		value, ok := members[name]
		if !ok {
			continue
		}
		if err := json.Unmarshal(value, to); err != nil {
			t.Fatalf("%s was taken, though %s: %v", filter, name, err)
		}
	}
	data, found := bytes.CutPrefix(body, []byte("event: message\ndata: "))
	data, _, _ = bytes.Cut(data, []byte("\n"))
	var ack struct{ Params struct{ Notifications wants } }
	if err := json.Unmarshal(data, &ack); err != nil || !found {
		t.Fatalf("%s: %v in %s", filter, err, body)
	}
	got := ack.Params.Notifications
	for _, uri := range got.ResourceSubscriptions {
		if !slices.Contains(asked.ResourceSubscriptions, uri) {
			t.Fatalf("%s: %q was not asked for", filter, uri)
		}
	}
	got.ResourceSubscriptions, asked.ResourceSubscriptions = nil, nil
	if !cmp.Equal(got, asked) {
		t.Fatalf("%s: %s", filter, data)
	}
}

// TestPanicInAStream: a fault of ours ends the stream and nothing else, and is found in
// the log.
func TestPanicInAStream(t *testing.T) {
	t.Parallel()
	var events []mcp.Event
	var log bytes.Buffer
	asked, left := 0, 0
	synctest.Test(t, func(t *testing.T) {
		k := &talk{header: http.Header{}}
		broker := mcp.NewBroker(mcp.BrokerOptions{ListVersion: func(context.Context, mcp.Subscriber, mcp.List) string {
			if asked++; asked > 1 {
				panic("a secret")
			}
			return ""
		}})
		h := newEndpoint(t, nil, mcp.Options{
			Broker: broker, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Observe: func(_ *mcp.Request, e mcp.Event, _ *mcp.Called) { events = append(events, e) },
		})
		r := newRequest(t, "mcp.example", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+modernMeta+`}}`,
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
		var wg sync.WaitGroup
		wg.Go(func() {
			defer func() {
				if v := recover(); v != any(http.ErrAbortHandler) {
					t.Errorf("the connection is not broken off: %v", v)
				}
			}()
			h.ServeHTTP(k, r)
		})
		synctest.Wait()
		broker.ListsChanged(mcp.ToolsList)
		wg.Wait()
		left = broker.Streams()
		ended := k.text()
		time.Sleep(time.Hour)
		synctest.Wait()
		if more := strings.TrimPrefix(k.text(), ended); more != "" {
			t.Errorf("written when the stream had ended: %q", more)
		}
	})
	if len(events) != 1 || !events[0].Panicked || events[0].Code != mcp.CodeInternal || left != 0 {
		t.Errorf("events %+v, %d streams", events, left)
	}
	if strings.Contains(log.String(), "a secret") || !strings.Contains(log.String(), "TestPanicInAStream.func1.1(") {
		t.Errorf("log %s", &log)
	}
}

// TestPanicInARelease: a fault of ours at the end of a stream keeps neither its place, nor the others that it has to release, nor the end of all.
func TestPanicInARelease(t *testing.T) {
	t.Parallel()
	var released []string
	var events []mcp.Event
	release := func(what string) func() {
		return func() {
			released = append(released, what)
			panic("a secret")
		}
	}
	left := -1
	synctest.Test(t, func(t *testing.T) {
		broker := mcp.NewBroker(mcp.BrokerOptions{
			SubscribeResource: func(_ context.Context, s mcp.Subscription) (func(), error) { return release(s.URI), nil },
			SubscribeTask: func(_ context.Context, _ mcp.Subscriber, id string) (string, func(), error) {
				return id, release(id), nil
			},
		})
		h := newEndpoint(t, nil, mcp.Options{
			Broker: broker, Capabilities: mcp.Capabilities{Resources: true}, Logger: slog.New(slog.DiscardHandler), Observe: func(_ *mcp.Request, e mcp.Event, _ *mcp.Called) { events = append(events, e) },
		})
		r := newRequest(t, "mcp.example", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["x:/1","x:/2"],"taskIds":["1","2"]},`+
			strings.Replace(modernMeta, `Capabilities":{`, `Capabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}`, 1)+`}}`,
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			defer func() {
				if v := recover(); v != any(http.ErrAbortHandler) {
					t.Errorf("the connection is not broken off: %v", v)
				}
			}()
			h.ServeHTTP(&talk{header: http.Header{}}, r.WithContext(ctx))
		})
		synctest.Wait()
		cancel()
		wg.Wait()
		left = broker.Streams()
		if err := broker.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	})
	if slices.Sort(released); !slices.Equal(released, []string{"1", "2", "x:/1", "x:/2"}) || left != 0 || len(events) != 1 || !events[0].Panicked {
		t.Errorf("released %q, %d streams, events %+v", released, left, events)
	}
}
