package listener

import (
	"context"
	"net"
)

// unsentMost is how many bytes of an answer the kernel takes for a connection before it has sent them. Small answers need no more,
// and larger ones are copied some 16 KiB at a time once a client is slower than the gateway.
const unsentMost = 16 << 10

// Listen listens for TCP connections of which the kernel holds little that it has not sent. By default it takes what a client doesn't
// read, up to some 100 KiB a connection over Ethernet and megabytes on loopback: thousands who ask for much and read nothing take
// more than the process itself, of the same limit of a container, and nothing counts it. The rest of an answer waits
// here, where it is counted and has a deadline (docs/contributing/adr/0021). Elsewhere than on Linux it is [net.ListenConfig.Listen].
func Listen(ctx context.Context, address string) (net.Listener, error) {
	lc := net.ListenConfig{Control: unsentLittle}
	lc.SetMultipathTCP(false) // its listener does not hand the option on to connections of plain TCP
	return lc.Listen(ctx, "tcp", address)
}
