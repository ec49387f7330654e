package widening

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/gateway/diskcache"
	"drawbridge/test/logbuffer"
)

// TestRecordAfterAHang: a write that hung for longer than anybody waited for it leaves no older record behind than what was noted last.
func TestRecordAfterAHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logbuffer.Buffer
		r := NewRecorder(RecorderOptions{ConfigFile: "drawbridge.yaml", Dirs: []string{"/one", "", "/two", "/one"}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Recover: func(_ string, step func()) bool { step(); return false }})
		hangs := make(chan struct{})
		wrote := map[string][]string{}
		r.put = func(s *Summary, file string) error {
			dir, _, _ := strings.Cut(strings.TrimPrefix(file, "/"), "/")
			if s.Exempt[0] == "first" && dir == "one" {
				<-hangs
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			wrote[dir] = append(wrote[dir], s.Exempt[0])
			if s.Exempt[0] == "third" && dir == "two" {
				return errors.New("no room")
			}
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { r.Run(ctx); close(ended) }()
		for _, name := range []string{"first", "second", "third"} {
			r.Note(&Summary{Exempt: []string{name}})
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
