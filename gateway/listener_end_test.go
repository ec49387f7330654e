package gateway

import (
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/test/timebox"
)

// TestArrivalsDrainWaitsForAccept: what has arrived is not left behind because nobody has come to take it yet.
func TestArrivalsDrainWaitsForAccept(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	synctest.Test(t, func(t *testing.T) {
		inner := &pipes{conns: make(chan any), closed: make(chan struct{})}
		a := newArrivals(&boundedListener{Listener: inner, all: g.connections}, false)
		clients := make([]net.Conn, 3)
		go func() {
			for i := range clients {
				server, client := net.Pipe()
				inner.conns <- remote{server, "192.0.2.1:1"}
				clients[i] = client
				_, _ = io.WriteString(client, "GET / HTTP/1.1\r\n\r\n")
			}
		}()
		first, err := a.Accept()
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the others are there, and nobody accepts
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			a.Drain(t.Context())
		}()
		time.Sleep(time.Second)
		for n := range 2 {
			select {
			case <-drained:
				t.Fatalf("drained, and %d were not accepted", 2-n)
			default:
			}
			conn, err := a.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
		}
		<-drained
		_ = first.Close()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		for _, c := range clients {
			_ = c.Close()
		}
	})
}

// TestArrivalsDrainIsNotHeldUp: who goes on to send slowly does not take the time that calls have to end. Its head is given up, and its body is late.
func TestArrivalsDrainIsNotHeldUp(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(g)
		heads, bodies := make([]net.Conn, 3), make([]net.Conn, 3)
		drip := func(c net.Conn) {
			for {
				if _, err := io.WriteString(c, "a"); err != nil {
					return
				}
				time.Sleep(900 * time.Millisecond)
			}
		}
		for i := range heads {
			heads[i], bodies[i] = h.come(), h.come()
			_, _ = io.WriteString(heads[i], "GET / HTTP/1.1\r\nA: ")
			_, _ = io.WriteString(bodies[i], "POST / HTTP/1.1\r\nContent-Length: 5000\r\n\r\n")
			go drip(heads[i])
			go drip(bodies[i])
			time.Sleep(time.Second)
		}
		start := time.Now()
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			for range bodies {
				conn := <-h.accepted
				if _, err := io.Copy(io.Discard, conn); err == nil {
					t.Error("a body has an end")
				}
				_ = conn.Close()
			}
		}()
		h.Drain(t.Context())
		if took := time.Since(start); took > HeadPatience {
			t.Errorf("drained after %v", took)
		}
		<-answered
		h.end(t)
		for i := range heads {
			_ = heads[i].Close()
			_ = bodies[i].Close()
		}
		time.Sleep(time.Second) // drip
	})
}

// deadlined notes the last deadline that was set, and calls taken when there is to be none.
type deadlined struct {
	net.Conn
	last  *time.Time
	taken func()
}

func (d deadlined) SetReadDeadline(t time.Time) error {
	if *d.last = t; t.IsZero() {
		d.taken()
	}
	return d.Conn.SetReadDeadline(t)
}

// TestArrivalsLeaveNoDeadline: a connection that was handed out has none, also if its request came with the end of service.
func TestArrivalsLeaveNoDeadline(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(g)
		var last time.Time
		drained := make(chan struct{})
		server, client := net.Pipe()
		h.inner.conns <- deadlined{remote{server, "192.0.2.1:1"}, &last, func() {
			go func() {
				defer close(drained)
				h.Drain(t.Context())
			}()
			for range 1000 {
				runtime.Gosched()
			}
		}}
		_, _ = io.WriteString(client, "GET / HTTP/1.1\r\n\r\n") // in one piece
		conn := <-h.accepted
		<-drained
		if !last.IsZero() {
			t.Errorf("it must be read until %v", last)
		}
		_ = conn.Close()
		h.end(t)
	})
}

// TestConnectionsEndAsThoseOfTheServer: net/http says that it has said all before it waits for the client to have read that.
func TestConnectionsEndAsThoseOfTheServer(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	hold := make(chan struct{})
	s := &http.Server{Handler: echoed, MaxHeaderBytes: 1 << 10, ReadHeaderTimeout: HeadPatience}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(closing{g.Listener(l), hold})
	}()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nA: "+strings.Repeat("a", 8<<10)+"\r\n\r\n")
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	if got, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 431 ") {
		t.Errorf("%q, %v", got, err)
	}
	close(hold)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	timebox.Wait(t, ended)
}

// closing has connections closed when hold ends.
type closing struct {
	net.Listener
	hold chan struct{}
}

func (l closing) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return unclosed{conn.(*boundedConn), l.hold}, nil
}

type unclosed struct {
	*boundedConn
	hold chan struct{}
}

func (c unclosed) Close() error {
	<-c.hold
	return c.boundedConn.Close()
}
