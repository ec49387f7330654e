package diskcache

import (
	"bytes"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"drawbridge/test/timebox"
)

func newStore(t *testing.T, o Options) *Store {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Metrics, o.Recover = prometheus.NewRegistry(), protect
	return New(o)
}

// protect reports whether a step panicked.
func protect(_ string, step func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	step()
	return false
}

// TestSweep holds that documents that no configuration names are kept for a while, up to a number, and that named ones stay.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	s := newStore(t, Options{Dir: dir})
	s.SetNamed([]string{strings.Repeat("a", 64)})
	make := func(name string, age time.Duration) {
		t.Helper()
		path := filepath.Join(dir, name)
		at := time.Now().Add(-age)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	const day = 24 * time.Hour
	want := map[string]bool{}
	for name, tt := range map[string]struct {
		age   time.Duration
		stays bool
	}{
		strings.Repeat("a", 64) + suffix: {400 * day, true}, strings.Repeat("b", 64) + suffix: {29 * day, true},
		strings.Repeat("c", 64) + suffix: {31 * day, false}, tempPrefix + "1": {2 * time.Hour, false}, tempPrefix + "2": {time.Minute, true},
		"notes.txt": {400 * day, true}, "x" + suffix: {400 * day, true},
	} {
		make(name, tt.age)
		want[name] = tt.stays
	}
	s.sweep()
	for name, stays := range want {
		info, err := os.Stat(filepath.Join(dir, name))
		if (err == nil) != stays {
			t.Errorf("%s stays: %v, want %v", name, err == nil, stays)
		}
		if strings.HasPrefix(name, "a") && time.Since(info.ModTime()) > time.Hour {
			t.Error("what is named is not marked as that")
		}
	}
	for n := range maxUnnamed + 5 {
		make(hex.EncodeToString(append([]byte{byte(n >> 8), byte(n)}, bytes.Repeat([]byte{7}, 30)...))+suffix, time.Duration(n)*time.Minute)
	}
	s.sweep()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != maxUnnamed+4 {
		t.Errorf("%d files, %v; want %d", len(files), err, maxUnnamed+4)
	}
}

// TestFull holds that the documents that wait for a slow disk are bounded, and that a dropped one is logged and counted.
func TestFull(t *testing.T) {
	var log bytes.Buffer
	s := newStore(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	half := strings.Repeat("x", MaxWaiting/2)
	put := func(id, text string) {
		s.Put(&Document{Head: Head{ID: id}, Copy: copyOfOne("http://a.example/x", text)})
	}
	put("one", half)
	put("two", half)
	put("two", half)
	put("three", "x")
	put("one", half+half) // the one before stays
	if n := s.held(); n != MaxWaiting || len(s.waiting) != 2 {
		t.Errorf("%d bytes of %d documents wait", n, len(s.waiting))
	}
	if n := strings.Count(log.String(), "too many writes are pending"); n != 2 {
		t.Errorf("told %d times", n)
	}
	if n := testutil.ToFloat64(s.writes.WithLabelValues("failed")); n != 2 {
		t.Errorf("counted %v times", n)
	}
}

// TestWhileWriting holds that documents count until they are written, so that a disk that hangs keeps no more than the bound in memory.
func TestWhileWriting(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	a := newStore(t, Options{MaxWaiting: 100, WrapDisk: func(d Disk) Disk {
		d.Write = func(*Document) error { timebox.Send(t, arrived, struct{}{}); timebox.Wait(t, release); return nil }
		return d
	}})
	put := func(id string, bytes int) {
		a.Put(&Document{Head: Head{ID: id}, Copy: copyOfOne("http://a.example/x", strings.Repeat("x", bytes))})
	}
	put("one", 80)
	ended := make(chan struct{})
	go func() { defer close(ended); a.writeAll() }()
	timebox.Wait(t, arrived)
	put("two", 30)
	put("three", 20)
	a.mu.Lock()
	if n := a.held(); n != 100 || len(a.waiting) != 1 || a.waiting["three"] == nil {
		t.Errorf("%d bytes wait or are written, %d documents wait", n, len(a.waiting))
	}
	a.mu.Unlock()
	close(release)
	timebox.Wait(t, ended)
	if n := a.held(); n != 20 {
		t.Errorf("%d bytes wait", n)
	}
}

// TestPanicWhileWriting holds that documents that were not written before a panic are written after it, and that nothing goes on to count as being
// written.
func TestPanicWhileWriting(t *testing.T) {
	written := 0
	a := newStore(t, Options{WrapDisk: func(d Disk) Disk {
		d.Write = func(*Document) error {
			if written++; written == 1 {
				panic("write")
			}
			return nil
		}
		return d
	}})
	for _, id := range []string{"one", "two", "three"} {
		a.Put(&Document{Head: Head{ID: id}, Copy: copyOfOne("http://a.example/x", "text")})
	}
	if !protect("", a.writeAll) || written != 1 {
		t.Errorf("no panic, %d written", written)
	}
	a.writeAll()
	if n := a.held(); written != 3 || n != 0 {
		t.Errorf("%d written, %d bytes wait or are written", written, n)
	}
}

// TestRetry holds that a disk that fails is logged once, and that a document is written when it recovers.
func TestRetry(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(file, nil, 0o600); err != nil { // where the directory should be
		t.Fatal(err)
	}
	var log bytes.Buffer
	s := newStore(t, Options{Dir: file, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	s.Put(&Document{Head: Head{ID: "id"}, Copy: copyOfOne("http://a.example/x", "text")})
	s.writeAll()
	s.writeAll()
	if n := strings.Count(log.String(), "a document can't be stored; retrying"); n != 1 {
		t.Errorf("logged %d times: %s", n, &log)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	s.writeAll()
	if n := testutil.ToFloat64(s.writes.WithLabelValues("ok")); n != 1 {
		t.Errorf("%v documents are written", n)
	}
}
