package gateway

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/widening"
)

// TestRecordAfterAHang: a write that hung for longer than anybody waited for it leaves no older record behind than what was noted last.
func TestRecordAfterAHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log safeBuffer
		o := &Options{Config: &config.Config{Server: config.Server{StateDir: "/one"}}, ConfigFile: "drawbridge.yaml", StateDirs: []string{"/two"}}
		r := newAccessRecord(o, slog.New(slog.NewTextHandler(&log, nil)), func(_ string, step func()) bool { step(); return false })
		hangs := make(chan struct{})
		wrote := map[string][]string{}
		r.put = func(s *widening.Summary, file string) error {
			dir, _, _ := strings.Cut(strings.TrimPrefix(file, "/"), "/")
			if s.Lock == "first" && dir == "one" {
				<-hangs
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			wrote[dir] = append(wrote[dir], s.Lock)
			if s.Lock == "third" && dir == "two" {
				return errors.New("no room")
			}
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { r.run(ctx); close(ended) }()
		for _, name := range []string{"first", "second", "third"} {
			r.note(&widening.Summary{Lock: name})
			time.Sleep(2 * diskcache.EndTimeout)
		}
		if log := log.String(); strings.Count(log, "it can't be written within 2s") != 3 || strings.Count(log, "no room") != 1 {
			t.Errorf("log: %s", log)
		}
		cancel()
		<-ended // although it hangs
		close(hangs)
		synctest.Wait()
		if one, two := wrote["one"], wrote["two"]; !slices.Equal(one, []string{"first", "third"}) || !slices.Equal(two, []string{"first", "second", "third"}) {
			t.Errorf("written: %q, %q", one, two)
		}
	})
}
