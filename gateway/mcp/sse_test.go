package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// liveWriter is a client's connection, with what has arrived and when. It is not safe for concurrent use, so the race
// detector finds unguarded writes.
type liveWriter struct {
	nullWriter
	body   strings.Builder
	broken bool
}

func (w *liveWriter) Write(b []byte) (int, error) {
	if w.broken {
		return 0, io.ErrClosedPipe
	}
	return w.body.Write(b)
}

// newLive makes an exchange of a client that reads event streams.
func newLive(h *Handler, family RevisionFamily) (*exchange, *liveWriter) {
	w := &liveWriter{nullWriter: nullWriter{header: http.Header{}}}
	x := newTestExchange(h, w, "1", family)
	x.req.HTTP.Header.Set("Accept", "application/json, text/event-stream")
	x.req.Meta.ProgressToken, x.req.Revision = []byte("1"), revision20260728
	x.out.sse.period = h.reloadable.Load().KeepAlive
	return x, w
}

// TestKeepAlive: mcp-T14. A stream that is silent for 20 seconds gets a comment, and
// another each 20 seconds, until the answer; a message begins the silence anew.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := NewHandler(nil, Options{ReloadableOptions: ReloadableOptions{KeepAlive: 20 * time.Second}})
		x, w := newLive(h, Stateless)
		notify := func() {
			if err := x.reply.Notify("n"); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(comments int) {
			t.Helper()
			synctest.Wait()
			x.out.sse.mu.Lock()
			defer x.out.sse.mu.Unlock()
			if got := strings.Count(w.body.String(), keepAliveComment); got != comments {
				t.Fatalf("%d comments, want %d: %q", got, comments, w.body.String())
			}
		}
		notify()
		time.Sleep(19 * time.Second)
		notify()
		time.Sleep(19 * time.Second)
		expect(0)
		time.Sleep(time.Second)
		expect(1)
		time.Sleep(40 * time.Second)
		expect(3)
		if err := x.reply.Result(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		expect(3)
		if !strings.HasSuffix(w.body.String(), "}}\n\n") {
			t.Errorf("the answer is not the last: %q", w.body.String())
		}
		if err := x.reply.Notify("late"); !errors.Is(err, errAnswered) {
			t.Errorf("after the answer: %v", err)
		}
	})
}

// panicWriter is a connection of which writing panics.
type panicWriter struct{ nullWriter }

func (*panicWriter) Write([]byte) (int, error) { panic("injected") }

// TestKeepAlivePanics: a panic at the timer of a stream ends nothing but the stream.
func TestKeepAlivePanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []any
		h := NewHandler(nil, Options{ReloadableOptions: ReloadableOptions{KeepAlive: 20 * time.Second}, OnPanic: func(_ string, v any) { told = append(told, v) }})
		x, _ := newLive(h, Stateless)
		x.out.rw = &panicWriter{nullWriter{header: http.Header{}}}
		x.reply.KeepAlive(time.Second)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(told) != 1 || told[0] != "injected" {
			t.Errorf("told of %v, want one panic", told)
		}
		if err := x.reply.Result(); !errors.Is(err, errBroken) {
			t.Errorf("an answer on the stream: %v", err)
		}
	})
}

// TestKeepAliveOfASilentCall: a call that says nothing becomes a stream after the
// time that its method gave, and not before (pains row 43).
func TestKeepAliveOfASilentCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		takes  time.Duration
		accept string
		want   string
	}{
		{14 * time.Second, "text/event-stream, application/json", `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{16 * time.Second, "text/event-stream, application/json", ":\n\nevent: message\ndata: " + `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n\n"},
		{36 * time.Second, "text/event-stream, application/json", ":\n\n:\n\nevent: message\ndata: " + `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n\n"},
		{36 * time.Second, "application/json", `{"jsonrpc":"2.0","id":1,"result":{}}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := NewHandler(nil, Options{ReloadableOptions: ReloadableOptions{KeepAlive: 20 * time.Second}})
			x, w := newLive(h, Legacy)
			x.req.HTTP.Header.Set("Accept", c.accept)
			x.reply.KeepAlive(15 * time.Second)
			time.Sleep(c.takes)
			if err := x.reply.Result(); err != nil {
				t.Fatal(err)
			}
			if w.body.String() != c.want {
				t.Errorf("after %v: %q, want %q", c.takes, w.body.String(), c.want)
			}
		})
	}
}

// TestNotifyFromSeveral: what goes before the answer may come from several
// goroutines, with the keep-alive between; every message arrives whole.
func TestNotifyFromSeveral(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := NewHandler(nil, Options{ReloadableOptions: ReloadableOptions{KeepAlive: time.Millisecond}})
		x, w := newLive(h, Stateless)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for range 50 {
					time.Sleep(time.Duration(i+1) * time.Millisecond / 3)
					if err := x.reply.Notify("n", Chunk{Bytes: []byte(`"x":"` + strings.Repeat("x", 1000*i) + `"`)}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if err := x.reply.Result(); err != nil {
			t.Fatal(err)
		}
		events := 0
		for e := range strings.SplitSeq(w.body.String(), "\n\n") {
			switch {
			case e == ":" || e == "":
			case strings.HasPrefix(e, eventStart+"{") && strings.HasSuffix(e, "}}"):
				events++
			default:
				t.Fatalf("not an event: %.200q", e)
			}
		}
		if events != 8*50+1 {
			t.Errorf("%d events", events)
		}
	})
}

// TestBrokenStream: a method learns that its client is gone, also if it was the
// keep-alive that found out, and nothing is written any more.
func TestBrokenStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := NewHandler(nil, Options{ReloadableOptions: ReloadableOptions{KeepAlive: 20 * time.Second}})
		x, w := newLive(h, Stateless)
		if err := x.reply.Notify("n"); err != nil {
			t.Fatal(err)
		}
		cut := func(broken bool) {
			x.out.sse.mu.Lock()
			defer x.out.sse.mu.Unlock()
			w.broken = broken
		}
		cut(true)
		time.Sleep(time.Minute)
		cut(false)
		if err := x.reply.Notify("n"); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Notify: %v", err)
		}
		if err := x.reply.Result(); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Result: %v", err)
		}
		if got := strings.Count(w.body.String(), "event:"); got != 1 {
			t.Errorf("%d events on a broken stream", got)
		}
	})
}

// TestProgressRate holds that progress above the rate limit is not sent, except for the last.
func TestProgressRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := NewHandler(nil, Options{ReloadableOptions: ReloadableOptions{KeepAlive: 20 * time.Second}})
		x, w := newLive(h, Stateless)
		for i := range 1000 {
			if err := x.reply.Progress(float64(i+1), float64(i+1), "step"); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Count(w.body.String(), "event:"); got != progressBurst {
			t.Errorf("%d events at once", got)
		}
		w.body.Reset()
		for i := range 1000 {
			time.Sleep(10 * time.Millisecond)
			if err := x.reply.Progress(float64(2000+i), 0, ""); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Count(w.body.String(), "event:"); got < 10*progressRate-2 || got > 10*progressRate+2 {
			t.Errorf("%d events in 10 s", got)
		}
		w.body.Reset()
		for i := range 2 * progressBurst {
			if err := x.reply.Progress(float64(3000+i), 0, ""); err != nil {
				t.Fatal(err)
			}
		}
		if err := x.reply.Progress(3000, 0, "back"); err != nil {
			t.Fatal(err)
		}
		if err := x.reply.Result(); err != nil {
			t.Fatal(err)
		}
		events := strings.Split(strings.TrimSuffix(w.body.String(), eventEnd), eventEnd)
		if n := len(events); !strings.Contains(events[n-2], `"progress":3031}`) || !strings.Contains(events[n-1], `"result"`) {
			t.Errorf("the stream ends with %q", events[n-2:])
		}
	})
}

// TestStaticInAStream: a list that was asked for with progress, of all things.
func TestStaticInAStream(t *testing.T) {
	t.Parallel()
	h := NewHandler(nil, Options{})
	x, w := newLive(h, Legacy)
	x.req.HTTP.Header.Set("Accept-Encoding", "gzip")
	if err := x.reply.Progress(1, 2, ""); err != nil {
		t.Fatal(err)
	}
	if err := x.reply.Precompressed(NewPrecompressed([]byte(`"tools":[]`))); err != nil {
		t.Fatal(err)
	}
	want := eventStart + `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}` + eventEnd
	if _, answer, _ := strings.Cut(w.body.String(), eventEnd); answer != want || w.header.Get("Content-Encoding") != "" {
		t.Errorf("%q %v", answer, w.header)
	}
}

// BenchmarkNotify is one notification on a stream that is open.
func BenchmarkNotify(b *testing.B) {
	h := NewHandler(Methods{"x": func(_ context.Context, _ *Request, reply *Reply) error { return reply.Result() }}, Options{})
	w := &nullWriter{header: http.Header{}}
	x := newTestExchange(h, w, "1", Stateless)
	x.req.HTTP.Header.Set("Accept", "text/event-stream")
	params := Chunk{Bytes: fmt.Appendf(nil, `"a":%d`, 1)}
	b.ReportAllocs()
	for b.Loop() {
		if err := x.reply.Notify("notifications/progress", params); err != nil {
			b.Fatal(err)
		}
	}
}
