package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"drawbridge/test/proxytest"
	"drawbridge/test/timebox"
)

const proxyMessage = `The service "orders" can't be reached: the proxy on the way to it gives no connection. Nothing was sent to it. Try again in a minute; if that does not help, tell the user that the operator of the gateway must look at the proxy.` + "\n"

// wayThrough returns the way out through a proxy, for both schemes.
func wayThrough(p *proxytest.Server, roots *x509.CertPool) *Proxy {
	host, _, _ := net.SplitHostPort(p.Address)
	s := &ProxyServer{Scheme: p.Scheme, Host: host, Address: p.Address, User: p.User, Password: p.Password, RootCAs: roots}
	return &Proxy{HTTP: s, HTTPS: s}
}

// resolvedTo makes a client resolve every name to one address.
func resolvedTo(t testing.TB, c *Client, ip net.IP) {
	resolveBy(c, (&names{answer: func(int) net.IP { return ip }}).resolver(t))
}

// loopback has a proxy connect to a server on loopback, whatever it is asked for.
func loopback(server *httptest.Server) func(ctx context.Context, network, target string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}
}

// seen is what a service sees of requests.
type seen struct {
	host, sni, proto atomic.Value
	secrets          atomic.Int64
	requests         atomic.Int64
}

func (s *seen) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	s.host.Store(r.Host)
	s.proto.Store(r.Proto)
	if r.TLS != nil {
		s.sni.Store(r.TLS.ServerName)
	}
	if r.Header.Get("Proxy-Authorization") != "" {
		s.secrets.Add(1)
	}
	fmt.Fprint(w, "ok")
}

// serviceBehind starts a service with TLS and HTTP/2, or in clear, and returns the roots for it.
func serviceBehind(t *testing.T, secure bool) (*seen, *httptest.Server, *x509.CertPool) {
	t.Helper()
	s := &seen{}
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = discard()
	roots := x509.NewCertPool()
	if secure {
		server.EnableHTTP2 = true
		server.StartTLS()
		roots.AddCert(server.Certificate())
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return s, server, roots
}

// certified returns a certificate for loopback and its roots.
func certified(t *testing.T) (*tls.Certificate, *x509.CertPool) {
	t.Helper()
	c := signed(t, &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, nil)
	roots := x509.NewCertPool()
	roots.AddCert(c.Leaf)
	return c, roots
}

// TestProxy: each kind of proxy, with a password and without, in front of services with TLS and in clear. The proxy is asked for the
// address, once for many calls, and the service sees the name and nothing of the proxy.
func TestProxy(t *testing.T) {
	certificate, proxyRoots := certified(t)
	for _, scheme := range []string{"http", "https", "socks5"} {
		for _, secure := range []bool{false, true} {
			for _, user := range []string{"", "gateway"} {
				t.Run(fmt.Sprintf("%s secure=%t user=%s", scheme, secure, user), func(t *testing.T) {
					saw, server, roots := serviceBehind(t, secure)
					p := proxytest.New(t, scheme, certificate)
					p.User, p.Dial = user, loopback(server)
					if user != "" {
						p.Password = "s3cret"
					}
					base := "http://orders.example.com"
					port := "80"
					if secure {
						base, port = "https://orders.example.com", "443"
					}
					c := newClient(Options{Name: "orders", BaseURL: parse(t, base), RootCAs: roots, Proxy: wayThrough(p, proxyRoots)})
					defer c.Close()
					resolvedTo(t, c, net.IPv4(93, 184, 216, 34))
					for range 3 {
						if got := outcome(c, get(t, parse(t, base+"/x"))); got != "200 \"ok\"\n" {
							t.Fatal(got)
						}
					}
					if targets := p.Targets(); !slices.Equal(targets, []string{"93.184.216.34:" + port}) {
						t.Errorf("the proxy was asked for %q", targets)
					}
					if saw.host.Load() != "orders.example.com" || secure && (saw.sni.Load() != "orders.example.com" || saw.proto.Load() != "HTTP/2.0") {
						t.Errorf("the service saw %v, %v, %v", saw.host.Load(), saw.sni.Load(), saw.proto.Load())
					}
					if saw.secrets.Load() > 0 {
						t.Error("the service saw the password of the proxy")
					}
					if heads := p.Heads(); strings.Contains(heads, "orders") || scheme != "socks5" && strings.Contains(heads, "Proxy-Authorization") != (user != "") {
						t.Errorf("the proxy saw %s", heads)
					}
				})
			}
		}
	}
}

// TestProxyAddressTable: whatever a name resolves to, and however an address is written, the proxy is asked for nothing that would not
// be dialled without it.
func TestProxyAddressTable(t *testing.T) {
	for _, scheme := range []string{"http", "socks5"} {
		p := proxytest.New(t, scheme, nil)
		p.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("nothing is dialled") }
		tried := 0
		try := func(o Options, resolved net.IP, host string) {
			o.Proxy = wayThrough(p, nil)
			c := newClient(o)
			defer c.Close()
			direct := &dials{}
			direct.watch(c)
			resolvedTo(t, c, resolved)
			before := len(p.Targets())
			if u := target(host); u != nil {
				outcome(c, get(t, u))
				tried++
			}
			if asked := p.Targets()[before:]; len(asked) > 0 {
				t.Errorf("%s: %s at %s: the proxy was asked for %q", scheme, host, resolved, asked)
			}
			if to := direct.take(); len(to) > 0 {
				t.Errorf("%s: %s at %s: dialled %q", scheme, host, resolved, to)
			}
		}
		hostile := net.IPv4(169, 254, 169, 254)
		for _, spelled := range spellings() {
			try(Options{}, hostile, spelled)
		}
		for _, row := range addressTable() {
			ip := net.ParseIP(strings.Split(row.address, "%")[0])
			if row.want != public && ip != nil {
				try(Options{}, ip, "stranger.example.com")
			}
			if row.want == metadata && ip != nil {
				try(Options{NamedHosts: []string{"named.example.com"}}, ip, "named.example.com")
				try(Options{DocumentHosts: []string{"server.example.com"}}, ip, "server.example.com")
			}
		}
		if tried < 150 {
			t.Errorf("%d tried: the test sees nothing", tried)
		}
		t.Logf("%s: %d names and addresses, %d asked of the proxy", scheme, tried, len(p.Targets()))
	}
}

// TestProxyOwnAddress: a proxy on a private address is reached, and a service there is not.
func TestProxyOwnAddress(t *testing.T) {
	p := proxytest.New(t, "http", nil)
	c := newClient(Options{Name: "orders", Proxy: wayThrough(p, nil)})
	defer c.Close()
	resolvedTo(t, c, net.IPv4(127, 0, 0, 1))
	_, port, _ := net.SplitHostPort(p.Address)
	if got := outcome(c, get(t, parse(t, "http://stranger.example.com:"+port+"/"))); got != "refused\n"+refusedMessage+"\n" {
		t.Error(got)
	}
	if asked := p.Targets(); len(asked) > 0 {
		t.Errorf("the proxy was asked for %q", asked)
	}
}

// TestProxyFaults: what a proxy may do wrong is told from what a service does, to the log in detail, to the model without. Nothing was
// sent, so that a POST is sent again.
func TestProxyFaults(t *testing.T) {
	certificate, _ := certified(t)
	for _, c := range []struct {
		name, scheme, answer, want string
		change                     func(p *proxytest.Server, way *Proxy)
	}{
		{name: "wrong password", scheme: "http", want: "the proxy answers 407 Proxy Authentication Required",
			change: func(p *proxytest.Server, _ *Proxy) { p.User, p.Password = "gateway", "another" }},
		{name: "bad gateway", scheme: "http", answer: "HTTP/1.1 502 Bad hunter22\r\nContent-Length: 3\r\n\r\nabc", want: "the proxy answers 502 Bad Gateway: it can't reach the service"},
		{name: "forbidden", scheme: "http", answer: "HTTP/1.1 403 No\r\n\r\n", want: "the proxy answers 403 Forbidden: it may not allow CONNECT"},
		{name: "redirect", scheme: "http", answer: "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n", want: "the proxy answers 302 Found"},
		{name: "protocols", scheme: "http", answer: "HTTP/1.1 101 Switching Protocols\r\n\r\n", want: "the proxy answers 101"},
		{name: "no HTTP", scheme: "http", answer: "SSH-2.0-OpenSSH_9.2\r\n", want: "the proxy does not answer with HTTP"},
		{name: "data in advance", scheme: "http", answer: "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno", want: "sends data before"},
		{name: "endless head", scheme: "http", answer: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*maxHeaderBytes), want: "the proxy does not answer with HTTP"},
		{name: "endless interim answers", scheme: "http", answer: strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 4000), want: "the proxy does not answer with HTTP"},
		{name: "not there", scheme: "http", want: "the proxy can't be reached", change: func(_ *proxytest.Server, way *Proxy) { way.HTTP.Address = "127.0.0.1:1" }},
		{name: "no TLS", scheme: "http", want: "TLS with the proxy", change: func(_ *proxytest.Server, way *Proxy) { way.HTTP.Scheme = "https" }},
		{name: "unknown authority", scheme: "https", want: "TLS with the proxy"},
		{name: "SOCKS with a wrong password", scheme: "socks5", want: "username/password authentication failed",
			change: func(p *proxytest.Server, _ *Proxy) { p.User, p.Password = "gateway", "another" }},
		{name: "SOCKS that can't reach the service", scheme: "socks5", want: "connection refused"},
		{name: "SOCKS that is not there", scheme: "socks5", want: "the proxy can't be reached", change: func(_ *proxytest.Server, way *Proxy) { way.HTTP.Address = "127.0.0.1:1" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := proxytest.New(t, c.scheme, certificate)
			p.User, p.Password = "gateway", "hunter22"
			way := wayThrough(p, nil)
			p.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no") }
			if c.answer != "" {
				p.Answer = func(string) string { return c.answer }
			}
			if c.change != nil {
				c.change(p, way)
			}
			client := newClient(Options{Name: "orders", BaseURL: parse(t, "http://orders.example.com"), Proxy: way, Retries: Retries{Max: 1, Budget: 10}})
			defer client.Close()
			resolvedTo(t, client, net.IPv4(93, 184, 216, 34))
			req := get(t, parse(t, "http://orders.example.com/"))
			req.Method, req.Body, req.ContentLength = http.MethodPost, io.NopCloser(strings.NewReader("abc")), 3
			req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("abc")), nil }
			resp, requests, err := client.Send(req, RetryByMethod, LimitHeader)
			if err == nil {
				resp.Body.Close()
				t.Fatal("no error")
			}
			if got := told(nil, err); got != "proxy\n"+proxyMessage {
				t.Error(got)
			}
			if text := err.Error(); !strings.Contains(text, c.want) || !strings.Contains(text, "proxy "+way.HTTP.Scheme+"://"+way.HTTP.Address) || strings.Contains(text, "hunter22") || strings.Contains(text, "aHVudGVyMjI") {
				t.Errorf("the log has %s", text)
			}
			retried := int64(0)
			for reason, n := range client.Retried() {
				if reason == "proxy" {
					retried = n
				}
			}
			if e := (*Error)(nil); !errors.As(err, &e) || !e.NotSent() || requests != 0 || retried != 1 {
				t.Errorf("%d requests, %d retries", requests, retried)
			}
		})
	}
}

// TestProxySilent: a proxy that says nothing takes the time to connect, and no more; a caller that leaves takes none.
func TestProxySilent(t *testing.T) {
	for _, scheme := range []string{"http", "https", "socks5"} {
		client := func(connect time.Duration) (*Client, net.Listener) {
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			s := &ProxyServer{Scheme: scheme, Host: "127.0.0.1", Address: l.Addr().String()}
			c := newClient(Options{Name: "orders", Connect: connect, Proxy: &Proxy{HTTP: s, HTTPS: s}})
			resolvedTo(t, c, net.IPv4(93, 184, 216, 34))
			return c, l
		}
		hasty, l := client(50 * time.Millisecond)
		if got := outcome(hasty, get(t, parse(t, "https://orders.example.com/"))); got != "proxy\n"+proxyMessage {
			t.Error(got)
		}
		hasty.Close()
		l.Close()
		if scheme == "https" {
			continue // net/http makes the calls, and goes on to connect for those that come
		}
		patient, l := client(time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = conn.Read(make([]byte, 1)) // it asks, and gets no answer
			cancel()
			_, _ = io.Copy(io.Discard, conn) // until the client ends it
		}()
		if got := outcome(patient, get(t, parse(t, "http://orders.example.com/")).WithContext(ctx)); !strings.HasPrefix(got, "canceled\n") {
			t.Error(got)
		}
		l.Close()
		timebox.Wait(t, done)
		patient.Close()
	}
}

// TestProxyNextAddress: an address that the proxy can't reach is not the last word while the host has others; those that the policy
// refuses are left out.
func TestProxyNextAddress(t *testing.T) {
	for _, scheme := range []string{"http", "socks5"} {
		_, server, _ := serviceBehind(t, false)
		p := proxytest.New(t, scheme, nil)
		p.Dial = func(ctx context.Context, network, target string) (net.Conn, error) {
			if strings.HasPrefix(target, "93.") {
				return nil, errors.New("not reachable")
			}
			return loopback(server)(ctx, network, target)
		}
		c := newClient(Options{Name: "orders", Proxy: wayThrough(p, nil)})
		defer c.Close()
		resolveBy(c, (&names{answer: func(int) net.IP { return net.IPv4(10, 0, 0, 1) },
			further: [][4]byte{{93, 184, 216, 34}, {93, 184, 216, 35}, {8, 8, 8, 8}, {1, 1, 1, 1}}}).resolver(t))
		if got := outcome(c, get(t, parse(t, "http://orders.example.com/"))); got != "200 \"ok\"\n" {
			t.Error(got)
		}
		asked := p.Targets()
		if last := asked[len(asked)-1]; last != "8.8.8.8:80" && last != "1.1.1.1:80" {
			t.Errorf("the proxy was asked for %q", asked)
		}
		for _, one := range asked {
			if a := netip.MustParseAddrPort(one).Addr(); a.IsPrivate() {
				t.Errorf("the proxy was asked for %s", one)
			}
		}
	}
}

// TestProxyBypass: hosts that are called directly, and those that are not.
func TestProxyBypass(t *testing.T) {
	_, server, _ := serviceBehind(t, false)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for _, c := range []struct {
		bypass, host string
		through      bool
	}{
		{"", "orders.example.com", true}, {"", "127.0.0.1", false}, {"", "localhost", false}, {"", "[::1]", false},
		{"example.com", "orders.example.com", false}, {".example.com", "orders.example.com", false}, {"*.example.com", "orders.example.com", false},
		{".orders.example.com", "orders.example.com", true}, {"rders.example.com", "orders.example.com", true},
		{"orders.example.com:" + port, "orders.example.com", false}, {"orders.example.com:1", "orders.example.com", true},
		{"127.0.0.0/8", "orders.example.com", true}, // a network is for addresses in URLs
	} {
		p := proxytest.New(t, "http", nil)
		p.Dial = loopback(server)
		way := wayThrough(p, nil)
		way.Bypass = c.bypass
		client := newClient(Options{Name: "orders", BaseURL: parse(t, "http://"+c.host), Proxy: way})
		resolvedTo(t, client, net.IPv4(127, 0, 0, 1))
		if got := outcome(client, get(t, parse(t, "http://"+c.host+":"+port+"/"))); got != "200 \"ok\"\n" && c.host != "[::1]" {
			t.Errorf("%+v: %s", c, got)
		}
		if asked := p.Targets(); len(asked) > 0 != c.through {
			t.Errorf("%+v: the proxy was asked for %q", c, asked)
		}
		client.Close()
	}
}

// TestProxyByScheme: the environment may name a proxy for one scheme only.
func TestProxyByScheme(t *testing.T) {
	saw, server, _ := serviceBehind(t, false)
	p := proxytest.New(t, "http", nil)
	way := wayThrough(p, nil)
	way.HTTP = nil
	c := newClient(Options{Name: "orders", BaseURL: parse(t, server.URL), Proxy: way})
	defer c.Close()
	if got := outcome(c, get(t, parse(t, server.URL))); got != "200 \"ok\"\n" || saw.requests.Load() != 1 || len(p.Targets()) > 0 {
		t.Errorf("%s, by way of %q", got, p.Targets())
	}
	outcome(c, get(t, parse(t, "https://93.184.216.34/")))
	if asked := p.Targets(); !slices.Equal(asked, []string{"93.184.216.34:443"}) {
		t.Errorf("the proxy was asked for %q", asked)
	}
}

// TestProxyResolvesNames: a proxy that resolves names gets them, except those that are known to lead where nobody may go, and those
// that only some resolvers take for an address. Addresses are judged as always.
func TestProxyResolvesNames(t *testing.T) {
	for _, c := range []struct{ host, named, want string }{
		{"orders.example.com", "", "orders.example.com:80"},
		{"Orders.Example.COM", "", "Orders.Example.COM:80"},
		{"intern", "intern", "intern:80"},
		{"intern", "", ""},
		{"93.184.216.34", "", "93.184.216.34:80"},
		{"[2606:4700::1111]", "", "[2606:4700::1111]:80"},
		{"10.0.0.1", "", ""}, {"10.0.0.1", "10.0.0.1", "10.0.0.1:80"}, {"169.254.169.254", "", ""}, {"[::ffff:10.0.0.1]", "", ""},
		{"[::ffff:93.184.216.34]", "", "93.184.216.34:80"},
		{"metadata.google.internal", "", ""}, {"metadata.google.internal.", "", ""}, {"app.localhost", "", ""}, {"localhost.", "", ""},
		{"127.1", "", ""}, {"0x7f.1", "", ""}, {"2130706433", "", ""}, {"0x7f000001", "", ""}, {"0177.0.0.01", "", ""}, {"a.127", "", ""}, {"1.0x", "", ""},
		{"127.1", "127.1", ""}, {"①②⑦.0.0.1", "", ""},
	} {
		for _, scheme := range []string{"http", "socks5"} {
			p := proxytest.New(t, scheme, nil)
			p.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no") }
			way := wayThrough(p, nil)
			way.ResolvesNames = true
			o := Options{Name: "orders", Proxy: way}
			if c.named != "" {
				o.NamedHosts = []string{c.named}
			}
			client := newClient(o)
			resolveBy(client, &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
				return nil, errors.New("nothing is to be resolved")
			}})
			direct := &dials{mine: p.Address}
			direct.watch(client)
			got := outcome(client, get(t, &url.URL{Scheme: "http", Host: c.host, Path: "/"}))
			if asked := strings.Join(p.Targets(), " "); asked != c.want || strings.HasPrefix(got, "proxy\n") != (c.want != "") {
				t.Errorf("%s: %s: the proxy was asked for %q, want %q: %s", scheme, c.host, asked, c.want, got)
			}
			if to := direct.take(); len(to) > 0 {
				t.Errorf("%s: dialled %q", c.host, to)
			}
			client.Close()
		}
	}
}

// TestProxyIsNotPrinted: no verb shows the password.
func TestProxyIsNotPrinted(t *testing.T) {
	s := &ProxyServer{Scheme: "http", Host: "proxy.internal", Address: "proxy.internal:3128", User: "gateway", Password: "hunter22"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if got := fmt.Sprintf(verb, s); got != "http://proxy.internal:3128" {
			t.Errorf("%s: %s", verb, got)
		}
		if got := fmt.Sprintf(verb, Proxy{HTTP: s}); strings.Contains(got, "hunter22") {
			t.Errorf("%s: %s", verb, got)
		}
	}
}
