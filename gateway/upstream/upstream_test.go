package upstream

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"drawbridge/test/timebox"
)

const (
	timeoutMessage  = `The service "orders" did not answer in time. The call may have taken effect all the same: if it changes data, look before you repeat it. If it reads data, ask for less or try again later.`
	connectMessage  = `The service "orders" can't be reached. Nothing was sent to it. Try again in a minute; if that does not help, tell the user that the service is down.`
	tlsMessage      = `The service "orders" can't be reached securely. Nothing was sent to it. Repeating the call does not help: tell the user that the operator of the gateway must look at the service's certificate.`
	refusedMessage  = `The service "orders" stands at an address that the gateway does not call. Nothing was sent to it. Repeating the call does not help: tell the user that the operator of the gateway must allow the address.`
	canceledMessage = `The call was canceled before the answer came. It may have taken effect all the same: if it changes data, look before you repeat it.`
	largeMessage    = `The service "orders" sent an answer that is too large. It has more than 65536 bytes, which is the limit (max_answer). The call may have taken effect.`
)

func parse(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// wait blocks a service until its client has gone.
func wait(conn net.Conn) { io.Copy(io.Discard, conn) }

// TestDeadlines: each phase has its own, and the error says what is known of
// the request's fate.
func TestDeadlines(t *testing.T) {
	silent := func(conn net.Conn) { wait(conn) }
	stalled := func(conn net.Conn) {
		readRequest(conn)
		conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"))
		wait(conn)
	}
	const short = 50 * time.Millisecond
	for _, c := range []struct {
		name    string
		serve   func(net.Conn)
		options Options
		scheme  string
		want    string
		notSent bool
	}{
		{"first byte", silent, Options{FirstByte: short}, "http", "timeout\n" + timeoutMessage, false},
		{"total, before the head", silent, Options{Timeout: short}, "http", "timeout\n" + timeoutMessage, false},
		{"total, in the body", stalled, Options{Timeout: short}, "http", "timeout\n" + timeoutMessage, false},
		{"TLS", silent, Options{TLSHandshake: short}, "https", "connect\n" + connectMessage, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := listen(t, c.serve)
			u.Scheme = c.scheme
			c.options.Name, c.options.BaseURL = "orders", u
			client := newClient(c.options)
			defer client.Close()
			req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, u.String(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want+"\n", outcome(client, req)); diff != "" {
				t.Error(diff)
			}
			_, err = client.Do(req)
			var e *Error
			if errors.As(err, &e) && e.NotSent() != c.notSent {
				t.Errorf("NotSent is %t", e.NotSent())
			}
		})
	}
}

// TestOwnDeadline: a deadline of the request's context stands instead of the client's.
func TestOwnDeadline(t *testing.T) {
	u := listen(t, func(conn net.Conn) {
		readRequest(conn)
		conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
		wait(conn)
	})
	client := newClient(Options{Name: "orders", BaseURL: u, Timeout: time.Nanosecond})
	defer client.Close()
	if got := outcome(client, get(t, u)); got != "200 \"ok\"\n" {
		t.Error(got)
	}
}

// TestNoConnection has the kinds from before a request is sent.
func TestNoConnection(t *testing.T) {
	closed := listen(t, func(net.Conn) {})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Host = l.Addr().String()
	l.Close()

	plain := listen(t, func(conn net.Conn) { conn.Write([]byte("HTTP/1.0 400 Bad Request\r\n\r\n")) })
	plain.Scheme = "https"
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = discard()
	secure.StartTLS()
	defer secure.Close()
	old := httptest.NewUnstartedServer(http.NotFoundHandler())
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10} //nolint:gosec // what must be refused
	old.Config.ErrorLog = discard()
	old.StartTLS()
	defer old.Close()
	hello := func(conn net.Conn) { _, _ = conn.Read(make([]byte, 16<<10)) }
	hangsUp := listen(t, hello)
	hangsUp.Scheme = "https"
	resets := listen(t, func(conn net.Conn) {
		hello(conn)
		conn.(*net.TCPConn).SetLinger(0)
	})
	resets.Scheme = "https"
	trust := x509.NewCertPool()
	trust.AddCert(secure.Certificate())
	trust.AddCert(old.Certificate())
	wrongName := parse(t, strings.Replace(secure.URL, "127.0.0.1", "localhost", 1))

	for _, c := range []struct {
		name    string
		options Options
		call    *url.URL
		want    string
	}{
		{"closed port", Options{BaseURL: closed}, closed, "connect\n" + connectMessage},
		{"no such name", Options{BaseURL: parse(t, "http://nowhere.invalid/")}, parse(t, "http://nowhere.invalid/"), "connect\n" + connectMessage},
		{"not TLS", Options{BaseURL: plain}, plain, "tls\n" + tlsMessage},
		{"hangs up instead of a handshake", Options{BaseURL: hangsUp}, hangsUp, "connect\n" + connectMessage},
		{"resets instead of a handshake", Options{BaseURL: resets}, resets, "connect\n" + connectMessage},
		{"unknown authority (E6)", Options{BaseURL: parse(t, secure.URL)}, parse(t, secure.URL), "tls\n" + tlsMessage},
		{"wrong name (E6)", Options{BaseURL: wrongName, RootCAs: trust}, wrongName, "tls\n" + tlsMessage},
		{"TLS 1.1 (E6)", Options{BaseURL: parse(t, old.URL), RootCAs: trust}, parse(t, old.URL), "tls\n" + tlsMessage},
		{"own authority (E6)", Options{BaseURL: parse(t, secure.URL), RootCAs: trust}, parse(t, secure.URL), "404 \"404 page not found\\n\""},
		{"host that was not named (E1)", Options{BaseURL: parse(t, "http://orders.example.com/")}, closed, "refused\n" + refusedMessage},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.Name = "orders"
			client := newClient(c.options)
			defer client.Close()
			got := outcome(client, get(t, c.call))
			if diff := cmp.Diff(c.want+"\n", got); diff != "" {
				t.Error(diff)
			}
			// P7: nothing of where the service stands.
			for _, secret := range []string{c.call.Port(), "127.0.0.1", "invalid", "localhost", "x509", "://"} {
				if secret != "" && !strings.HasPrefix(got, "404") && strings.Contains(got, secret) {
					t.Errorf("the message names %q", secret)
				}
			}
		})
	}
}

// TestProxyFromEnvironment is E5.
func TestProxyFromEnvironment(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	t.Setenv("NO_PROXY", "")
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	client := newClient(Options{BaseURL: parse(t, server.URL)})
	defer client.Close()
	if client.pool.current.Load().transport.Proxy != nil {
		t.Error("a proxy is used")
	}
	if got := outcome(client, get(t, parse(t, server.URL))); got != "200 \"\"\n" {
		t.Error(got)
	}
}

// TestCanceled: the service learns at once that its client has gone (L1).
func TestCanceled(t *testing.T) {
	started, gone := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(started)
		<-r.Context().Done()
		close(gone)
	}))
	defer server.Close()
	client := newClient(Options{Name: "orders", BaseURL: parse(t, server.URL)})
	defer client.Close()
	ctx, cancel := context.WithCancel(t.Context())
	req := get(t, parse(t, server.URL)).WithContext(ctx)
	go func() {
		<-started
		cancel()
	}()
	if diff := cmp.Diff("canceled\n"+canceledMessage+"\n", outcome(client, req)); diff != "" {
		t.Error(diff)
	}
	timebox.Wait(t, gone)
}

// TestCredentialError: an error of the wrapper that is not one of the transport.
func TestCredentialError(t *testing.T) {
	client := newClient(Options{Name: "orders", Wrap: func(http.RoundTripper) http.RoundTripper {
		return roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("no secret") })
	}})
	defer client.Close()
	want := "credential\n" + `The gateway has no working credential for the service "orders". Nothing was sent to it. Repeating the call does not help: tell the user that the operator of the gateway must repair the credential.` + "\n"
	if diff := cmp.Diff(want, outcome(client, get(t, parse(t, "http://orders.example.com/")))); diff != "" {
		t.Error(diff)
	}
}

func discard() *log.Logger { return log.New(io.Discard, "", 0) }

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestHeadLimits is the part of P1 on heads.
func TestHeadLimits(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines int
		size  int
		want  string
	}{
		{"as many lines as may be", 98, 1, "200"}, // with Date and Content-Length
		{"too many lines", 99, 1, "protocol"},
		{"as large as may be", 1, 60 << 10, "200"},
		{"too large", 1, 65 << 10, "protocol"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for n := range c.lines {
					w.Header().Set(fmt.Sprintf("X-%d", n), strings.Repeat("x", c.size))
				}
			}))
			defer server.Close()
			client := newClient(Options{BaseURL: parse(t, server.URL)})
			defer client.Close()
			if got := outcome(client, get(t, parse(t, server.URL))); !strings.HasPrefix(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestBomb is P1: 10 MB that stand for 10 GB are refused before they cost
// memory or time.
func TestBomb(t *testing.T) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(make([]byte, 16<<20))
	w.Close()
	member := b.Bytes() // 16 KiB for 16 MiB; as many of them as the client will take
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		for range 640 {
			if _, err := w.Write(member); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	why := map[string]string{
		"ratio": "It is compressed more than the limit allows (limits.max_ratio).",
		"size":  "It has more than 8388608 bytes, which is the limit (max_answer).",
	}
	for name, o := range map[string]Options{
		"ratio": {MaxBytes: 1 << 40},
		"size":  {MaxRatio: 1 << 40},
	} {
		o.Name, o.BaseURL = "orders", parse(t, server.URL)
		client := newClient(o)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		resp, err := client.Do(get(t, o.BaseURL))
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		runtime.ReadMemStats(&after)
		var e *Error
		if !errors.As(err, &e) || e.ToolMessage() != strings.Replace(largeMessage, "It has more than 65536 bytes, which is the limit (max_answer).", why[name], 1) {
			t.Errorf("%s: %v", name, err)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 4<<20 || n > 9<<20 {
			t.Errorf("%s: %d bytes passed on, %d allocated", name, n, allocated)
		}
		client.Close()
	}
}

// TestEndless is P3: an answer without end is cut at the limit, and its
// connection is given up.
func TestEndless(t *testing.T) {
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<10)); err != nil {
				close(gone)
				return
			}
		}
	}))
	defer server.Close()
	client := newClient(Options{Name: "orders", BaseURL: parse(t, server.URL), MaxBytes: 64 << 10})
	defer client.Close()
	if diff := cmp.Diff("too_large\n"+largeMessage+"\n", outcome(client, get(t, parse(t, server.URL)))); diff != "" {
		t.Error(diff)
	}
	timebox.Wait(t, gone)
}

// TestReuse: a connection is used again after a whole answer, also one that
// nobody read if it is small, and never after one that was broken off.
func TestReuse(t *testing.T) {
	mux := http.NewServeMux()
	serve := func(path string, size int, encoding string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			data := bytes.Repeat([]byte("x"), size)
			if encoding != "" {
				w.Header().Set("Content-Encoding", encoding)
				data = compress(t, map[string]string{"gzip": "gzip", "deflate": "zlib"}[encoding], data)
			}
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			w.Write(data)
		})
	}
	serve("/small", 1<<10, "")
	serve("/large", 4<<20, "")
	serve("/gzip", 1<<10, "gzip")
	serve("/deflate", 1<<10, "deflate")
	serve("/over", 9<<20, "")
	mux.HandleFunc("/empty", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/stalled", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		w.Write([]byte("hello"))
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, c := range []struct {
		method, path string
		read         int // bytes; -1: all
		want         bool
	}{
		{"GET", "/small", -1, true},
		{"GET", "/small", 0, true},
		{"GET", "/small", 10, true},
		{"POST", "/small", -1, true},
		{"HEAD", "/large", 0, true},
		{"HEAD", "/over", -1, true},
		{"GET", "/empty", 0, true},
		{"GET", "/gzip", -1, true},
		{"GET", "/deflate", -1, true},
		{"GET", "/large", -1, true},
		{"GET", "/large", 10, false},
		{"GET", "/over", -1, false},
		{"GET", "/stalled", 0, false},
	} {
		t.Run(fmt.Sprint(c.method, c.path, c.read), func(t *testing.T) {
			client := newClient(Options{BaseURL: parse(t, server.URL)})
			defer client.Close()
			call := func(method, path string, read int) (reused bool) {
				req := get(t, parse(t, server.URL+path))
				req.Method = method
				req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
					GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused },
				}))
				resp, err := client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				if read < 0 {
					io.Copy(io.Discard, resp.Body)
				} else if read > 0 {
					io.ReadFull(resp.Body, make([]byte, read))
				}
				start := time.Now()
				resp.Body.Close()
				if d := time.Since(start); d > time.Second {
					t.Errorf("Close took %s", d)
				}
				if _, err := resp.Body.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
					t.Errorf("read after Close: %v", err)
				}
				return reused
			}
			call(c.method, c.path, c.read)
			if got := call("GET", "/small", -1); got != c.want {
				t.Errorf("reused: %t, want %t", got, c.want)
			}
		})
	}
}

// TestPool: after a burst all connections wait for the next one; net/http's
// own default would have closed all but two (pains row 46).
func TestPool(t *testing.T) {
	const burst = 64
	arrived, release := make(chan struct{}, burst), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-release
	}))
	defer server.Close()
	client := newClient(Options{BaseURL: parse(t, server.URL)})
	defer client.Close()
	results := make(chan bool, burst)
	round := func() (reused int) {
		for range burst {
			go func() {
				again := false
				req := get(t, parse(t, server.URL))
				req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
					GotConn: func(i httptrace.GotConnInfo) { again = i.Reused },
				}))
				outcome(client, req)
				results <- again
			}()
		}
		for range burst {
			timebox.Wait(t, arrived)
		}
		for range burst {
			timebox.Send(t, release, struct{}{})
		}
		for range burst {
			if timebox.Receive(t, results) {
				reused++
			}
		}
		return reused
	}
	round()
	if n := round(); n != burst {
		t.Errorf("%d of %d connections were used again", n, burst)
	}
}

// TestHTTP2 is spoken where the service can.
func TestHTTP2(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Proto)
		if r.URL.Path == "/abort" {
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	client := newClient(Options{BaseURL: parse(t, server.URL), RootCAs: pool})
	defer client.Close()
	if got := outcome(client, get(t, parse(t, server.URL))); got != "200 \"HTTP/2.0\"\n" {
		t.Error(got)
	}
	if got := outcome(client, get(t, parse(t, server.URL+"/abort"))); !strings.HasPrefix(got, "truncated\n") {
		t.Error(got)
	}
}

// TestRequestHeaders: what the client itself puts into a request.
func TestRequestHeaders(t *testing.T) {
	arrived := make(chan http.Header, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { arrived <- r.Header }))
	defer server.Close()
	client := newClient(Options{BaseURL: parse(t, server.URL)})
	defer client.Close()
	req := get(t, parse(t, server.URL))
	req.Header = nil
	outcome(client, req)
	if diff := cmp.Diff(http.Header{"Accept-Encoding": {"identity"}, "User-Agent": {"drawbridge"}}, timebox.Receive(t, arrived)); diff != "" {
		t.Error(diff)
	}
	for u, want := range map[string]string{
		"http://127.0.0.1:8080/": "identity", "http://[::1]/": "identity", "http://localhost/": "identity",
		"http://10.0.0.1/": "gzip, deflate", "https://orders.internal/": "gzip, deflate",
	} {
		if got := client.acceptEncoding(parse(t, u)); got[0] != want {
			t.Errorf("%s: %s, want %s", u, got[0], want)
		}
	}
}

// TestResponseRequest: what the credential adds to a request is not seen again.
func TestResponseRequest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	client := newClient(Options{BaseURL: parse(t, server.URL), Wrap: func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.URL.RawQuery = "key=secret"
			return next.RoundTrip(r)
		})
	}})
	defer client.Close()
	for name, do := range map[string]func(*http.Request) (*http.Response, error){"call": client.Do, "document": client.Documents().Do} {
		resp, err := do(get(t, parse(t, server.URL)))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.Request.URL.RawQuery != "" {
			t.Errorf("%s: %s", name, resp.Request.URL)
		}
	}
}

// TestMessages: every kind has a name and a text, and none is that of another.
func TestMessages(t *testing.T) {
	seen := map[string]bool{}
	for k := Timeout; k <= BreakerOpen; k++ {
		for _, s := range []string{k.String(), (&Error{Kind: k}).ToolMessage(), (&Error{Kind: k, API: "x"}).ToolMessage()} {
			if seen[s] && k != Canceled || s == "unknown" || strings.HasSuffix(s, "could not be called.") {
				t.Errorf("%d: %q", k, s)
			}
			seen[s] = true
		}
	}
}
