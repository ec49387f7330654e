package upstream

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestWait bounds the waits that are read from headers: services send dates far in the future, and numbers of any size.
const longestWait = math.MaxInt32 * time.Second

// RetryAfter returns the time that a response asks to wait: Retry-After (RFC 9110 section 10.2.3), in the forms that
// [parseWait] reads, or the headers with milliseconds that some services send. It returns false if no header can be
// read. The time is between 0 and [math.MaxInt32] seconds; a date in the past is 0.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	if value := h["Retry-After"]; len(value) > 0 {
		if wait, ok = parseWait(value[0], now); ok {
			return wait, true
		}
	}
	for _, name := range millisecondHeaders {
		if value := h[name]; len(value) > 0 {
			if ms, err := strconv.ParseFloat(strings.TrimSpace(value[0]), 64); err == nil && ms >= 0 {
				return seconds(ms / 1000), true
			}
		}
	}
	return 0, false
}

// millisecondHeaders have the time to wait in milliseconds: those of OpenAI and of Azure.
var millisecondHeaders = []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"}

const (
	// leastEpoch is the number from which on a number is a time since 1970 and not a number of seconds to wait, which would
	// be 31 years.
	leastEpoch = 1e9
	// leastMilliseconds is the number from which on a time since 1970 is in milliseconds: in seconds it would be the year
	// 5138.
	leastMilliseconds = 1e11
)

// parseWait reads the time to wait until a moment that a service names: seconds, with a fraction or not; seconds or milliseconds
// since 1970; a date of HTTP or of RFC 3339; or a duration with units, such as 6m0s. It returns false if the value is
// none of these.
func parseWait(value string, now time.Time) (wait time.Duration, ok bool) {
	value = strings.Trim(value, " \t\"")
	if value == "" || len(value) > 64 {
		return 0, false
	}
	if c := value[0]; c >= '0' && c <= '9' || c == '.' {
		n, err := strconv.ParseFloat(value, 64)
		isHex := strings.ContainsAny(value, "xXpP_")
		switch {
		case isHex: // of Go, and of nobody else
		case err == nil && n >= leastMilliseconds:
			return seconds(n/1000 - float64(now.UnixMilli())/1000), true
		case err == nil && n >= leastEpoch:
			return seconds(n - float64(now.UnixMilli())/1000), true
		case err == nil:
			return seconds(n), true
		case math.IsInf(n, 1): // more digits than a number can have
			return longestWait, true
		}
		if d, err := time.ParseDuration(value); err == nil && d >= 0 {
			return min(d, longestWait), true
		}
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), longestWait), true
	}
	if at, err := time.Parse(time.RFC3339, value); err == nil {
		return min(max(at.Sub(now), 0), longestWait), true
	}
	return 0, false
}

// seconds returns a number of seconds as a duration between 0 and longestWait.
func seconds(n float64) time.Duration {
	switch {
	case n >= longestWait.Seconds():
		return longestWait
	case n > 0:
		return time.Duration(n * float64(time.Second))
	}
	return 0
}
