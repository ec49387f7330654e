package mcp

import "testing"

// TestListeners: streams and sessions are counted apart, who is not counted by name counts in all, and who leaves makes room.
func TestListeners(t *testing.T) {
	t.Parallel()
	var n Listeners
	n.Bound(3, 2)
	for i, step := range []struct {
		what   string
		caller string
		want   fullness
	}{
		{"stream", "a", notFull}, {"stream", "a", notFull}, {"stream", "a", fullOfCaller}, {"stream", "", notFull}, {"stream", "b", fullInAll},
		{"session", "a", notFull}, {"session", "a", notFull}, {"session", "a", fullOfCaller},
		{"session", "b", notFull}, {"session", "c", fullInAll}, {"session", "", fullInAll}, {"end of a session", "b", notFull},
		{"end of a stream", "a", notFull}, {"stream", "b", notFull}, {"end of a stream", "", notFull}, {"stream", "", notFull},
		{"end of a session", "a", notFull}, {"session", "a", notFull}, {"session", "a", fullOfCaller}, {"session", "", notFull},
	} {
		got := notFull
		switch step.what {
		case "stream":
			got = n.enterStream(step.caller)
		case "session":
			got = n.enterSession(step.caller)
		case "end of a stream":
			n.leaveStream(step.caller)
		case "end of a session":
			n.leaveSession(step.caller)
		}
		if got != step.want {
			t.Errorf("step %d, %s of %q: %d, want %d", i+1, step.what, step.caller, got, step.want)
		}
	}
	n.Bound(0, 0)
	if n.enterStream("a") != notFull {
		t.Error("without a bound there is one")
	}
	for _, caller := range []string{"a", "b", "a", ""} {
		n.leaveStream(caller)
	}
	if n.streams.all != 0 || len(n.streams.of) != 0 {
		t.Errorf("%+v when all have left", n.streams)
	}
}
