package mcp

import "testing"

// TestListeners holds that streams and sessions are counted separately, that callers without a name count in total
// only, and that a removed one makes room.
func TestListeners(t *testing.T) {
	t.Parallel()
	var n StreamLimit
	n.SetLimits(3, 2)
	for i, step := range []struct {
		what   string
		caller string
		want   limitHit
	}{
		{"stream", "a", withinLimit}, {"stream", "a", withinLimit}, {"stream", "a", callerLimitHit}, {"stream", "", withinLimit}, {"stream", "b", totalLimitHit},
		{"session", "a", withinLimit}, {"session", "a", withinLimit}, {"session", "a", callerLimitHit},
		{"session", "b", withinLimit}, {"session", "c", totalLimitHit}, {"session", "", totalLimitHit}, {"end of a session", "b", withinLimit},
		{"end of a stream", "a", withinLimit}, {"stream", "b", withinLimit}, {"end of a stream", "", withinLimit}, {"stream", "", withinLimit},
		{"end of a session", "a", withinLimit}, {"session", "a", withinLimit}, {"session", "a", callerLimitHit}, {"session", "", withinLimit},
	} {
		got := withinLimit
		switch step.what {
		case "stream":
			got = n.addStream(step.caller)
		case "session":
			got = n.addSession(step.caller)
		case "end of a stream":
			n.removeStream(step.caller)
		case "end of a session":
			n.removeSession(step.caller)
		}
		if got != step.want {
			t.Errorf("step %d, %s of %q: %d, want %d", i+1, step.what, step.caller, got, step.want)
		}
	}
	n.SetLimits(0, 0)
	if n.addStream("a") != withinLimit {
		t.Error("without a bound there is one")
	}
	for _, caller := range []string{"a", "b", "a", ""} {
		n.removeStream(caller)
	}
	if n.streams.total != 0 || len(n.streams.byCaller) != 0 {
		t.Errorf("%+v when all have left", n.streams)
	}
}
