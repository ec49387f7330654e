package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/test/race"
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
		x.reply.KeepAlive()
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

// TestKeepAliveOfASilentCall: a call that says nothing becomes a stream after the time of the configuration, not before, and only for a client
// that reads streams. One that has asked for progress gets some at least every 10 seconds, from which its time-out begins
// anew (pains rows 43 and 162).
func TestKeepAliveOfASilentCall(t *testing.T) {
	t.Parallel()
	const both = "text/event-stream, application/json"
	beat := func(seconds string) string {
		return eventStart + `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":` + seconds + `,"message":"still working after ` + seconds + ` s"}}` + eventEnd
	}
	const result = `{"jsonrpc":"2.0","id":1,"result":{}}`
	const last = eventStart + result + eventEnd
	for _, c := range []struct {
		token     string
		keepAlive time.Duration
		takes     time.Duration
		accept    string
		want      string
	}{
		{"", 20 * time.Second, 19 * time.Second, both, result},
		{"", 20 * time.Second, 21 * time.Second, both, ":\n\n" + last},
		{"", 20 * time.Second, 59 * time.Second, both, ":\n\n:\n\n" + last},
		{"", 20 * time.Second, 59 * time.Second, "application/json", result},
		{"", 0, time.Hour, both, result},
		{"1", 20 * time.Second, 8 * time.Second, both, result},
		{"1", 20 * time.Second, 35 * time.Second, both, beat("9") + beat("18") + beat("27") + last},
		{"1", 20 * time.Second, 35 * time.Second, "application/json", result},
		{"1", 0, 21 * time.Second, both, beat("9") + beat("18") + last},
		{"1", 10 * time.Second, 21 * time.Second, both, beat("9") + beat("18") + last},
		{"1", 6 * time.Second, 17 * time.Second, both, ":\n\n" + beat("9") + ":\n\n" + last},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := NewHandler(nil, Options{ReloadableOptions: ReloadableOptions{KeepAlive: c.keepAlive}})
			x, w := newLive(h, Legacy)
			x.req.HTTP.Header.Set("Accept", c.accept)
			if x.req.Meta.ProgressToken = []byte(c.token); c.token == "" {
				x.req.Meta.ProgressToken = nil
			}
			x.reply.KeepAlive()
			time.Sleep(c.takes)
			if err := x.reply.Result(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			if w.body.String() != c.want {
				t.Errorf("token %q, keep_alive %v, after %v:\n%q, want\n%q", c.token, c.keepAlive, c.takes, w.body.String(), c.want)
			}
		})
	}
}

// progressOf returns the progress notifications of a stream as "progress/total message".
func progressOf(t *testing.T, stream string) (lines []string, values []float64) {
	t.Helper()
	for e := range strings.SplitSeq(stream, eventEnd) {
		data, ok := strings.CutPrefix(e, eventStart)
		if !ok {
			continue
		}
		var m struct {
			Method string
			Params struct {
				Progress, Total float64
				Message         string
			}
		}
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			t.Fatal(err)
		}
		if m.Method == "notifications/progress" {
			p := m.Params
			lines, values = append(lines, fmt.Sprintf("%v/%v %s", p.Progress, p.Total, p.Message)), append(values, p.Progress)
		}
	}
	return lines, values
}

// TestHeartbeats: heartbeats and the progress of a method go together: the numbers increase, none of the method's is lost that did, and
// messages to the log do not put a heartbeat off (pains row 162).
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := NewHandler(nil, Options{ReloadableOptions: ReloadableOptions{KeepAlive: 15 * time.Second}})
		x, w := newLive(h, Stateless)
		x.reply.KeepAlive()
		step := func(after time.Duration, progress, total float64, message string) {
			t.Helper()
			time.Sleep(after)
			if err := x.reply.Progress(progress, total, message); err != nil {
				t.Fatal(err)
			}
		}
		step(5*time.Second, 1, 4, "one")     // before the first heartbeat
		step(12*time.Second, 2, 4, "two")    // one heartbeat between
		step(time.Second, 2, 4, "again two") // no progress
		for range 5 {                        // 20 s
			time.Sleep(4 * time.Second)
			if err := x.reply.Notify("notifications/message"); err != nil {
				t.Fatal(err)
			}
		}
		step(0, 4, 4, "four")
		time.Sleep(11 * time.Second) // beyond the total
		if err := x.reply.Result(); err != nil {
			t.Fatal(err)
		}
		got, _ := progressOf(t, w.body.String())
		want := []string{"1/4 one", "1.001/4 still working after 14 s", "2/4 two", "2.001/4 still working after 26 s", "2.002/4 still working after 35 s", "4/4 four", "4.001/0 still working after 47 s"}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want\n%q", got, want)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		h := NewHandler(nil, Options{ReloadableOptions: ReloadableOptions{KeepAlive: 15 * time.Second}})
		x, w := newLive(h, Stateless)
		x.reply.KeepAlive()
		time.Sleep(25 * time.Second)
		for i := range 3 { // the heartbeats were ahead
			if err := x.reply.Progress(float64(10*i+5), 100, "late"); err != nil {
				t.Fatal(err)
			}
		}
		if err := x.reply.Result(); err != nil {
			t.Fatal(err)
		}
		got, _ := progressOf(t, w.body.String())
		want := []string{"9/0 still working after 9 s", "18/0 still working after 18 s", "18.001/100 late", "18.002/100 late", "25/100 late"}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want\n%q", got, want)
		}
	})
}

// FuzzHeartbeats: whatever progress a method reports, and however long it is silent, the numbers that are sent increase, and at most
// 10 seconds are between two.
func FuzzHeartbeats(f *testing.F) {
	f.Add([]byte{0, 1, 2, 200, 255, 3, 40, 7, 7, 1}, 100.0)
	f.Add([]byte{255, 255, 1, 1, 255, 0, 9}, 0.0)
	f.Add([]byte{90, 200, 90, 201, 90, 202}, 1e300)
	f.Add([]byte{90, 200, 90, 201, 90, 202}, 1e-300)
	f.Fuzz(func(t *testing.T, steps []byte, scale float64) {
		if len(steps) > 64 || !isProgress(scale) {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			h := NewHandler(nil, Options{ReloadableOptions: ReloadableOptions{KeepAlive: 3 * time.Second}})
			x, w := newLive(h, Stateless)
			x.reply.KeepAlive()
			began := time.Now()
			for i := 0; i+1 < len(steps); i += 2 {
				time.Sleep(time.Duration(steps[i]) * 100 * time.Millisecond)
				if err := x.reply.Progress(float64(steps[i+1])*scale/255, scale, ""); err != nil {
					t.Fatal(err)
				}
			}
			took := time.Since(began)
			if err := x.reply.Result(); err != nil {
				t.Fatal(err)
			}
			_, values := progressOf(t, w.body.String())
			for i := 1; i < len(values); i++ {
				if values[i] <= values[i-1] {
					t.Fatalf("%v after %v", values[i], values[i-1])
				}
			}
			if len(values) < int(took/heartbeat) {
				t.Errorf("%d notifications in %v", len(values), took)
			}
		})
	})
}

// TestKeepAliveAllocatesNothing: a call that is answered at once costs no allocation for the timer of a long one.
func TestKeepAliveAllocatesNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("pools forget with the race detector")
	}
	h := NewHandler(nil, Options{ReloadableOptions: ReloadableOptions{KeepAlive: 15 * time.Second}})
	x, _ := newLive(h, Stateless)
	once := func() {
		x.reply.KeepAlive()
		x.out.endEvents()
		x.out.sse.ended = false
	}
	if got := testing.AllocsPerRun(1000, once); got >= 1 {
		t.Errorf("%v allocations", got)
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
