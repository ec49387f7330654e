package admission

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"drawbridge/gateway/state"
	"drawbridge/gateway/telemetry"
)

// TestRate: a client is told what is left, and when to come again.
func TestRate(t *testing.T) {
	r := newRateLimit(time.Minute, 2000, telemetry.RefusedPrincipalRate, "requests of this caller", "").tabulate()
	for left, want := range map[int]string{1: `"principal";r=1;t=119940`, 1999: `"principal";r=1000;t=60000`} {
		h := http.Header{}
		r.SetHeader(h, left)
		if want := (http.Header{"Ratelimit-Policy": {`"principal";q=2000;w=120000`}, "Ratelimit": {want}}); !reflect.DeepEqual(h, want) {
			t.Errorf("%v, want %v", h, want)
		}
	}
	for _, c := range []struct {
		d       state.Decision
		status  int
		message string
		because telemetry.RefusalReason
	}{
		{state.Decision{RetryAfter: 1500 * time.Millisecond, Reset: time.Hour}, 429, "too many requests of this caller: come again in 2 seconds", telemetry.RefusedPrincipalRate},
		{state.Decision{RetryAfter: 5 * time.Minute}, 429, "too many requests of this caller: come again in 5 minutes", telemetry.RefusedPrincipalRate},
		{state.Decision{Uncounted: true, RetryAfter: time.Second}, 503, "the gateway can't count calls now, and lets none through uncounted: come again in 1 second", telemetry.RefusedUncounted},
	} {
		if e, because := r.Refuse(c.d); e.HTTPStatus != c.status || e.Message != c.message || because != c.because {
			t.Errorf("%d %q, %s", e.HTTPStatus, e.Message, because)
		}
	}
}
