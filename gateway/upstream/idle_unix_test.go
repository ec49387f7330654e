//go:build unix

package upstream

import (
	"net"
	"testing"
	"time"
)

// TestIdleIsLookedAt: an idle connection is quiet as long as its other side has neither sent anything nor closed it.
func TestIdleIsLookedAt(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(here, there *net.UnixConn)
		want    bool
	}{
		"nothing":               {func(_, _ *net.UnixConn) {}, true},
		"a byte":                {func(_, there *net.UnixConn) { _, _ = there.Write([]byte("x")) }, false},
		"an end":                {func(_, there *net.UnixConn) { there.Close() }, false},
		"half an end":           {func(_, there *net.UnixConn) { _ = there.CloseWrite() }, false},
		"closed here":           {func(here, _ *net.UnixConn) { here.Close() }, false},
		"the time is over":      {func(here, _ *net.UnixConn) { _ = here.SetReadDeadline(time.Unix(1, 0)) }, false},
		"a deadline is to come": {func(here, _ *net.UnixConn) { _ = here.SetReadDeadline(time.Now().Add(time.Hour)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			here, there := sockets(t)
			defer here.Close()
			defer there.Close()
			isQuiet := lookAt(here)
			if !isQuiet() {
				t.Error("it is not quiet before")
			}
			c.happens(here, there)
			if got := isQuiet(); got != c.want {
				t.Errorf("quiet %t, want %t", got, c.want)
			}
		})
	}
	here, _ := net.Pipe()
	if lookAt(here)() {
		t.Error("a pipe can't be looked at")
	}
	one, other := sockets(t)
	defer one.Close()
	defer other.Close()
	isQuiet := lookAt(one)
	if n := testing.AllocsPerRun(100, func() { isQuiet() }); n != 0 {
		t.Errorf("a look allocates %v times", n)
	}
}
