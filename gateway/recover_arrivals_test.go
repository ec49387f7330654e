package gateway

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// breaking is a connection of which nobody can read.
type breaking struct{ net.Conn }

func (breaking) Read([]byte) (int, error) { panic("injected") }

// nameless is a connection that can't be counted.
type nameless struct{ net.Conn }

func (nameless) RemoteAddr() net.Addr { panic("injected") }

// TestPanicsOfArrivals: a panic at what a connection sends first is the end of that connection alone, and one at the listener delays those who come.
func TestPanicsOfArrivals(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(g)
		server, client := net.Pipe()
		h.inner.conns <- remote{breaking{server}, "192.0.2.1:1"}
		if _, err := client.Read(make([]byte, 1)); err != io.EOF { //nolint:errorlint // net.Pipe gives it so
			t.Errorf("its client reads %v, want the end", err)
		}
		server, other := net.Pipe()
		h.inner.conns <- nameless{server}
		begin := time.Now()
		next := h.come()
		if _, err := io.WriteString(next, "GET / HTTP/1.1\r\n\r\n"); err != nil {
			t.Error(err)
		}
		_ = (<-h.accepted).Close()
		if took := time.Since(begin); took != surviveAfter {
			t.Errorf("connections are taken again after %v, want %v", took, surviveAfter)
		}
		_, _, _ = server.Close(), other.Close(), next.Close()
		h.end(t)
	})
	if got := metricLines(g, "drawbridge_panics_total 2"); len(got) != 1 {
		t.Errorf("two panics were not counted: %q", metricLines(g, "drawbridge_panics_total"))
	}
}
