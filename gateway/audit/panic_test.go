package audit

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// panics is an output that panics once.
type panics struct {
	once sync.Once
	bytes.Buffer
}

func (p *panics) Write(b []byte) (int, error) {
	p.once.Do(func() { panic("injected") })
	return p.Buffer.Write(b)
}

// TestPanicWhileWriting: what writes lines has nobody above it. It loses what it was about to write, says so, and goes on.
func TestPanicWhileWriting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out panics
		var told bytes.Buffer
		l, err := New(Options{Output: &out, Buffer: 2, Logger: slog.New(slog.NewTextHandler(&told, nil))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- l.Run(ctx) }()
		l.Write(&Line{Tool: "first", Requests: 1})
		time.Sleep(time.Minute)
		l.Write(&Line{Tool: "second", Requests: 1})
		if err := l.Ready(t.Context()); err != nil {
			t.Errorf("lines that are lost take room: %v", err)
		}
		time.Sleep(time.Minute)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := out.String(); strings.Contains(got, "first") || strings.Count(got, `"tool":"second"`) != 1 {
			t.Errorf("written: %s", got)
		}
		if !strings.Contains(told.String(), `error="panic: injected" lines_lost=1`) {
			t.Errorf("told: %s", told.String())
		}
	})
}
