package endpoint_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"drawbridge/gateway"
	"drawbridge/gateway/telemetry"
	"drawbridge/test/gatewaytest"
)

// TestRefusedLines: a flood of requests that are refused for their rate has ten lines of the log in a minute, whatever the era; the tenth says
// so, the first of the next minute has the number of those between, and at debug level each has its line. Other errors go on having theirs, up to a
// hundred of a kind.
func TestRefusedLines(t *testing.T) {
	t.Parallel()
	for level, want := range map[slog.Level]int{slog.LevelInfo: telemetry.MaxLines, slog.LevelDebug: 60} {
		var later atomic.Int64
		log := &strings.Builder{}
		r := gatewaytest.RunWith(t, map[string]string{"drawbridge.yaml": "auth: {anonymous: true}\napis: [{spec: a.yaml, name: shop, base_url: \"http://127.0.0.1:1\", rate: {rate: 1/h, burst: 1}}]\n",
			"a.yaml": gatewaytest.Document("A", "one")}, gateway.Options{Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: level})),
			Test: gateway.TestOptions{Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }}})
		r.Served()
		flood := func(n int) {
			for i := range n {
				if status, answer := gatewaytest.Ask(t, r.Handler(), gatewaytest.Eras[i%len(gatewaytest.Eras)], "tools/call", "one", `"name":"one","arguments":{}`); i > 0 && status != http.StatusTooManyRequests {
					t.Fatalf("%s: %d %s", level, status, answer)
				}
			}
		}
		flood(61)
		const line = "msg=request client=127.0.0.1 method=tools/call "
		if n := strings.Count(log.String(), " status=429 "); n != want || !strings.Contains(log.String(), line) {
			t.Errorf("%s: %d lines:\n%s", level, n, log)
		}
		const more = `more="for a minute such requests are only counted, by drawbridge_refused_total"`
		if n := strings.Count(log.String(), more); n != 1 {
			t.Errorf("%s: %d times it is said that more come:\n%s", level, n, log)
		}
		for range 2 * telemetry.MaxLines {
			gatewaytest.Ask(t, r.Handler(), "2026-07-28", "tools/call", "nothing", `"name":"nothing","arguments":{}`)
		}
		if n := strings.Count(log.String(), " code=-32602 "); n != 2*telemetry.MaxLines {
			t.Errorf("%s: %d lines of another error:\n%s", level, n, log)
		}
		for range 2 * telemetry.MaxMistakeLines {
			gatewaytest.Ask(t, r.Handler(), "2026-07-28", "tools/nothing", "", "")
		}
		mistakes := telemetry.MaxMistakeLines
		if level == slog.LevelDebug {
			mistakes *= 2
		}
		if n := strings.Count(log.String(), " status=404 code=-32601 "); n != mistakes {
			t.Errorf("%s: %d lines of requests that are wrong:\n%.4000s", level, n, log)
		}
		if n := strings.Count(log.String(), `more="for a minute such requests are only counted, by drawbridge_requests_total"`); n != 1 {
			t.Errorf("%s: %d times it is said that more of them come", level, n)
		}
		later.Store(int64(telemetry.SampleSpan))
		before := log.Len()
		gatewaytest.Ask(t, r.Handler(), "2026-07-28", "tools/call", "one", `"name":"one","arguments":{}`)
		if text := log.String()[before:]; !strings.Contains(text, " status=429 ") || !strings.Contains(text, " untold_before=50") {
			t.Errorf("%s: the next minute:\n%s", level, text)
		}
	}
}

// TestRefusedLinesOfBatches: what is refused within a batch counts one by one.
func TestRefusedLinesOfBatches(t *testing.T) {
	t.Parallel()
	log := &strings.Builder{}
	r := gatewaytest.RunWith(t, map[string]string{"drawbridge.yaml": "auth: {anonymous: true}\napis: [{spec: a.yaml, name: shop, base_url: \"http://127.0.0.1:1\", rate: {rate: 1/h, burst: 1}}]\n",
		"a.yaml": gatewaytest.Document("A", "one")}, gateway.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	r.Served()
	c := gatewaytest.NewClient(t, r.Handler(), "2025-03-26", "")
	c.Send("ping", "", "")
	header := c.Header.Clone()
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": c.Session} {
		header.Set(name, value)
	}
	var calls []string
	for id := range 5 {
		calls = append(calls, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"one","arguments":{}}}`, id))
	}
	for range 10 {
		if w := gatewaytest.Post(r.Handler(), header, "["+strings.Join(calls, ",")+"]"); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if n := strings.Count(log.String(), " method=tools/call revision=2025-03-26 status=429 code=-32600 "); n != telemetry.MaxLines {
		t.Errorf("%d lines:\n%s", n, log)
	}
}
