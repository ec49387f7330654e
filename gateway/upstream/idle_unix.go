//go:build unix

package upstream

import (
	"net"
	"syscall"
)

// canLook tells that idle connections can be looked at.
const canLook = true

// lookAt returns a function that reports whether the other side of an idle connection has neither sent anything nor closed it: a read that does not wait
// finds nothing. Bytes that were sent may be lost. It is false once the deadline for reading has passed, and for what is no socket.
func lookAt(conn net.Conn) func() bool {
	never := func() bool { return false }
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return never
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return never
	}
	quiet, one := false, make([]byte, 1)
	look := func(fd uintptr) bool {
		_, err := syscall.Read(int(fd), one)
		for err == syscall.EINTR {
			_, err = syscall.Read(int(fd), one)
		}
		quiet = err == syscall.EAGAIN
		return true // don't wait
	}
	return func() bool { return raw.Read(look) == nil && quiet }
}
