package gatewaytest

import (
	"net"
	"net/http"
	"testing"
	"time"

	"drawbridge/gateway"
)

// AttachedServer serves a gateway on a listener in a bubble, to which connections come when dial is called. stop ends it.
func AttachedServer(t *testing.T, g *gateway.Gateway) (dial func() net.Conn, stop func()) {
	t.Helper()
	inner := &Accepted{Conns: make(chan net.Conn, 1)}
	l := g.Listener(inner)
	s := &http.Server{Handler: g.Handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	l.Attach(s)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(l) // which says that the test has ended it
	}()
	dial = func() net.Conn {
		ours, theirs := net.Pipe()
		inner.Conns <- Remote{Conn: ours, Address: "127.0.0.1:1"}
		return theirs
	}
	return dial, func() {
		close(inner.Conns)
		_ = s.Close()
		<-ended
	}
}
