package upstream

import (
	"bufio"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"drawbridge/test/timebox"
)

// names is a name server whose answers a test decides.
type names struct {
	answer  func(query int) net.IP // of all names
	further [][4]byte              // more addresses of all names
	queries atomic.Int64
}

// resolver returns a resolver that asks the name server, over a connection in memory.
func (n *names) resolver(t testing.TB) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go n.serve(t, server)
		return client, nil
	}}
}

// serve answers the queries of one connection, which come as over TCP: with their length before them.
func (n *names) serve(t testing.TB, conn net.Conn) {
	defer conn.Close()
	for {
		length := make([]byte, 2)
		if _, err := io.ReadFull(conn, length); err != nil {
			return
		}
		query := make([]byte, int(length[0])<<8|int(length[1]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(query); err != nil {
			t.Error(err)
			return
		}
		m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
		for _, q := range m.Questions {
			ip := n.answer(int(n.queries.Load()))
			header := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 0}
			switch v4 := ip.To4(); {
			case q.Type == dnsmessage.TypeA && v4 != nil:
				n.queries.Add(1)
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: [4]byte(v4)}})
				for _, a := range n.further {
					m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: a}})
				}
			case q.Type == dnsmessage.TypeAAAA && v4 == nil:
				n.queries.Add(1)
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: [16]byte(ip)}})
			}
		}
		packed, err := m.Pack()
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := conn.Write(append([]byte{byte(len(packed) >> 8), byte(len(packed))}, packed...)); err != nil {
			return
		}
	}
}

// resolveBy makes the client ask another name server.
func resolveBy(c *Client, r *net.Resolver) {
	c.dialPolicy.literal.Resolver, c.dialPolicy.named.Resolver, c.dialPolicy.public.Resolver = r, r, r
}

// TestMovedService is L7: a service moves to another address while calls go on
// all the time. Before the age of its connections nobody notices, after it the
// new address is called, and no call fails. Both places speak each protocol.
func TestMovedService(t *testing.T) {
	for _, secure := range []bool{false, true} {
		name := map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"}[secure]
		t.Run(name, func(t *testing.T) {
			var hits [2]atomic.Int64
			place := func(n int, address string) *httptest.Server {
				l, err := net.Listen("tcp", address)
				if err != nil {
					t.Fatal(err)
				}
				s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Proto != name {
						t.Errorf("called by %s", r.Proto)
					}
					hits[n].Add(1)
					fmt.Fprint(w, "ok")
				}))
				s.Config.ErrorLog = discard()
				s.Listener.Close()
				s.Listener, s.EnableHTTP2 = l, secure
				if secure {
					s.StartTLS()
				} else {
					s.Start()
				}
				return s
			}
			old := place(0, "127.0.0.1:0")
			defer old.Close()
			_, port, err := net.SplitHostPort(old.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			next := place(1, "127.0.0.2:"+port)
			defer next.Close()

			var moved atomic.Bool
			dns := &names{answer: func(int) net.IP {
				if moved.Load() {
					return net.IPv4(127, 0, 0, 2)
				}
				return net.IPv4(127, 0, 0, 1)
			}}
			o := Options{Name: "orders", BaseURL: &url.URL{Scheme: "http", Host: "example.com:" + port}, ConnectionAge: 5 * time.Minute}
			if secure {
				o.BaseURL.Scheme, o.RootCAs = "https", x509.NewCertPool()
				o.RootCAs.AddCert(old.Certificate())
				o.RootCAs.AddCert(next.Certificate())
			}
			client := newClient(o)
			defer client.Close()
			resolveBy(client, dns.resolver(t))
			var passed atomic.Int64
			begin := time.Now()
			client.pool.now = func() time.Time { return begin.Add(time.Duration(passed.Load())) }
			client.pool.current.Store(client.pool.newConnections())

			// A call that is under way all the time keeps the connections busy.
			stop := make(chan struct{})
			var wg sync.WaitGroup
			var calls [4]atomic.Int64
			for n := range calls {
				wg.Go(func() {
					for ; ; calls[n].Add(1) {
						select {
						case <-stop:
							return
						default:
						}
						if got := outcome(client, get(t, o.BaseURL)); got != "200 \"ok\"\n" {
							t.Error(got)
							return
						}
					}
				})
			}
			// more waits until all calls have ended that are under way, and some more.
			more := func() {
				for n := range calls {
					for from := calls[n].Load(); calls[n].Load() < from+5 && !t.Failed(); {
						time.Sleep(time.Millisecond)
					}
				}
			}
			more()
			moved.Store(true)
			passed.Store(int64(4 * time.Minute))
			more()
			if n := hits[1].Load(); n != 0 && secure { // of HTTP/1, a further connection may have been made
				t.Errorf("%d calls went to the new address before their time", n)
			}
			passed.Store(int64(5 * time.Minute))
			more()
			from := hits[0].Load()
			more()
			if n := hits[0].Load() - from; n != 0 {
				t.Errorf("%d calls still went to the old address", n)
			}
			if hits[1].Load() == 0 {
				t.Error("no call went to the new address")
			}
			close(stop)
			timebox.Done(t, wg.Wait)
		})
	}
}

// TestBlackHoledConnection: an HTTP/2 connection whose peer has gone without a
// word is given up after a ping, and the next calls have another.
func TestBlackHoledConnection(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }))
	server.EnableHTTP2, server.Config.ErrorLog = true, discard()
	server.StartTLS()
	defer server.Close()
	var dead atomic.Bool // of the first connection
	var n atomic.Int64
	address := listen(t, func(conn net.Conn) {
		first := n.Add(1) == 1
		to, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		done := make(chan struct{})
		relay := func(dst, src net.Conn) {
			b := make([]byte, 4<<10)
			for {
				n, err := src.Read(b)
				if err != nil {
					break
				}
				if !first || !dead.Load() {
					dst.Write(b[:n])
				}
			}
			dst.Close()
			timebox.Send(t, done, struct{}{})
		}
		go relay(to, conn)
		go relay(conn, to)
		timebox.Wait(t, done)
		conn.Close()
		to.Close()
		timebox.Wait(t, done)
	})
	address.Scheme = "https"
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	client := newClient(Options{Name: "orders", BaseURL: address, RootCAs: pool, ping: 90 * time.Millisecond})
	defer client.Close()
	const want = "200 \"HTTP/2.0\"\n"
	if got := outcome(client, get(t, address)); got != want {
		t.Fatal(got)
	}
	dead.Store(true)
	if got := outcome(client, get(t, address)); got == want {
		t.Error("a call went through a dead connection")
	}
	if got := outcome(client, get(t, address)); got != want || n.Load() != 2 {
		t.Errorf("%d connections, %s", n.Load(), got)
	}
}

// TestAge: connections that are too old are closed at the next call, the new ones are shared, and no more than a few that are still in
// use are remembered for the end.
func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dials, open [2]atomic.Int64 // in the clear, and of net/http
		dial := func(n int) func(context.Context, string, string) (net.Conn, error) {
			return func(context.Context, string, string) (net.Conn, error) {
				dials[n].Add(1)
				open[n].Add(1)
				here, there := net.Pipe()
				go func() {
					for r := bufio.NewReader(there); readRequest(r) != ""; {
						_, _ = io.WriteString(there, short)
					}
					there.Close()
				}()
				return &counted{quiet: quiet{here}, open: &open[n]}, nil
			}
		}
		p := newPool(10*time.Second, &protocols{}, func() *connections {
			return &connections{cleartext: newPipedCleartext(dial(0), time.Minute, 9), transport: &http.Transport{DialContext: dial(1), MaxIdleConnsPerHost: 9}, noTimeout: &http.Transport{}}
		})
		call := func(long bool) io.ReadCloser {
			req := get(t, parse(t, "http://service.example/"))
			if long {
				req.Header.Set("Long", strings.Repeat("x", maxWritten))
			}
			resp, err := p.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			return resp.Body
		}
		check := func(when string, made, kept int64) {
			t.Helper()
			synctest.Wait()
			for n := range dials {
				if dials[n].Load() != made || open[n].Load() != kept {
					t.Errorf("%s, [clear, net/http][%d]: %d connections were made, %d are open; want %d, %d", when, n, dials[n].Load(), open[n].Load(), made, kept)
				}
			}
		}
		both := func() {
			for _, long := range []bool{false, true} {
				body := call(long)
				_, _ = io.Copy(io.Discard, body)
				body.Close()
				synctest.Wait()
			}
		}
		both()
		time.Sleep(8 * time.Second)
		both()
		check("before their age", 1, 1)
		busy := []io.ReadCloser{call(false), call(true)}
		check("in use", 1, 1)
		time.Sleep(2 * time.Second)
		both()
		both()
		check("after their age, in use", 2, 2)
		for _, body := range busy {
			_, _ = io.Copy(io.Discard, body)
			body.Close()
		}
		check("after their age and use", 2, 1)
		for n := range maxRetired + 3 {
			time.Sleep(10 * time.Second)
			both()
			if want := min(n+2, maxRetired); len(p.retired) != want {
				t.Errorf("%d are remembered, want %d", len(p.retired), want)
			}
		}
		check("in the end", maxRetired+5, 1)
		p.close()
		check("closed", maxRetired+5, 0)
	})
	p := newPool(0, &protocols{}, func() *connections { return &connections{} })
	if !p.current.Load().expires.IsZero() {
		t.Error("without an age there is an end")
	}
}
