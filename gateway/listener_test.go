package gateway

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/test/timebox"
)

// harbour is a listener under test, in a bubble: connections come when the test says, and what is handed out is in accepted.
type harbour struct {
	*Arrivals
	inner    *pipes
	accepted chan net.Conn
	ended    chan error
}

func newHarbour(g *Gateway) *harbour {
	inner := &pipes{conns: make(chan any), closed: make(chan struct{})}
	h := &harbour{newArrivals(&boundedListener{Listener: inner, all: g.connections}, false), inner, make(chan net.Conn, 100), make(chan error, 1)}
	go func() {
		for {
			conn, err := h.Accept()
			if err != nil {
				h.ended <- err
				return
			}
			h.accepted <- conn
		}
	}()
	return h
}

// come is the client's side of a new connection.
func (h *harbour) come() net.Conn {
	server, client := net.Pipe()
	h.inner.conns <- remote{server, "192.0.2.1:1"}
	return client
}

// end closes the listener, and looks whether all is gone.
func (h *harbour) end(t *testing.T) {
	t.Helper()
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := timebox.Receive(t, h.ended); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	for len(h.accepted) > 0 {
		_ = (timebox.Receive(t, h.accepted)).Close()
	}
	if err := h.Idle(t.Context()); err != nil {
		t.Error(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.conns) > 0 || h.count != [stages]int{} || h.all.open != 0 {
		t.Errorf("%d connections are known, %d in each stage, %d are counted", len(h.conns), h.count, h.all.open)
	}
}

// TestArrivals: a connection is handed out when its first request is there, with all that it sent, and so is one whose body takes too long. Others that
// take too long are closed.
func TestArrivals(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	small := "POST /mcp HTTP/1.1\r\ncontent-length: 4\r\n\r\nbo"
	large := "POST / HTTP/1.1\r\nContent-Length: 9000\r\n\r\n"
	slow := append([]string{"POST / HTTP/1.1\r\nContent-Length: 90\r\n\r\n"}, strings.Split(strings.Repeat("b", 80), "")...)
	for _, c := range []struct {
		name   string
		pieces []string
		pause  time.Duration // before each but the first
		late   bool          // it is handed out, and nothing comes behind what it sent
		least  time.Duration // after which it is closed, or late
		most   time.Duration // 0: neither
	}{
		{"a whole request", []string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n"}, 0, false, 0, 0},
		{"a head in pieces", []string{"GET / HT", "TP/1.1\r\n", "\r", "\n"}, time.Second, false, 0, 0},
		{"a body in pieces", []string{small, "d", "y"}, 4 * time.Second, false, 0, 0},
		{"more than one request", []string{"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n"}, 0, false, 0, 0},
		{"a large body", []string{large, strings.Repeat("b", waitedFor-len(large))}, time.Second, false, 0, 0},
		{"HTTP/2 in clear", []string{"PRI * HTTP/2.0\r\n", "\r\nSM\r\n\r\n"}, time.Second, false, 0, 0},
		{"nothing", nil, 0, false, HeadPatience, 2 * HeadPatience},
		{"a slow head", []string{"GET / HTTP/1.1\r\n", "A", ":", " a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a"}, 900 * time.Millisecond, false, HeadPatience, 2 * HeadPatience},
		{"a body that stands still", []string{small}, 0, true, bodyPatience, 2 * bodyPatience},
		{"a slow body", slow, 900 * time.Millisecond, true, bodyGrace, 2*bodyGrace + 2*time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarbour(g)
				begin := time.Now()
				client := h.come()
				closed := make(chan struct{})
				var took time.Duration // until it was handed out, or closed
				go func() {
					defer close(closed)
					_, _ = io.Copy(io.Discard, client)
					if !c.late {
						took = time.Since(begin)
					}
				}()
				var sent strings.Builder
				for n, piece := range c.pieces {
					if n > 0 {
						time.Sleep(c.pause)
					}
					synctest.Wait()
					if len(h.accepted) > 0 {
						break
					}
					if _, err := io.WriteString(client, piece); err != nil {
						break
					}
					sent.WriteString(piece)
				}
				var conn net.Conn
				if c.most == 0 || c.late {
					conn = <-h.accepted
					if c.late {
						took = time.Since(begin)
					}
					got := make([]byte, sent.Len())
					if _, err := io.ReadFull(conn, got); err != nil || string(got) != sent.String() {
						t.Errorf("%q, %v", got, err)
					}
				} else {
					<-closed
				}
				if c.most > 0 && (took < c.least || took > c.most) {
					t.Errorf("after %v", took)
				}
				switch {
				case c.late:
					if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
						t.Error(err)
					}
				case conn != nil:
					go func() { time.Sleep(time.Hour); _, _ = io.WriteString(client, "more") }()
					if more := make([]byte, 4); true {
						if _, err := io.ReadFull(conn, more); err != nil || string(more) != "more" {
							t.Errorf("%q, %v", more, err)
						}
					}
				}
				if conn != nil {
					_ = conn.Close()
				}
				<-closed
				h.end(t)
			})
		})
	}
}

// TestArrivalsRest: a connection whose answer was sent outside of net/http may rest as long as net/http lets one, and then has its time for a request.
func TestArrivalsRest(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	for _, rest := range []time.Duration{HeadPatience * 2, RestPatience - time.Second, RestPatience + time.Second} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarbour(g)
			client := h.come()
			if _, err := io.WriteString(client, "GET / HTTP/1.1\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			conn := <-h.accepted
			if _, err := conn.Read(make([]byte, 100)); err != nil {
				t.Fatal(err)
			}
			serveAgain(conn, nil)
			time.Sleep(rest)
			for _, piece := range []string{"GET / HTTP/1.1\r\n", "\r\n"} {
				if _, err := io.WriteString(client, piece); (err == nil) != (rest < RestPatience) {
					t.Errorf("after %s: %v", rest, err)
				}
				time.Sleep(HeadPatience / 2)
			}
			synctest.Wait()
			if again := len(h.accepted) == 1; again != (rest < RestPatience) {
				t.Errorf("after %s it is handed out: %t", rest, again)
			}
			client.Close()
			h.end(t)
		})
	}
}

// TestArrivalsAreNotEndedTogether: what came together, and is slow together, is not ended, and opened anew, in the same moment.
func TestArrivalsAreNotEndedTogether(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(g)
		const all = 100
		for range all {
			defer h.come().Close()
		}
		begin := time.Now()
		for _, part := range []struct {
			after       time.Duration
			least, most int
		}{{HeadPatience - 1, all, all}, {HeadPatience * 3 / 2, all / 4, all * 3 / 4}, {2*HeadPatience + 1, 0, 0}} {
			time.Sleep(time.Until(begin.Add(part.after)))
			synctest.Wait()
			h.mu.Lock() // which Wait is not, to the race detector
			n := len(h.conns)
			h.mu.Unlock()
			if n < part.least || n > part.most {
				t.Errorf("%d of %d wait after %v", n, all, part.after)
			}
		}
		h.end(t)
	})
}

// TestArrivalsDrain: what has sent something is handed out, and waited for until its answer begins. What has sent nothing is closed.
func TestArrivalsDrain(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(g)
		answered, begun, quiet, late := h.come(), h.come(), h.come(), h.come()
		write := func(c net.Conn, s string) {
			t.Helper()
			if _, err := io.WriteString(c, s); err != nil {
				t.Error(err)
			}
		}
		go func() { _, _ = io.Copy(io.Discard, answered) }()
		write(answered, "GET / HTTP/1.1\r\n\r\n")
		conn := <-h.accepted
		write(conn, "HTTP/1.1 200 OK\r\n")
		write(begun, "GET / HTTP/1.1\r\n")
		synctest.Wait()
		drained := make(chan struct{})
		start := time.Now()
		go func() {
			defer close(drained)
			h.Drain(t.Context())
		}()
		time.Sleep(lastLook / 2)
		write(late, "GET / HTTP/1.1\r\n")
		if _, err := quiet.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || time.Since(start) != lastLook {
			t.Errorf("what has sent nothing: %v after %v", err, time.Since(start))
		}
		time.Sleep(time.Second)
		for _, c := range []net.Conn{begun, late} {
			write(c, "\r\n")
			conn := <-h.accepted
			synctest.Wait()
			select {
			case <-drained:
				t.Error("drained, and not all are answered")
			default:
			}
			go func() { _, _ = io.Copy(io.Discard, c) }()
			write(conn, "HTTP/1.1 200 OK\r\n")
			_ = conn.Close()
		}
		<-drained
		start = time.Now()
		h.Drain(t.Context()) // which does nothing
		if time.Since(start) != 0 {
			t.Errorf("drained once more, in %v", time.Since(start))
		}
		if len(h.ended) > 0 {
			t.Error("Accept has ended before Close")
		}
		_ = conn.Close()
		h.end(t)
	})
}

// TestArrivalsDrainDoesNotWaitForCalls: those that run are net/http's.
func TestArrivalsDrainDoesNotWaitForCalls(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(g)
		client := h.come()
		defer client.Close()
		_, _ = io.WriteString(client, "GET / HTTP/1.1\r\n\r\n")
		conn := <-h.accepted
		start := time.Now()
		h.Drain(t.Context())
		if time.Since(start) != lastLook {
			t.Errorf("after %v", time.Since(start))
		}
		_ = conn.Close()
		h.end(t)
	})
}

// TestArrivalsDrainHasAnEnd: what comes slowly holds nothing up.
func TestArrivalsDrainHasAnEnd(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(g)
		client := h.come()
		_, _ = io.WriteString(client, "GET / HTTP/1.1\r\n")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		h.Drain(ctx)
		if time.Since(start) != time.Second {
			t.Errorf("after %v", time.Since(start))
		}
		h.end(t)
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
}

// TestArrivalsWithoutDescriptors: a fault that passes holds up nobody who is there already.
func TestArrivalsWithoutDescriptors(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(g)
		client := h.come()
		for range 10 {
			h.inner.conns <- passing{}
		}
		start := time.Now()
		_, _ = io.WriteString(client, "GET / HTTP/1.1\r\n\r\n")
		_ = (<-h.accepted).Close()
		if took := time.Since(start); took != 0 {
			t.Errorf("handed out after %v", took)
		}
		client = h.come()
		if took := time.Since(start); took > time.Second {
			t.Errorf("taken after %v", took)
		}
		_ = client.Close()
		broken := errors.New("broken")
		h.inner.conns <- broken
		if err := <-h.ended; !errors.Is(err, broken) {
			t.Error(err)
		}
		h.ended <- net.ErrClosed
		h.end(t)
	})
}

// passing is a fault of a system that has no descriptors left.
type passing struct{}

func (passing) Error() string   { return "too many open files" }
func (passing) Timeout() bool   { return false }
func (passing) Temporary() bool { return true }

// pipes is a listener whose connections, and faults, a test makes.
type pipes struct {
	conns  chan any
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		if err, ok := c.(error); ok {
			return nil, err
		}
		return c.(net.Conn), nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { close(p.closed); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }
