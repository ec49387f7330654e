package listener

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	headTimeout = 5 * time.Second
	idleTimeout = 90 * time.Second
)

// harbour is a listener with its server in a bubble, to which connections come when a test says so.
type harbour struct {
	*Listener
	limiter *Limiter
	inner   *pipes
	server  *http.Server
	ended   chan error // of Serve
	mu      sync.Mutex
	clients []*client
	panics  []string
	refused []Reason
}

// newLimiter makes a limiter that takes so many connections.
func (h *harbour) newLimiter(total, perAddress int) *Limiter {
	return NewLimiter(Options{
		Limits: func() (int, int) { return total, perAddress },
		Key: func(a netip.Addr) netip.Prefix {
			if a.IsLoopback() {
				return netip.Prefix{}
			}
			p, _ := a.Prefix(a.BitLen())
			return p
		},
		Refused:  func(because Reason, _ net.Addr) { h.refused = append(h.refused, because) },
		Panicked: func(what string, _ any) { h.panics = append(h.panics, what) },
		Metrics:  prometheus.NewRegistry(),
	})
}

func newHarbour(handler http.Handler) *harbour {
	h := &harbour{inner: &pipes{conns: make(chan any), closed: make(chan struct{})}, ended: make(chan error, 1)}
	h.limiter = h.newLimiter(1000, 1000)
	h.Listener = h.limiter.Listener(h.inner)
	h.server = &http.Server{Handler: handler, ReadHeaderTimeout: headTimeout, IdleTimeout: idleTimeout, Protocols: new(http.Protocols), ErrorLog: quiet}
	h.server.Protocols.SetHTTP1(true)
	h.server.Protocols.SetUnencryptedHTTP2(true)
	h.Attach(h.server)
	go func() { h.ended <- h.server.Serve(h.Listener) }()
	return h
}

// come is the client's side of a new connection.
func (h *harbour) come() *client {
	ours, theirs := net.Pipe()
	h.inner.conns <- from{ours, "192.0.2.1:1"}
	c := &client{queued{theirs, make(chan []byte, 1000), make(chan struct{}), new(sync.Once)}, bufio.NewReader(theirs)}
	go c.Conn.(queued).pump()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients = append(h.clients, c)
	return c
}

// stop ends service as the program does, and looks whether all is gone.
func (h *harbour) stop(t *testing.T) {
	t.Helper()
	h.Drain(t.Context())
	if err := h.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-h.ended; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	h.gone(t)
}

func (h *harbour) gone(t *testing.T) {
	t.Helper()
	for _, c := range h.clients {
		_ = c.Close()
	}
	if _, open := h.limiter.Held(netip.Prefix{}); open != 0 || len(h.limiter.conns) != 0 || len(h.limiter.perAddress) != 0 {
		t.Errorf("%d connections are counted, %d are known", open, len(h.limiter.conns))
	}
}

// stands holds how many connections there are in each stage.
func (h *harbour) stands(t *testing.T, want map[stage]int) {
	t.Helper()
	for s := silent; s <= late; s++ {
		if n := h.limiter.count(s); n != want[s] {
			t.Errorf("%d are in stage %d, want %d", n, s, want[s])
		}
	}
}

// queued is a side of a pipe whose writes wait for nobody, as those of a socket don't. Whoever waits for a lock that a writer holds would stop the clock of
// a bubble.
type queued struct {
	net.Conn
	queue  chan []byte
	closed chan struct{}
	once   *sync.Once
}

func (q queued) Write(p []byte) (int, error) {
	select {
	case <-q.closed:
		return 0, net.ErrClosed
	default:
	}
	select {
	case <-q.closed:
		return 0, net.ErrClosed
	case q.queue <- bytes.Clone(p):
		return len(p), nil
	}
}

func (q queued) pump() {
	for {
		select {
		case p := <-q.queue:
			if _, err := q.Conn.Write(p); err != nil {
				_ = q.Close()
				return
			}
		case <-q.closed:
			return
		}
	}
}

func (q queued) Close() error {
	q.once.Do(func() { close(q.closed) })
	return q.Conn.Close()
}

// client is the other side of a connection.
type client struct {
	net.Conn
	in *bufio.Reader
}

func (c *client) send(text string) error {
	_, err := io.WriteString(c, text)
	return err
}

// answer returns the status of the next answer, and whether the connection ends with it, or 0.
func (c *client) answer() (status int, last bool) {
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, true
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Close
}

// closed waits until the server has closed the connection.
func (c *client) closed() bool {
	_, err := io.Copy(io.Discard, c.in)
	return err == nil
}

const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

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

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// from is a connection from an address.
type from struct {
	net.Conn
	address string
}

func (f from) RemoteAddr() net.Addr { return addressOf(f.address) }

type addressOf string

func (addressOf) Network() string  { return "tcp" }
func (a addressOf) String() string { return string(a) }

var quiet = log.New(io.Discard, "", 0)
