package listener

import (
	"net"
	"net/netip"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Reason is why a connection, or a request over HTTP/2, is refused.
type Reason string

const (
	// TooMany tells that as many are open as the gateway takes.
	TooMany Reason = "connections"
	// TooManyOfAddress tells that one address has as many as it may have.
	TooManyOfAddress Reason = "address_connections"
	// ShortOfMemory tells that memory is short and an address has more than a few.
	ShortOfMemory Reason = "memory"
)

// Options are the dependencies of a [Limiter].
type Options struct {
	// Limits returns how many connections may be open, in total and of one address.
	Limits func() (total, perAddress int)
	// Key returns the network that a peer counts for. The zero value counts in the total alone: peers on loopback, and proxies that stand for many.
	Key func(netip.Addr) netip.Prefix
	// Refused is told of each connection that is refused.
	Refused func(because Reason, from net.Addr)
	// Panicked is told of a panic while a connection was accepted, which costs that connection alone.
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

// NewLimiter makes a limiter that has nothing to count yet.
func NewLimiter(o Options) *Limiter {
	l := &Limiter{o: o, perAddress: make(map[netip.Prefix]int), conns: make(map[*Conn]struct{})}
	l.metrics = newMetrics(l, o.Metrics)
	return l
}

// Held returns how many connections and requests of an address are counted, and how many in total.
func (l *Limiter) Held(key netip.Prefix) (ofAddress, total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.perAddress[key], l.open
}

// take counts one more, or returns why it is refused; "" if it was counted. One address that has too many is told apart from too many in total: the former
// is somebody's fault, the latter wants more replicas.
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

// leave gives back the place of a connection that was closed.
func (l *Limiter) leave(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
	l.giveBackLocked(c.key)
}

// AddressOf returns the address at the other end of a connection; the zero value for what has none, such as a socket in the file system.
func AddressOf(a net.Addr) netip.Addr {
	var peer netip.AddrPort
	if tcp, ok := a.(*net.TCPAddr); ok {
		peer = tcp.AddrPort()
	} else if peer, _ = netip.ParseAddrPort(a.String()); !peer.IsValid() {
		return netip.Addr{}
	}
	return peer.Addr().Unmap().WithZone("")
}
