package audit

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// broken is an output that takes as many bytes as it has room for, and fails with an error then; nil is a write that is too short.
type broken struct {
	stream
	err error
}

func (b *broken) Write(p []byte) (int, error) {
	n, err := b.stream.Write(p)
	if err != nil {
		err = b.err
	}
	return n, err
}

// TestPermanentErrors: while lines can't be written, no call is made, however much room the buffer has. The lines of calls that were
// made are kept and written as soon as that is possible, each once and as a whole, and calls are made again.
func TestPermanentErrors(t *testing.T) {
	for _, cause := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS, syscall.EIO, syscall.EPIPE, syscall.EBADF, os.ErrClosed, nil} {
		for _, drop := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				out, log := &broken{stream: stream{room: 250}, err: cause}, &bytes.Buffer{}
				l, end := start(t, Options{Output: out, Drop: drop, Logger: slog.New(slog.NewTextHandler(log, nil))})
				if s := l.Status(); s.Error != nil || s.Refuses {
					t.Errorf("%v: before a line %+v", cause, s)
				}
				for n := range 20 {
					l.Write(line(n))
				}
				time.Sleep(10 * gatherTime)
				want := cause
				if cause == nil {
					want = io.ErrShortWrite
				}
				if s := l.Status(); !errors.Is(s.Error, want) || s.Refuses == drop || s.Pending < 18 || time.Since(s.Since) > 10*gatherTime {
					t.Errorf("%v: %+v", cause, s)
				}
				before := time.Now()
				if err := l.Ready(t.Context()); errors.Is(err, ErrFull) == drop || time.Since(before) > 0 {
					t.Errorf("%v: Ready = %v after %s", cause, err, time.Since(before))
				}
				time.Sleep(time.Hour)
				if n := strings.Count(log.String(), "can't be written"); n != 1 {
					t.Errorf("%v: %d records of it", cause, n)
				}
				out.widen()
				time.Sleep(lastPause)
				synctest.Wait()
				if s := l.Status(); s.Error != nil || s.Refuses || s.Pending != 0 || l.Ready(t.Context()) != nil {
					t.Errorf("%v: when there is room again %+v", cause, s)
				}
				if err := end(); err != nil {
					t.Error(err)
				}
				same(t, requests(t, out.String()), wanted(0, 20))
			})
		}
	}
}

// TestSlowIsNoFailure: an output that takes its time makes calls wait, and is no reason to be unready.
func TestSlowIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stream{room: -1, stuck: make(chan struct{})}
		l, end := start(t, Options{Output: out, Buffer: 1})
		l.Write(line(0))
		time.Sleep(time.Hour)
		if s := l.Status(); s.Error != nil || s.Refuses || s.Pending != 1 {
			t.Errorf("%+v", s)
		}
		close(out.stuck)
		if err := end(); err != nil {
			t.Error(err)
		}
	})
}

// TestReopenFails: a file that can't be opened again after a rotation is found at once and not by the line of the next call,
// which would not come, and opened when that is possible.
func TestReopenFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, end := start(t, Options{Path: filepath.Join(dir, "audit.jsonl")})
	await := func(failing bool) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); l.Refuses() != failing; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%+v", l.Status())
			}
		}
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	l.Reopen()
	await(true)
	if s := l.Status(); !errors.Is(s.Error, os.ErrNotExist) || s.Pending != 0 {
		t.Errorf("%+v", s)
	}
	l.Write(line(0)) // of a call that ran meanwhile
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	await(false)
	if err := end(); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, requests(t, string(text)), wanted(0, 1))
}

// TestDeviceFull writes to a device that is always full, which a file takes the place of.
func TestDeviceFull(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("no " + full)
	}
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.Symlink(full, path); err != nil {
		t.Fatal(err)
	}
	l, end := start(t, Options{Path: path})
	if err := l.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	await := func(refuses bool) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); l.Refuses() != refuses; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%+v", l.Status())
			}
		}
	}
	l.Write(line(0))
	await(true)
	if s := l.Status(); !errors.Is(s.Error, syscall.ENOSPC) || s.Pending != 1 {
		t.Errorf("%+v", s)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	await(false)
	if err := end(); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	same(t, requests(t, string(text)), wanted(0, 1))
}
