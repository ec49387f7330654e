package gatewaytest

import (
	"io"
	"net"
)

// Accepted is a listener with connections that come from where a test says.
type Accepted struct{ Conns chan net.Conn }

func (a *Accepted) Accept() (net.Conn, error) {
	if c := <-a.Conns; c != nil {
		return c, nil
	}
	return nil, io.EOF
}
func (a *Accepted) Close() error   { return nil }
func (a *Accepted) Addr() net.Addr { return &net.TCPAddr{} }

type Remote struct {
	net.Conn
	Address string
}

func (r Remote) RemoteAddr() net.Addr { return AddressOf(r.Address) }

type AddressOf string

func (AddressOf) Network() string  { return "tcp" }
func (a AddressOf) String() string { return string(a) }
