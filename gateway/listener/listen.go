package listener

import (
	"context"
	"net"
)

// unsentMost is the maximum number of unsent bytes in the send buffer of a connection (TCP_NOTSENT_LOWAT). Small responses fit, and
// larger ones are copied some 16 KiB at a time once a client is slower than the gateway.
const unsentMost = 16 << 10

// Listen listens for TCP connections with small send buffers. By default the kernel buffers what a client doesn't read: some 100 KiB a
// connection over Ethernet, megabytes on loopback. Thousands of clients that read nothing would take more memory than the process, from
// the same limit of the container, uncounted. With small buffers the rest of a response waits in the process, where it is counted and
// has a deadline (docs/contributing/adr/0021). On other systems than Linux this is [net.ListenConfig.Listen].
func Listen(ctx context.Context, address string) (net.Listener, error) {
	lc := net.ListenConfig{Control: unsentLittle}
	lc.SetMultipathTCP(false) // its listener does not hand the option on to connections of plain TCP
	return lc.Listen(ctx, "tcp", address)
}
