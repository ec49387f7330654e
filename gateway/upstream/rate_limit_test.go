package upstream

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestRateLimit: whatever header a service says it in, it is known whether a call is left, and when the next one is possible
// (pains row 156).
func TestRateLimit(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	in := func(d time.Duration) int64 { return now.Add(d).Unix() }
	const none, left = "", "left"
	for _, test := range []struct {
		status int
		header string // lines separated by |
		want   string
	}{
		{403, "X-RateLimit-Remaining: 0|X-RateLimit-Reset: " + fmt.Sprint(in(5*time.Minute)), "5m0s"},
		{403, "X-RateLimit-Remaining: 0", "exhausted"},
		{403, "X-RateLimit-Remaining: 12|X-RateLimit-Reset: 300", none},
		{403, "Retry-After: 60", "left 1m0s"},
		{200, "X-RateLimit-Remaining: 3|X-RateLimit-Reset: 300", none},
		{429, "X-RateLimit-Reset: 300", "left 5m0s"},
		{429, "X-Rate-Limit-Remaining: 0|X-Rate-Limit-Reset: " + fmt.Sprint(now.Add(time.Minute).UnixMilli()), "1m0s"},
		{429, "X-RateLimit-Remaining: 0|X-RateLimit-Reset: 2026-01-02T03:05:05Z", "1m0s"},
		{429, "X-RateLimit-Remaining: 0|X-RateLimit-Reset: 6m0s", "6m0s"},
		{429, "X-RateLimit-Remaining: 0|X-RateLimit-Reset-After: 1.5|X-RateLimit-Reset: 9999", "1.5s"},
		{429, "X-RateLimit-Remaining: 5, 0|RateLimit-Reset: 77", "1m17s"},
		{429, "X-RateLimit-Remaining: -1", none},
		{429, "RateLimit-Remaining: 0|RateLimit-Reset: 77", "1m17s"},
		{429, `RateLimit: "d";r=0;t=77`, "1m17s"},
		{429, `RateLimit: "burst";r=0;t=5, "daily";r=0;t=3600`, "1h0m0s"},
		{429, `RateLimit: "burst";r=0;t=5, "daily";r=90;t=3600`, "5s"},
		{429, `RateLimit: "a,b;r=0;t=9";r=4;t=60|RateLimit: "c";r=7;t=30`, "left 30s"},
		{429, `RateLimit: limit=100, remaining=0, reset=77`, "1m17s"},
		{403, `RateLimit: limit=100, remaining=2, reset=77`, none},
		{503, `RateLimit: "d";r=0`, "exhausted"},
		{429, "retry-after-ms: 5000", "left 5s"},
		{429, "x-ms-retry-after-ms: 250", "left 250ms"},
		{429, "Retry-After: soon|retry-after-ms: 5000", "left 5s"},
		{429, "Retry-After: 10|X-RateLimit-Remaining: 0|X-RateLimit-Reset: 300", "10s"},
		{429, "Retry-After: 1.5", "left 1.5s"},
		{429, "Retry-After: " + fmt.Sprint(in(time.Hour)), "left 1h0m0s"},
		{429, "Retry-After: Fri, 02 Jan 2026 03:05:05 GMT", "left 1m0s"},
		{429, "Retry-After: Fri, 02 Jan 2020 03:05:05 GMT", "left 0s"},
		{429, "Retry-After: 1e400", "left 596523h14m7s"},
		{429, "Retry-After: " + strings.Repeat("9", 60), "left 596523h14m7s"},
		{429, "Retry-After: " + strings.Repeat("9", 90), none},
		{429, "Retry-After: -5|X-RateLimit-Reset: NaN|RateLimit: ;;,,=\"", none},
		{429, "Retry-After: 0x1p10", none},
		{429, "Retry-After: Inf", none},
	} {
		resp := &http.Response{StatusCode: test.status, Header: http.Header{}}
		for line := range strings.SplitSeq(test.header, "|") {
			name, value, _ := strings.Cut(line, ": ")
			resp.Header.Add(name, value)
		}
		l := RateLimitOf(resp, now)
		got := ""
		switch {
		case l.Known && l.Exhausted:
			got = l.Wait.String()
		case l.Known:
			got = left + " " + l.Wait.String()
		case l.Exhausted:
			got = "exhausted"
		}
		if got != test.want {
			t.Errorf("%d %s: %q, want %q", test.status, test.header, got, test.want)
		}
		if limited := IsRateLimited(resp, now); test.status == 403 && limited != (test.want != "") || test.status == 200 && limited {
			t.Errorf("%d %s: limited %v", test.status, test.header, limited)
		}
	}
}

// FuzzRateLimit: whatever the headers are, a wait is between 0 and the bound.
func FuzzRateLimit(f *testing.F) {
	f.Add("Retry-After", "120", `"d";r=0;t=77`)
	f.Add("X-Ratelimit-Reset", "1795876463", "limit=100, remaining=0, reset=77")
	f.Add("Retry-After-Ms", "1e300", `"a\";r=0;t=-1`)
	f.Fuzz(func(t *testing.T, name, value, field string) {
		for _, status := range []int{200, 403, 429, 503} {
			resp := &http.Response{StatusCode: status, Header: http.Header{"Ratelimit": {field}, "X-Ratelimit-Remaining": {"0"}}}
			resp.Header[http.CanonicalHeaderKey(name)] = []string{value}
			if l := RateLimitOf(resp, time.Unix(1795876463, 0)); l.Wait < 0 || l.Wait > math.MaxInt32*time.Second || !l.Known && l.Wait != 0 {
				t.Errorf("%s: %q, %q: %v", name, value, field, l)
			}
		}
	})
}
