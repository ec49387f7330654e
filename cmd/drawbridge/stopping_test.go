package main

import (
	"testing"
	"time"
)

// TestStopping: what a person at a terminal is told when service ends.
func TestStopping(t *testing.T) {
	for _, tt := range []struct {
		calls, unread, streams int
		delay                  time.Duration
		want                   string
	}{
		{0, 0, 0, 0, "Stopping.\n"},
		{0, 0, 3, 0, "Stopping. 3 open streams are closed.\n"},
		{1, 0, 1, 0, "Stopping: waiting for 1 call in flight, at most 25s (server.drain_timeout). 1 open stream is closed. Ctrl-C again ends at once.\n"},
		{2, 1, 0, 5 * time.Second, "Stopping in 5s (server.shutdown_delay): waiting for 2 calls in flight and 1 list that clients still read, at most 25s (server.drain_timeout). Ctrl-C again ends at once.\n"},
		{0, 0, 0, 5 * time.Second, "Stopping in 5s (server.shutdown_delay). Ctrl-C again ends at once.\n"},
	} {
		if got := stopping(tt.calls, tt.unread, tt.streams, tt.delay, 25*time.Second); got != tt.want {
			t.Errorf("stopping = %q, want %q", got, tt.want)
		}
	}
}
