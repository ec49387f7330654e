package upstream

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter parses Retry-After, in seconds or as a date (RFC 9110 section 10.2.3); it returns
// false if the header is absent or invalid. The time may be in the past, and is at most
// [math.MaxInt32] seconds.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	const most = math.MaxInt32 * time.Second
	value := strings.Trim(h.Get("Retry-After"), " \t")
	if seconds, err := strconv.ParseUint(value, 10, 63); err == nil {
		return time.Duration(min(seconds, math.MaxInt32)) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(at.Sub(now), most), true
	}
	return most, value != "" && strings.Trim(value, "0123456789") == "" // more digits than a number can have
}
