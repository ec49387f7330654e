package render

import (
	"fmt"
	"math"
	"net/http"
	"time"

	"drawbridge/gateway/upstream"
)

// longestWait is the longest wait that a model is advised; longer waits are for people.
const longestWait = 24 * time.Hour

// retryAfter returns the time that the service asks to wait as a sentence, or "" if it does not ask.
func retryAfter(resp *http.Response, now time.Time) string {
	limit := upstream.RateLimitOf(resp, now)
	if !limit.Known {
		return ""
	}
	switch wait := limit.Wait; {
	case wait > longestWait:
		return "The service asks to wait more than a day; tell the user."
	case wait > 2*time.Hour:
		return fmt.Sprintf("Wait %d hours before the next call.", int(math.Ceil(wait.Hours())))
	case wait > 10*time.Minute:
		return fmt.Sprintf("Wait %d minutes before the next call.", int(math.Ceil(wait.Minutes())))
	case wait <= time.Second:
		return "Wait 1 second before the next call."
	default:
		return fmt.Sprintf("Wait %d seconds before the next call.", int(math.Ceil(wait.Seconds())))
	}
}

// RetryTime returns the time that the service asks to wait, at most longestWait, or 0 if it does not ask.
func RetryTime(resp *http.Response, now time.Time) time.Duration {
	limit := upstream.RateLimitOf(resp, now)
	if !limit.Known {
		return 0
	}
	return min(max(limit.Wait, time.Millisecond), longestWait)
}
