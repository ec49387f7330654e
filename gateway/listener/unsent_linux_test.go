package listener

import (
	"net"
	"syscall"
	"testing"

	"drawbridge/test/faultnet"
)

// TestListenBoundsWhatIsUnsent writes to a client that reads nothing until the kernel takes no more.
func TestListenBoundsWhatIsUnsent(t *testing.T) {
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const receives = 8 << 10 // the buffer of a narrow client
	d := net.Dialer{Control: faultnet.Narrow}
	client, err := d.DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	raw, err := server.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	taken, buffer := 0, make([]byte, 1<<20)
	if err := raw.Write(func(fd uintptr) bool {
		for {
			n, err := syscall.Write(int(fd), buffer)
			if err == syscall.EAGAIN {
				return true
			}
			if err != nil {
				t.Error(err)
				return true
			}
			taken += n
		}
	}); err != nil {
		t.Fatal(err)
	}
	if most := receives + 4*unsentMost; taken == 0 || taken > most {
		t.Errorf("the kernel took %d bytes, want %d at most", taken, most)
	}
	t.Log(taken)
}
