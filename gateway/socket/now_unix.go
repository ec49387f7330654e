//go:build unix && (!linux || race || msan || asan)

package socket

import "syscall"

// readNow and writeNow are read(2) and write(2) of a socket that does not wait; p is not empty. The scheduler is told: the race detector
// and its like see what the kernel reads and writes only in this way, and elsewhere than on Linux nobody has measured another.
func readNow(fd uintptr, p []byte) (int, syscall.Errno)  { return now(syscall.Read, fd, p) }
func writeNow(fd uintptr, p []byte) (int, syscall.Errno) { return now(syscall.Write, fd, p) }

func now(call func(fd int, p []byte) (int, error), fd uintptr, p []byte) (int, syscall.Errno) {
	for {
		n, err := call(int(fd), p)
		errno, _ := err.(syscall.Errno) //nolint:errorlint // package syscall returns nothing else, and As allocates
		if errno != syscall.EINTR {
			return n, errno
		}
	}
}
