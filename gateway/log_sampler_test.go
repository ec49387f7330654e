package gateway

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestFaultLines: of calls that fail alike the log has ten lines in a minute, says with the last that more are only counted, and begins anew after it.
func TestFaultLines(t *testing.T) {
	t.Parallel()
	var f faultLines
	now := time.Unix(1_800_000_000, 0)
	count := func(api string, o outcome, calls int) (told, lasts, untold int) {
		for range calls {
			line := f.tells(api, o, now)
			if line.tell {
				told++
			}
			if line.last {
				lasts++
			}
			untold += line.untold
		}
		return told, lasts, untold
	}
	for _, step := range []struct {
		what                string
		wait                time.Duration
		api                 string
		outcome             outcome
		calls               int
		told, lasts, untold int
	}{
		{"a few", 0, "a", "open", 9, 9, 0, 0},
		{"the last and more", 0, "a", "open", 500, 1, 1, 0},
		{"another outcome", 0, "a", "timeout", 3, 3, 0, 0},
		{"another API", 0, "b", "open", 11, 10, 1, 0},
		{"within the minute", faultSpan - 1, "a", "open", 5, 0, 0, 0},
		{"after it", 1, "a", "open", 2, 2, 0, 504},
		{"after a few", faultSpan, "a", "timeout", 1, 1, 0, 0},
	} {
		now = now.Add(step.wait)
		if told, lasts, untold := count(step.api, step.outcome, step.calls); told != step.told || lasts != step.lasts || untold != step.untold {
			t.Errorf("%s: %d told, %d last, %d untold", step.what, told, lasts, untold)
		}
	}
	for i := range 3 * maxFaultKinds {
		now = now.Add(time.Second)
		f.tells(fmt.Sprint(i), "open", now)
	}
	if n := len(f.kinds); n > maxFaultKinds {
		t.Errorf("%d kinds are remembered", n)
	}
}

// TestFaultLinesInTheLog: the line of a call that failed names tool, outcome and status, and a service that is down does not fill the log.
func TestFaultLinesInTheLog(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	defer service.Close()
	for level, want := range map[slog.Level]int{slog.LevelInfo: maxFaultLines, slog.LevelDebug: 30} {
		log := &strings.Builder{}
		r := runWith(t, map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml, name: shop, base_url: " + service.URL + "}]\n", "a.yaml": document("A", "one")},
			Options{Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: level}))})
		r.served()
		for range 30 {
			ask(t, r.Handler(), "", "tools/call", "one", `"name":"one","arguments":{}`)
		}
		text := log.String()
		if n := strings.Count(text, "msg=call api=shop tool=one outcome=server_error principal=\"\" status=500"); n != want {
			t.Errorf("%s: %d lines:\n%s", level, n, text)
		}
		if n := strings.Count(text, `more="for a minute such calls are only counted, by drawbridge_tool_calls_total"`); n != 1 && level == slog.LevelInfo {
			t.Errorf("%d times it is said that more come:\n%s", n, text)
		}
	}
}
