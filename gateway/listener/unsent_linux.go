package listener

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// unsentLittle sets the bound of what is not sent; accepted connections have it from their listener. A kernel that doesn't know it (some
// sandboxes have their own) serves without.
func unsentLittle(_, _ string, raw syscall.RawConn) error {
	return raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsentMost)
	})
}
