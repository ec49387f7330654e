package faultnet

import (
	"errors"
	"syscall"
)

// narrow is how many bytes the receive buffer of a client has that reads nothing. The kernel makes it twice as large.
const narrow = 4 << 10

// Narrow is for the Control of a [net.Dialer]: what is sent to its connections soon has no room, if nobody reads it. The buffer is made small
// before there is a connection, or more would be on its way than it holds.
func Narrow(_, _ string, raw syscall.RawConn) error {
	var err error
	control := raw.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, narrow) })
	return errors.Join(control, err)
}
