package admission

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"drawbridge/gateway/mcp"
	"drawbridge/gateway/state"
	"drawbridge/gateway/telemetry"
)

// RateLimit is a compiled rate limit. It counts nothing itself. It is immutable.
type RateLimit struct {
	reason    telemetry.RefusalReason
	limit     state.Limit
	whose     string // what is limited, for the client: "requests of this caller"
	key       string
	perCaller bool
	policy    []string   // values of the header RateLimit-Policy
	left      [][]string // values of the header RateLimit, by the number of remaining requests
}

// maxTabulated is the largest number of remaining requests that the header RateLimit shows. Its values are made beforehand, so that
// requests don't format them.
const maxTabulated = 1000

func newRateLimit(interval time.Duration, burst int, because telemetry.RefusalReason, whose, key string) *RateLimit {
	r := &RateLimit{reason: because, limit: state.Limit{Interval: interval, Burst: burst}, whose: whose, key: key}
	// After the window the whole quota is available again: the draft's terms for rate and burst.
	r.policy = []string{fmt.Sprintf("%q;q=%d;w=%d", r.name(), burst, seconds(interval*time.Duration(burst)))}
	return r
}

// At returns the limit with a counter of its own for one of several servers.
func (r *RateLimit) At(server string) *RateLimit {
	own := *r
	own.key = "server:" + digest(server) + " " + r.key
	return &own
}

// tabulate makes the values of the header beforehand.
func (r *RateLimit) tabulate() *RateLimit {
	r.left = make([][]string, min(r.limit.Burst, maxTabulated)+1)
	for n := range r.left {
		r.left[n] = []string{r.header(n, r.limit.Interval*time.Duration(r.limit.Burst-n))}
	}
	return r
}

// Limit returns the interval and the burst.
func (r *RateLimit) Limit() state.Limit { return r.limit }

// Key returns the name of the counter. If the limit is PerCaller, the name of the caller must be appended.
func (r *RateLimit) Key() string { return r.key }

// PerCaller reports whether each caller has a counter of its own.
func (r *RateLimit) PerCaller() bool { return r.perCaller }

// name returns the name of the policy (draft-ietf-httpapi-ratelimit-headers-10 section 3).
func (r *RateLimit) name() string { return string(r.reason[:len(r.reason)-len("_rate")]) }

func (r *RateLimit) header(left int, reset time.Duration) string {
	return `"` + r.name() + `";r=` + strconv.Itoa(left) + ";t=" + strconv.FormatInt(seconds(reset), 10)
}

// SetHeader sets the RateLimit headers of a response with left remaining requests. The limit must be one of [RequestRateLimits].
func (r *RateLimit) SetHeader(h http.Header, left int) {
	h["Ratelimit-Policy"] = r.policy
	h["Ratelimit"] = r.left[min(left, len(r.left)-1)]
}

// Refuse returns the error for a request that the decision doesn't allow, and the reason to count it under.
func (r *RateLimit) Refuse(d state.Decision) (*mcp.Error, telemetry.RefusalReason) {
	if d.Uncounted { // the rate of this caller is unknown
		return mcp.RetryLater(http.StatusServiceUnavailable, d.RetryAfter, "the gateway can't count calls now, and lets none through uncounted: come again in %s", inWords(d.RetryAfter)),
			telemetry.RefusedUncounted
	}
	wait := max(d.RetryAfter, time.Millisecond)
	e := mcp.RetryLater(http.StatusTooManyRequests, wait, "too many %s: come again in %s", r.whose, inWords(wait))
	e.Header["Ratelimit-Policy"] = r.policy
	e.Header["Ratelimit"] = []string{r.header(d.Remaining, d.Reset)}
	return e, r.reason
}

// seconds rounds up.
func seconds(d time.Duration) int64 { return max(1, int64(math.Ceil(d.Seconds()))) }

// inWords returns a waiting time in words.
func inWords(d time.Duration) string {
	n, unit := seconds(d), "second"
	if n > 120 {
		n, unit = int64(math.Ceil(d.Minutes())), "minute"
	}
	if n > 1 {
		unit += "s"
	}
	return strconv.FormatInt(n, 10) + " " + unit
}
