package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"drawbridge/cmd/drawbridge/terminal"
)

// sayStopping tells a person at a terminal what the end of service waits for and how long at most, and shows how it goes on until
// the function that it returns is called. Calls that come in during delay are waited for too.
func (s *server) sayStopping(delay, timeout time.Duration) (end func()) {
	if s.screen == nil {
		return func() {}
	}
	calls, unread, streams := s.gateway.Busy()
	_, _ = io.WriteString(s.screen, stopping(int(calls), unread, streams, delay, timeout)) // nobody is left to tell
	return terminal.Watch(s.screen, func() (string, int, int) {
		calls, unread, _ := s.gateway.Busy()
		if waiting := waitingFor(int(calls), unread); waiting != "" {
			return "waiting for " + waiting, 0, 0
		}
		return "stopping", 0, 0
	}).Stop
}

// stopping returns what is said when service ends.
func stopping(calls, unread, streams int, delay, timeout time.Duration) string {
	var b strings.Builder
	b.WriteString("Stopping")
	if delay > 0 {
		fmt.Fprintf(&b, " in %s (server.shutdown_delay)", delay)
	}
	if waiting := waitingFor(calls, unread); waiting != "" {
		fmt.Fprintf(&b, ": waiting for %s, at most %s (server.drain_timeout)", waiting, timeout)
	}
	b.WriteString(".")
	switch {
	case streams == 1:
		b.WriteString(" 1 open stream is closed.")
	case streams > 1:
		fmt.Fprintf(&b, " %d open streams are closed.", streams)
	}
	if calls+unread > 0 || delay > 0 {
		b.WriteString(" Ctrl-C again ends at once.")
	}
	return b.String() + "\n"
}

// waitingFor names what a shutdown waits for, or returns "".
func waitingFor(calls, unread int) string {
	var all []string
	if calls > 0 {
		all = append(all, count(calls, "call")+" in flight")
	}
	if unread > 0 {
		all = append(all, count(unread, "list")+" that clients still read")
	}
	return strings.Join(all, " and ")
}
