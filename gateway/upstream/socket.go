package upstream

import (
	"context"
	"net"
	"time"
)

// socketDialer connects to a Unix domain socket, whatever the address: its path is from the configuration alone.
func socketDialer(path string, connect time.Duration) func(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: connect}
	return func(ctx context.Context, _, _ string) (net.Conn, error) { return d.DialContext(ctx, "unix", path) }
}
