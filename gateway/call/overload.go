package call

import (
	"errors"
	"net/http"
	"time"

	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// Overloaded returns the error for a call that can't be admitted, and the reason, or nil. memoryChecked is that of
// [admission.Controller.Check].
func (r *Runner) Overloaded(maxCalls int, memoryChecked bool) (*mcp.Error, telemetry.RefusalReason) {
	because := r.Overload.Check(maxCalls, memoryChecked)
	if because == "" {
		return nil, ""
	}
	return r.overloadError(because), because
}

// overloadError counts a call that isn't admitted, and returns its error.
func (r *Runner) overloadError(because telemetry.RefusalReason) *mcp.Error {
	r.Metrics.Refused[because].Inc()
	what := "too many calls run"
	if because == telemetry.RefusedMemory {
		what = "there is no room for more calls"
	}
	return mcp.RetryLater(http.StatusServiceUnavailable, time.Second, "%s: come again in 1 second; lists are served", what)
}

// RejectWait counts a request that can't wait for its user because too many do already. The reason is "" if err is
// another error.
func (r *Runner) RejectWait(err error) (because telemetry.RefusalReason, status int) {
	var full *mcp.ElicitationLimitError
	if !errors.As(err, &full) || full.TooLarge {
		return "", 0
	}
	because, status = telemetry.RefusedWaits, http.StatusServiceUnavailable
	if full.PerCaller {
		because, status = telemetry.RefusedCallerWaits, http.StatusTooManyRequests
	}
	r.Metrics.Refused[because].Inc()
	return because, status
}
