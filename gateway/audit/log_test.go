package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"drawbridge/test/timebox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stream is an output that takes as many bytes as it has room for.
type stream struct {
	mu    sync.Mutex
	times int // that it was written to
	room  int // -1: all
	text  bytes.Buffer
	stuck chan struct{} // nil: it is not
}

func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	stuck := s.stuck
	s.mu.Unlock()
	if stuck != nil {
		<-stuck
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times++
	if s.room < 0 || len(b) <= s.room {
		if s.room >= 0 {
			s.room -= len(b)
		}
		return s.text.Write(b)
	}
	n, _ := s.text.Write(b[:s.room])
	s.room = 0
	return n, errors.New("no space left on device")
}

func (s *stream) widen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.room = -1
}

func (s *stream) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// start makes a log and runs it until the returned function is called, which returns the error of Run.
func start(t *testing.T, o Options) (*Log, func() error) {
	t.Helper()
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	return l, func() error { cancel(); return timebox.Receive(t, ended) }
}

func line(n int) *Line {
	return &Line{Requests: 1, Time: begun, Request: fmt.Sprintf("R%d", n), RPC: "tools/call", Tool: "t", Decision: Allowed, Outcome: "ok"}
}

// requests are the requests that lines are of; each must be a whole line.
func requests(t *testing.T, text string) (found []string) {
	t.Helper()
	schema := lineSchema(t)
	for one := range strings.Lines(text) {
		found = append(found, holds(t, schema, []byte(one))["request"].(string))
	}
	return found
}

func wanted(from, to int) (all []string) {
	for n := from; n < to; n++ {
		all = append(all, fmt.Sprintf("R%d", n))
	}
	return all
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("lines of %v, want %v", got, want)
	}
}

// value returns the sum of a metric, or of its series with the value of a label.
func value(t *testing.T, r *prometheus.Registry, name string, label ...string) float64 {
	t.Helper()
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range all {
		if family.GetName() == name {
			sum := 0.0
			for _, m := range family.GetMetric() {
				if len(label) > 0 && m.GetLabel()[0].GetValue() != label[0] {
					continue
				}
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
			return sum
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// TestEnd writes all lines that were there when the log ended, in their order.
func TestEnd(t *testing.T) {
	out, r := &stream{room: -1}, prometheus.NewRegistry()
	l, end := start(t, Options{Output: out, Metrics: r})
	for n := range 1000 {
		if err := l.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.Write(line(n))
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	same(t, requests(t, out.String()), wanted(0, 1000))
	if w, d := value(t, r, "drawbridge_audit_written_total"), value(t, r, "drawbridge_audit_dropped_total"); w != 1000 || d != 0 {
		t.Errorf("written %v, dropped %v", w, d)
	}
}

// TestFullDisk is a disk that is full in the middle of a line: calls that began have their lines when there is room again, new ones are
// refused at once, and the log says so once.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, r, log := &stream{room: 250}, prometheus.NewRegistry(), &bytes.Buffer{}
		l, end := start(t, Options{Output: out, Metrics: r, Buffer: 10, Logger: slog.New(slog.NewTextHandler(log, nil))})
		for n := range 12 { // two more than the buffer, which had begun
			l.Write(line(n))
		}
		idle := line(99)
		idle.Requests = 0
		l.Write(idle) // of a call that asked nobody: there may be any number of these
		if n := value(t, r, "drawbridge_audit_dropped_total"); n != 1 {
			t.Errorf("%v lines of calls that asked nobody were dropped, want 1", n)
		}
		time.Sleep(time.Minute)
		before := time.Now()
		if err := l.Ready(t.Context()); !errors.Is(err, ErrFull) || time.Since(before) > 0 {
			t.Errorf("Ready = %v after %v, want ErrFull at once", err, time.Since(before))
		}
		if n := strings.Count(log.String(), "can't be written"); n != 1 {
			t.Errorf("%d records of it:\n%s", n, log)
		}
		out.widen()
		time.Sleep(lastPause)
		if err := l.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		l.Write(line(12))
		if err := end(); err != nil {
			t.Error(err)
		}
		same(t, requests(t, out.String()), wanted(0, 13))
		if value(t, r, "drawbridge_audit_errors_total") < 2 || value(t, r, "drawbridge_audit_written_total") != 13 || value(t, r, "drawbridge_audit_pending") != 0 {
			t.Error("the metrics do not tell it")
		}
		if !strings.Contains(log.String(), "written again") {
			t.Errorf("log:\n%s", log)
		}
	})
}

// TestCounted is a full disk under a load of calls, which are refused for it: they share lines, so that no line is lost.
func TestCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, r := &stream{}, prometheus.NewRegistry()
		l, end := start(t, Options{Output: out, Metrics: r, Buffer: 10, NoRefusals: true})
		for n := range 1000 {
			unaudited := line(n)
			unaudited.Requests, unaudited.Decision, unaudited.Outcome = 0, Refused, "unaudited"
			l.WriteCounted(unaudited)
		}
		time.Sleep(time.Second)
		if d, p := value(t, r, "drawbridge_audit_dropped_total"), value(t, r, "drawbridge_audit_pending"); d != 0 || p != 1 {
			t.Errorf("dropped %v, pending %v, want 0 and 1", d, p)
		}
		out.widen()
		time.Sleep(2 * refusalSpan)
		if err := end(); err != nil {
			t.Error(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[1], `"more":999`) || strings.Contains(lines[1], `"tool"`) {
			t.Errorf("lines:\n%s", out)
		}
	})
}

// TestDroppedByKind is a full buffer that may drop lines: a lost line counts by what it is of, the line of counted refusals, too.
func TestDroppedByKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := prometheus.NewRegistry()
		l, end := start(t, Options{Output: &stream{}, Metrics: r, Buffer: 2, Drop: true})
		for n := range 5 { // two wait
			l.Write(line(n))
		}
		for range 4 { // the first has a line, the others share one
			l.Refuse(refusalOf("expired", "192.0.2.1", ""))
		}
		if err := end(); err == nil {
			t.Error("nothing is lost")
		}
		const dropped = "drawbridge_audit_dropped_total"
		if s, u := value(t, r, dropped, "sent"), value(t, r, dropped, "unsent"); s != 5 || u != 2 {
			t.Errorf("lost %v sent, %v unsent, want 5 and 2", s, u)
		}
	})
}

// TestSlow is an output that takes nothing for a while: calls wait for a second, and are refused then.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stream{room: -1, stuck: make(chan struct{})}
		l, end := start(t, Options{Output: out, Buffer: 2})
		l.Write(line(0))
		l.Write(line(1))
		before := time.Now()
		if err := l.Ready(t.Context()); !errors.Is(err, ErrFull) || time.Since(before) != roomWait {
			t.Errorf("Ready = %v after %v", err, time.Since(before))
		}
		ctx, cancel := context.WithTimeout(t.Context(), roomWait/2)
		defer cancel()
		if err := l.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Ready = %v, want that of the context", err)
		}
		time.AfterFunc(roomWait/2, func() { close(out.stuck) })
		before = time.Now()
		if err := l.Ready(t.Context()); err != nil || time.Since(before) != roomWait/2 {
			t.Errorf("Ready = %v after %v", err, time.Since(before))
		}
		if err := end(); err != nil {
			t.Error(err)
		}
		same(t, requests(t, out.String()), wanted(0, 2))
	})
}

// TestGather has lines that come fast go out together, the first of them at once, and not much later where the buffer is small.
func TestGather(t *testing.T) {
	for _, tt := range []struct{ buffer, least, most int }{{8192, 11, 11}, {4, 50, 60}} {
		synctest.Test(t, func(t *testing.T) {
			out := &stream{room: -1}
			l, end := start(t, Options{Output: out, Buffer: tt.buffer})
			synctest.Wait()
			for n := range 100 {
				if l.Write(line(n)); n == 0 {
					if synctest.Wait(); out.times != 1 {
						t.Errorf("the first line was not written at once: %d", out.times)
					}
				}
				time.Sleep(gatherTime / 10)
			}
			if err := end(); err != nil {
				t.Error(err)
			}
			same(t, requests(t, out.String()), wanted(0, 100))
			if out.times < tt.least || out.times > tt.most {
				t.Errorf("buffer of %d lines: %d writes, want %d to %d", tt.buffer, out.times, tt.least, tt.most)
			}
		})
	}
}

// TestDrop loses what there is no room for, and counts it.
func TestDrop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, r := &stream{}, prometheus.NewRegistry()
		l, end := start(t, Options{Output: out, Buffer: 3, Drop: true, Metrics: r})
		for n := range 5 {
			if err := l.Ready(t.Context()); err != nil {
				t.Error(err)
			}
			l.Write(line(n))
		}
		time.Sleep(time.Minute)
		if d, p := value(t, r, "drawbridge_audit_dropped_total"), value(t, r, "drawbridge_audit_pending"); d != 2 || p != 3 {
			t.Errorf("dropped %v, pending %v", d, p)
		}
		if err := end(); err == nil {
			t.Error("lines were lost at the end, and nobody is told")
		}
		if d := value(t, r, "drawbridge_audit_dropped_total"); d != 5 {
			t.Errorf("dropped %v", d)
		}
	})
}

// TestRotation moves the file away, with a word and without one.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	l, end := start(t, Options{Path: path})
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return string(b)
	}
	eventually := func(name, part string) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); !strings.Contains(read(name), part); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: %s", name, read(name))
			}
		}
	}
	l.Write(line(0))
	eventually("audit.jsonl", "R0")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := os.Rename(path, filepath.Join(dir, "1")); err != nil {
		t.Fatal(err)
	}
	l.Reopen()
	l.Write(line(1))
	eventually("audit.jsonl", "R1")
	if err := os.Rename(path, filepath.Join(dir, "2")); err != nil {
		t.Fatal(err)
	}
	for n := 2; read("audit.jsonl") == ""; n++ { // found at the next look, a second later at most
		l.Write(line(n))
		time.Sleep(20 * time.Millisecond)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	all := read("1") + read("2") + read("audit.jsonl")
	same(t, requests(t, all), wanted(0, strings.Count(all, "\n")))
	same(t, requests(t, read("1")), wanted(0, 1))
}

// TestHalfALine opens a file again that a full disk left in the middle of a line: no line stands behind the half one.
func TestHalfALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for _, tt := range []struct{ stands, before string }{
		{"", ""},
		{"{\"request\":\"whole\"}\n", "{\"request\":\"whole\"}\n"},
		{"{\"requ", "{\"requ\n"},
	} {
		if err := os.WriteFile(path, []byte(tt.stands), 0o600); err != nil {
			t.Fatal(err)
		}
		l, end := start(t, Options{Path: path})
		l.Write(line(0))
		l.Reopen() // which finds whole lines
		l.Write(line(1))
		if err := end(); err != nil {
			t.Error(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		behind, ok := strings.CutPrefix(string(text), tt.before)
		if !ok {
			t.Fatalf("%q: %q", tt.stands, text)
		}
		same(t, requests(t, behind), wanted(0, 2))
	}
}

// TestNoFile says at the start what is wrong with the file.
func TestNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "audit.jsonl")
	if _, err := New(Options{Path: path}); err == nil || err.Error() != "open the audit log: open "+path+": no such file or directory" {
		t.Errorf("New = %v", err)
	}
}

// BenchmarkWrite is what a call pays for its line.
func BenchmarkWrite(b *testing.B) {
	l, err := New(Options{Path: os.DevNull})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	one := Line{Time: begun, Request: "ABCDEFGHIJKLMNOP", Issuer: "https://idp.example.com", Subject: "alice@example.com", Client: "agent", Scopes: []string{"mcp:tools"},
		RPC: "tools/call", Tool: "get_order", API: "shop", Method: "GET", Path: "/orders/{id}", Arguments: []byte(`{"id":17,"expand":["lines","customer"],"lang":"en"}`),
		Decision: Allowed, Outcome: "ok", Status: 200, Requests: 1, Received: 1024, Duration: 1234567}
	b.ReportAllocs()
	for b.Loop() {
		_ = l.Ready(ctx)
		l.Write(&one)
	}
	cancel()
	timebox.Wait(b, ended)
}

// BenchmarkLine is a line without the writing.
func BenchmarkLine(b *testing.B) {
	one := Line{Time: begun, Request: "ABCDEFGHIJKLMNOP", Issuer: "https://idp.example.com", Subject: "alice@example.com", Client: "agent", Scopes: []string{"mcp:tools"},
		RPC: "tools/call", Tool: "get_order", API: "shop", Method: "GET", Path: "/orders/{id}", Arguments: []byte(`{"id":17,"expand":["lines","customer"],"lang":"en"}`),
		Decision: Allowed, Outcome: "ok", Status: 200, Requests: 1, Received: 1024, Duration: 1234567}
	h, o, room := newHashes([]byte("k")), Options{}, []byte(nil)
	b.ReportAllocs()
	for b.Loop() {
		room = one.append(room[:0], &o, h)
	}
}
