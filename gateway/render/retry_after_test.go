package render

import (
	"net/http"
	"testing"
	"time"
)

// TestRetryAfter checks the advice on waiting.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]string{
		"": "", "0": "Wait 1 second before the next call.", "90": "Wait 90 seconds before the next call.",
		" 1200 ": "Wait 20 minutes before the next call.", "7201": "Wait 3 hours before the next call.",
		"86401": "The service asks to wait more than a day; tell the user.", "-5": "", "soon": "", "1.5": "Wait 2 seconds before the next call.",
		"18446744073709551616":          "The service asks to wait more than a day; tell the user.",
		"Fri, 02 Jan 2026 03:05:00 GMT": "Wait 55 seconds before the next call.",
		"Fri, 02 Jan 2026 03:00:00 GMT": "Wait 1 second before the next call.",
		"Fri, 02 Jan 2099 03:00:00 GMT": "The service asks to wait more than a day; tell the user.",
	} {
		if got := retryAfter(&http.Response{Header: http.Header{"Retry-After": {value}}}, now); got != want {
			t.Errorf("Retry-After %q: %q, want %q", value, got, want)
		}
	}
}
