package gatewaytest

import (
	"io"
	"net"
)

// Accepted is a listener with connections that come from where a test says.
type Accepted struct{ Conns chan net.Conn }

// Accept returns the next connection.
func (a *Accepted) Accept() (net.Conn, error) {
	if c := <-a.Conns; c != nil {
		return c, nil
	}
	return nil, io.EOF
}

// Close does nothing: the test closes the connections.
func (a *Accepted) Close() error { return nil }

// Addr returns an address that nobody looks at.
func (a *Accepted) Addr() net.Addr { return &net.TCPAddr{} }

// Remote is a connection from another address.
type Remote struct {
	net.Conn
	Address string
}

// RemoteAddr returns that address.
func (r Remote) RemoteAddr() net.Addr { return AddressOf(r.Address) }

// AddressOf is an address in text form.
type AddressOf string

// Network returns "tcp".
func (AddressOf) Network() string  { return "tcp" }
func (a AddressOf) String() string { return string(a) }
