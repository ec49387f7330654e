//go:build unix

package upstream

import (
	"errors"
	"net"
	"syscall"
)

// canProbe tells that an idle connection can be looked at, without which none may be used again.
const canProbe = true

// probe looks at an idle connection without waiting.
type probe struct {
	raw   syscall.RawConn // nil: the connection is of no socket
	quiet *bool           // what the last look found
	look  func(fd uintptr) bool
}

func newProbe(conn net.Conn) probe {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return probe{}
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return probe{}
	}
	p := probe{raw: raw, quiet: new(bool)}
	quiet, one := p.quiet, make([]byte, 1)
	p.look = func(fd uintptr) bool {
		_, err := syscall.Read(int(fd), one) // whatever comes, or an end, makes the connection useless, so that a byte may be lost
		*quiet = errors.Is(err, syscall.EAGAIN)
		return true // don't wait
	}
	return p
}

// isQuiet reports whether the other side has neither sent anything nor closed the connection.
func (p probe) isQuiet() bool {
	if p.raw == nil {
		return true
	}
	err := p.raw.Read(p.look)
	return err == nil && *p.quiet
}
