package listener

import (
	"net"
	"net/netip"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Reason is the reason why a connection, or a request over HTTP/2, is refused.
type Reason string

const (
	// TooMany means that the limit of all connections is reached.
	TooMany Reason = "connections"
	// TooManyOfAddress means that the limit of one address is reached.
	TooManyOfAddress Reason = "address_connections"
	// ShortOfMemory means that memory is short, and the address has more than a few.
	ShortOfMemory Reason = "memory"
)

// Options are the dependencies of a [Limiter].
type Options struct {
	// Limits returns the maximum numbers of open connections, in total and per address.
	Limits func() (total, perAddress int)
	// Key returns the network that a peer is counted under. With the zero value it counts in the total only: peers on loopback, and
	// proxies with many clients.
	Key func(netip.Addr) netip.Prefix
	// Refused is called for each connection that is refused.
	Refused func(because Reason, from net.Addr)
	// Panicked is called for a panic while a connection is accepted, which ends only that connection.
	Panicked func(what string, v any)
	Metrics  prometheus.Registerer
}

// Limiter counts open connections, and requests under way over HTTP/2, in total and per address. It is safe for concurrent use.
type Limiter struct {
	o       Options
	metrics *metrics

	mu         sync.Mutex
	open       int
	perAddress map[netip.Prefix]int
	conns      map[*Conn]struct{} // open connections of all listeners
}

// NewLimiter returns a limiter without connections.
func NewLimiter(o Options) *Limiter {
	l := &Limiter{o: o, perAddress: make(map[netip.Prefix]int), conns: make(map[*Conn]struct{})}
	l.metrics = newMetrics(l, o.Metrics)
	return l
}

// Held returns the numbers of counted connections and requests, of an address and in total.
func (l *Limiter) Held(key netip.Prefix) (ofAddress, total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.perAddress[key], l.open
}

// take counts one more, or returns why it is refused; "" if it was counted. Too many from one address is a reason of its own, because
// that client is at fault, while too many in total requires more replicas.
func (l *Limiter) take(key netip.Prefix) Reason {
	total, perAddress := l.o.Limits()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case key.IsValid() && l.perAddress[key] >= perAddress:
		return TooManyOfAddress
	case l.open >= total:
		return TooMany
	}
	l.open++
	if key.IsValid() {
		l.perAddress[key]++
	}
	return ""
}

func (l *Limiter) giveBack(key netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.giveBackLocked(key)
}

func (l *Limiter) giveBackLocked(key netip.Prefix) {
	l.open--
	if !key.IsValid() {
		return
	}
	if l.perAddress[key]--; l.perAddress[key] <= 0 {
		delete(l.perAddress, key)
	}
}

// admit returns a connection that is counted, or closes it and returns nil.
func (l *Limiter) admit(of *Listener, conn net.Conn) (c *Conn) {
	defer func() {
		if v := recover(); v != nil {
			_ = conn.Close()
			c = nil
			l.o.Panicked("a connection was accepted", v)
		}
	}()
	from := conn.RemoteAddr()
	var key netip.Prefix
	if ip := AddressOf(from); ip.IsValid() {
		key = l.o.Key(ip)
	}
	if because := l.take(key); because != "" {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // nothing is left behind for it
		}
		_ = conn.Close()
		l.o.Refused(because, from)
		return nil
	}
	c = &Conn{Conn: conn, listener: of, key: key}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c] = struct{}{}
	return c
}

// leave frees the slot of a closed connection.
func (l *Limiter) leave(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
	l.giveBackLocked(c.key)
}

// AddressOf returns the IP address of the peer of a connection; the zero value for a peer without one, such as that of a Unix socket.
func AddressOf(a net.Addr) netip.Addr {
	var peer netip.AddrPort
	if tcp, ok := a.(*net.TCPAddr); ok {
		peer = tcp.AddrPort()
	} else if peer, _ = netip.ParseAddrPort(a.String()); !peer.IsValid() {
		return netip.Addr{}
	}
	return peer.Addr().Unmap().WithZone("")
}
