//go:build linux && !race && !msan && !asan

package socket

import (
	"syscall"
	"unsafe"
)

// readNow and writeNow are read(2) and write(2) of a socket that does not wait; p is not empty. The scheduler is not told.
func readNow(fd uintptr, p []byte) (int, syscall.Errno)  { return now(syscall.SYS_READ, fd, p) }
func writeNow(fd uintptr, p []byte) (int, syscall.Errno) { return now(syscall.SYS_WRITE, fd, p) }

func now(call, fd uintptr, p []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
		if errno != syscall.EINTR {
			return int(n), errno
		}
	}
}
