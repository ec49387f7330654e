package gateway

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/config"
	"drawbridge/gateway/socket"
)

// connections counts those that are open, and the requests under way over HTTP/2, in all and of each address. It is safe for concurrent use.
type connections struct {
	g    *Gateway
	slow *slowness

	mu   sync.Mutex
	open int
	of   map[addressKey]int
}

func newConnections(g *Gateway, r prometheus.Registerer) *connections {
	c := &connections{g: g, slow: newSlowness(g, r), of: make(map[addressKey]int)}
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "drawbridge_open_connections",
		Help: "Open connections of clients, and requests under way over HTTP/2."}, func() float64 {
		c.mu.Lock()
		defer c.mu.Unlock()
		return float64(c.open)
	}))
	return c
}

// Listen listens for clients at address, host:port, as [socket.Listen] does, with the bounds of [Gateway.Listener].
func (g *Gateway) Listen(ctx context.Context, address string) (*Arrivals, error) {
	l, err := socket.Listen(ctx, address)
	if err != nil {
		return nil, err
	}
	return g.Listener(l), nil
}

// Listener bounds the connections of a listener for clients (limits.max_connections, max_connections_per_address). One that is
// too many is closed at once, before anything is read from it: whoever opens thousands costs a descriptor for a moment each.
// One that stays is handed out when its first request is there.
func (g *Gateway) Listener(l net.Listener) *Arrivals {
	return newArrivals(&boundedListener{Listener: l, all: g.connections}, g.Config().Server.TLS != nil)
}

// boundedListener is closed once, and tells each who closes it how that went.
type boundedListener struct {
	net.Listener
	all    *connections
	once   sync.Once
	closed error
}

// Close closes the listener.
func (l *boundedListener) Close() error {
	l.once.Do(func() { l.closed = l.Listener.Close() })
	return l.closed
}

// accept returns the next connection that there is room for.
func (l *boundedListener) accept() (*boundedConn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		key := l.all.keyOf(conn.RemoteAddr())
		because := l.all.take(key, &l.all.g.Config().Limits)
		if because == "" {
			return &boundedConn{Conn: socket.Direct(conn), all: l.all, key: key}, nil
		}
		l.all.g.refuseConnection(because, conn.RemoteAddr())
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // nothing is left behind for it
		}
		_ = conn.Close()
	}
}

// keyOf returns the address that a connection counts for; nobody's for peers on loopback, and for trusted proxies, which stand
// for many.
func (c *connections) keyOf(a net.Addr) addressKey {
	if ip := addressAt(a); ip.IsValid() && !ip.IsLoopback() && !c.g.clients.trusts(ip) {
		return addressKeyOf(ip)
	}
	return addressKey{}
}

// addressAt is that of the other end of a connection; the zero value for what has none.
func addressAt(a net.Addr) netip.Addr {
	var peer netip.AddrPort
	if tcp, ok := a.(*net.TCPAddr); ok {
		peer = tcp.AddrPort()
	} else if peer, _ = netip.ParseAddrPort(a.String()); !peer.IsValid() {
		return netip.Addr{}
	}
	return peer.Addr().Unmap().WithZone("")
}

// take counts a connection, or tells why there is no room for it; "": it was counted. One address that has all of its own is told
// apart from too many of all: the one is somebody's fault, the other wants more replicas.
func (c *connections) take(key addressKey, limits *config.Limits) refusalReason {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case key != (addressKey{}) && c.of[key] >= limits.MaxConnectionsPerAddress:
		return refusedOfAddress
	case c.open >= limits.MaxConnections:
		return refusedConnections
	}
	c.open++
	if key != (addressKey{}) {
		c.of[key]++
	}
	return ""
}

// held is how many of an address are counted; 0 for nobody's.
func (c *connections) held(key addressKey) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[key]
}

func (c *connections) giveBack(key addressKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	if key == (addressKey{}) {
		return
	}
	if c.of[key]--; c.of[key] <= 0 {
		delete(c.of, key)
	}
}

// boundedConn gives its place back when it is closed, and has what was read of it before it was handed out.
type boundedConn struct {
	net.Conn
	all  *connections
	key  addressKey
	once sync.Once

	from  *Arrivals   // what it waits in; nil: nothing
	waits atomic.Bool // from knows it
	first []byte      // what nobody has read since
	late  bool        // what comes after first has not come in time

	served  bool   // a request was answered on it, so that it may rest
	refused bool   // the last of them, so that the next one gives way to others
	remote  string // its other end, once a request was answered here
}

// firstRead is the room in bytes for what comes first: most requests are smaller.
const firstRead = 1 << 10

// fill reads more of what comes first.
func (c *boundedConn) fill() error {
	if len(c.first) == cap(c.first) {
		c.first = append(make([]byte, 0, max(firstRead, 2*len(c.first))), c.first...)
	}
	n, err := c.Conn.Read(c.first[len(c.first):cap(c.first)])
	c.first = c.first[:len(c.first)+n]
	return err
}

// Read reads what came first, and then what comes.
func (c *boundedConn) Read(p []byte) (int, error) {
	if len(c.first) > 0 {
		n := copy(p, c.first)
		if c.first = c.first[n:]; len(c.first) == 0 {
			c.first = nil
		}
		return n, nil
	}
	if c.late {
		return 0, os.ErrDeadlineExceeded
	}
	return c.Conn.Read(p)
}

// Write writes p. With the first of them an answer has begun.
func (c *boundedConn) Write(p []byte) (int, error) {
	c.leave()
	return c.Conn.Write(p)
}

// CloseWrite tells the client that there is no more to come. net/http looks for it before it closes a connection whose request it has not read to its
// end, so that the client reads the answer before that fails.
func (c *boundedConn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}

// Close closes the connection.
func (c *boundedConn) Close() error {
	c.once.Do(func() { c.all.giveBack(c.key) })
	err := c.Conn.Close()
	c.leave()
	return err
}

func (c *boundedConn) leave() {
	if c.waits.Load() && c.waits.Swap(false) {
		c.from.answered(c)
	}
}

// ReadFrom writes what r reads. net/http looks for it: a long text passes none of its buffers then.
func (c *boundedConn) ReadFrom(r io.Reader) (int64, error) {
	c.leave()
	return io.Copy(c.Conn, r)
}

// serveAgain has a connection that was taken from net/http wait for another request, of which said has come.
func serveAgain(conn net.Conn, said []byte) {
	c, ok := conn.(*boundedConn)
	if !ok || c.from == nil {
		_ = conn.Close()
		return
	}
	c.served = true
	c.first, c.late = append(said, c.first...), false // the rest of it may not have been asked for yet
	c.from.wait(c)
}
