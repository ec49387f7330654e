package call_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/gateway/telemetry"
	"drawbridge/test/gatewaytest"
)

// TestFaultLinesInTheLog: the line of a call that failed names tool, outcome and status, and a service that is down does not fill the log.
func TestFaultLinesInTheLog(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	defer service.Close()
	for level, want := range map[slog.Level]int{slog.LevelInfo: telemetry.MaxLines, slog.LevelDebug: 30} {
		log := &strings.Builder{}
		r := gatewaytest.RunWith(t, map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml, name: shop, base_url: " + service.URL + "}]\n", "a.yaml": gatewaytest.Document("A", "one")},
			gateway.Options{Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: level}))})
		r.Served()
		for range 30 {
			gatewaytest.Ask(t, r.Handler(), "", "tools/call", "one", `"name":"one","arguments":{}`)
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
