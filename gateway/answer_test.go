package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestLargeRefusal: an error with a body that is too large, or for which there is no room, still is what its status says.
func TestLargeRefusal(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, strings.Repeat("<p>too many</p>\n", 20<<10))
	}))
	defer service.Close()
	for _, c := range []struct {
		config string
		room   int64
	}{{"max_answer: 64KiB", 1 << 20}, {"timeout: 300ms", 0}} {
		g := gatewaytest.Start(t, gatewaytest.AnswerDocument, "apis: [{name: answers, spec: $SPEC, base_url: $BASE, retries: off, "+c.config+"}]", service.URL)
		withRoom(g, 1<<20)
		if c.room == 0 {
			holdAll(t, g)
		}
		_, got := gatewaytest.Ask(t, g.Handler(), "2025-11-25", "tools/call", "watch", `"name":"watch","arguments":{}`)
		if text := string(got); !strings.Contains(text, `"answers answered 429 Too Many Requests, with a body that is too large.\nWait 7 seconds before the next call."`) {
			t.Errorf("%s: %s", c.config, got)
		}
	}
}
