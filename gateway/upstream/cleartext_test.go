package upstream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"drawbridge/test/timebox"
)

// spoken returns a dial whose other side reads a request and writes the answers, one for each request; then it closes.
func spoken(answers ...string) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			r := bufio.NewReader(there)
			for _, answer := range answers {
				req, err := http.ReadRequest(r)
				if err != nil {
					return
				}
				if _, err := io.Copy(io.Discard, req.Body); err != nil {
					return
				}
				if _, err := io.WriteString(there, answer); err != nil {
					return
				}
			}
		}()
		return quiet{here}, nil
	}
}

// quiet is the end of a pipe, which can't be looked at, and over which nothing comes that was not asked for.
type quiet struct{ net.Conn }

func (quiet) isQuiet() bool { return true }

// newPipedCleartext makes calls over connections that may be quiet.
func newPipedCleartext(dial dialer, firstByte time.Duration, most int) *cleartext {
	c := newCleartext(dial, firstByte, most)
	c.look = func(conn net.Conn) func() bool {
		if q, ok := conn.(interface{ isQuiet() bool }); ok {
			return q.isQuiet
		}
		return lookAt(conn)
	}
	return c
}

// said is what became of a request.
type said struct {
	Fault  bool // instead of a head, or before the end of the body
	Status int
	Header http.Header
	Body   string
}

func hear(t testing.TB, over http.RoundTripper, method string) said {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://service.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := over.RoundTrip(req)
	if err != nil {
		return said{Fault: true}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return said{Fault: true}
	}
	return said{Status: resp.StatusCode, Header: resp.Header, Body: string(body)}
}

// answers are whole and broken ones, with which the fuzz targets begin.
var answers = []string{
	"", "H", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\nuntil the end", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
	"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok, and more",
	"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", "HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: T\r\n\r\n2\r\nok\r\n0\r\nT: 1\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n2\r\nok\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
	"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 99 Low\r\n\r\n", "HTTP/1.1 1000 High\r\n\r\n",
	strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 5) + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 6) + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
	"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "HTTP/1.1 200 OK\r\n A: b\r\n\r\n", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "HTTP/2.0 200 OK\r\n\r\n", "<html>", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
}

// FuzzCleartext: what comes over a connection is understood as net/http's own transport understands it.
func FuzzCleartext(f *testing.F) {
	for _, answer := range answers {
		for n := range 3 {
			f.Add(answer, uint8(n))
		}
	}
	methods := []string{"GET", "HEAD", "POST"}
	f.Fuzz(func(t *testing.T, answer string, method uint8) {
		if len(answer) > maxHeaderBytes/2 || strings.Contains(answer, " 101") { // an upgrade is refused later (checkHead)
			t.Skip()
		}
		m := methods[int(method)%len(methods)]
		theirs := &http.Transport{DialContext: spoken(answer), DisableCompression: true, MaxResponseHeaderBytes: maxHeaderBytes, DisableKeepAlives: true}
		ours := newPipedCleartext(spoken(answer), time.Minute, 1)
		defer ours.close()
		want, got := hear(t, theirs, m), hear(t, ours, m)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, %q:\n%s", m, answer, diff)
		}
	})
}

const short = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// TestCleartextTakes says which requests net/http's transport makes instead.
func TestCleartextTakes(t *testing.T) {
	for _, c := range []struct {
		change string
		with   func(r *http.Request)
		want   bool
	}{
		{"nothing", func(*http.Request) {}, true},
		{"a body", func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("x")), 1 }, true},
		{"no body, in words", func(r *http.Request) { r.Body = http.NoBody }, true},
		{"the longest body", func(r *http.Request) {
			r.URL.Path, r.Body, r.ContentLength = "", io.NopCloser(strings.NewReader("x")), maxWritten
		}, true},
		{"a body, and no length for it", func(r *http.Request) { r.ContentLength = 1 }, false},
		{"a body of no known length", func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("x")), -1 }, false},
		{"a body of perhaps no length", func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("x")) }, false},
		{"a long body", func(r *http.Request) {
			r.URL.Path, r.Body, r.ContentLength = "", io.NopCloser(strings.NewReader("x")), maxWritten+1
		}, false},
		{"a long path", func(r *http.Request) { r.URL.Path = "/" + strings.Repeat("ä", maxWritten/6) }, false},
		{"a long query", func(r *http.Request) { r.URL.RawQuery = strings.Repeat("x", maxWritten) }, false},
		{"a long header", func(r *http.Request) { r.Header.Set("Cookie", strings.Repeat("x", maxWritten)) }, false},
		{"many headers", func(r *http.Request) { r.Header["X"] = make([]string, maxWritten/4) }, false},
		{"a line break in a header", func(r *http.Request) { r.Header["X-Key"] = []string{"x\r\nHost: elsewhere"} }, false},
		{"the name of a header", func(r *http.Request) { r.Header["X Key"] = []string{"x"} }, false},
		{"no name of a header", func(r *http.Request) { r.Header[""] = []string{"x"} }, false},
		{"a method", func(r *http.Request) { r.Method = "PURGE" }, true},
		{"no method", func(r *http.Request) { r.Method = "" }, true},
		{"what is no method", func(r *http.Request) { r.Method = "GET / HTTP/1.1\r\nX:" }, false},
		{"no URL", func(r *http.Request) { r.URL = nil }, false},
		{"no header", func(r *http.Request) { r.Header = nil }, false},
		{"TLS", func(r *http.Request) { r.URL.Scheme = "https" }, false},
		{"no host", func(r *http.Request) { r.URL.Host = "" }, false},
		{"a host in letters that need IDNA", func(r *http.Request) { r.URL.Host = "bücher.example" }, false},
		{"a host in another code", func(r *http.Request) { r.URL.Host = "\x80" }, false},
		{"CONNECT", func(r *http.Request) { r.Method = "CONNECT" }, false},
		{"Close", func(r *http.Request) { r.Close = true }, false},
		{"trailers", func(r *http.Request) { r.Trailer = http.Header{"T": nil} }, false},
		{"chunks", func(r *http.Request) { r.TransferEncoding = []string{"chunked"} }, false},
		{"Expect", func(r *http.Request) { r.Header.Set("Expect", "100-continue") }, false},
		{"Upgrade", func(r *http.Request) { r.Header.Set("Upgrade", "x") }, false},
		{"Connection", func(r *http.Request) { r.Header.Set("Connection", "x") }, false},
	} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://service.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.with(req); newPipedCleartext(nil, 0, 0).takes(req) != c.want {
			t.Errorf("%s: taken is not %t", c.change, c.want)
		}
	}
}

// TestRefusedRequests: what would be mended or left out on the way to the wire is refused; the texts hold no value, which may be a secret.
func TestRefusedRequests(t *testing.T) {
	for want, with := range map[string]func(r *http.Request){
		`net/http: invalid header field value for "X-Key"`: func(r *http.Request) { r.Header["X-Key"] = []string{"secret\r\nHost: elsewhere"} },
		`net/http: invalid header field name "X Key"`:      func(r *http.Request) { r.Header["X Key"] = []string{"secret"} },
		`net/http: invalid header field name ""`:           func(r *http.Request) { r.Header[""] = []string{"secret"} },
		`net/http: invalid method "GET / HTTP/1.1\r\nX:"`:  func(r *http.Request) { r.Method = "GET / HTTP/1.1\r\nX:" },
	} {
		address := listen(t, func(net.Conn) { t.Error("connected") })
		client := newClient(Options{Name: "orders", BaseURL: address})
		closed := false
		req, err := http.NewRequestWithContext(t.Context(), "POST", address.String(), closing{strings.NewReader("x"), &closed})
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = 1
		with(req)
		resp, err := client.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		if cause := errors.Unwrap(err); cause == nil || cause.Error() != want || !closed {
			t.Errorf("%v, want %s; the body is closed: %t", err, want, closed)
		}
		client.Close()
	}
}

type closing struct {
	io.Reader
	closed *bool
}

func (c closing) Close() error { *c.closed = true; return nil }

// deaf is a connection of which the second request can't be written, or not be answered.
type deaf struct {
	quiet
	writes  atomic.Int64
	writing bool // from the second on
}

func (d *deaf) Write(p []byte) (int, error) {
	if d.writes.Add(1) > 1 {
		if d.writing {
			return 0, io.ErrClosedPipe
		}
		d.Conn.Close()
		return len(p), nil
	}
	return d.Conn.Write(p)
}

// TestCleartextRepeats: on a connection that was idle, what was not written is written again to another, whatever it is, and what was
// written only where that does no harm (RFC 9110 section 9.2.2). On a new one nothing is.
func TestCleartextRepeats(t *testing.T) {
	for _, c := range []struct {
		method, body string
		again        bool // GetBody is there
		written      bool
		mark, key    bool
		lost         bool // GetBody fails
		want         string
	}{
		{method: "GET", written: true, want: "200, 2 connections"},
		{method: "GET", written: false, want: "200, 2 connections"},
		{method: "GET", written: true, mark: true, want: "fault, 1 connections"},
		{method: "GET", written: false, mark: true, want: "200, 2 connections"},
		{method: "POST", written: true, want: "fault, 1 connections"},
		{method: "POST", written: true, key: true, want: "200, 2 connections"},
		{method: "POST", written: true, key: true, mark: true, want: "fault, 1 connections"},
		{method: "POST", written: false, want: "200, 2 connections"},
		{method: "POST", body: "x", again: true, written: false, want: "200, 2 connections"},
		{method: "POST", body: "x", again: false, written: false, want: "fault, 1 connections"},
		{method: "POST", body: "x", again: true, lost: true, want: "file already closed, 1 connections"},
		{method: "PUT", body: "x", again: true, written: true, want: "fault, 1 connections"}, // as net/http; retry.go repeats it
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			dials := 0
			pipe := spoken(short, short)
			over := newPipedCleartext(func(ctx context.Context, network, address string) (net.Conn, error) {
				if address != "service.example:80" {
					t.Errorf("connected to %q", address)
				}
				conn, err := pipe(ctx, network, address)
				if dials++; dials == 1 {
					conn = &deaf{quiet: quiet{conn}, writing: !c.written}
				}
				return conn, err
			}, time.Minute, 1)
			defer over.close()
			if got := hear(t, over, "GET"); got.Status != 200 {
				t.Fatal(got)
			}
			var body io.Reader
			if c.body != "" {
				body = strings.NewReader(c.body)
			}
			ctx := t.Context()
			if c.mark {
				ctx = context.WithValue(ctx, noReplayKey{}, true)
			}
			req, err := http.NewRequestWithContext(ctx, c.method, "http://service.example/", body)
			if err != nil {
				t.Fatal(err)
			}
			if !c.again {
				req.GetBody = nil
			}
			if c.lost {
				req.GetBody = func() (io.ReadCloser, error) { return nil, os.ErrClosed }
			}
			if c.key {
				req.Header["Idempotency-Key"] = []string{"k"}
			}
			got := "fault"
			if resp, err := over.RoundTrip(req); errors.Is(err, os.ErrClosed) {
				got = err.Error()
			} else if err == nil {
				got = fmt.Sprint(resp.StatusCode)
				resp.Body.Close()
			}
			if got = fmt.Sprintf("%s, %d connections", got, dials); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	over := newPipedCleartext(spoken(), time.Minute, 1) // it closes at once
	defer over.close()
	if got := hear(t, over, "GET"); !got.Fault {
		t.Errorf("a new connection without an answer gives %v", got)
	}
}

// TestCleartextIdle: connections are kept as many as may be, as long as they may rest, and none once all is closed.
func TestCleartextIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dials, open atomic.Int64
		pipe := spoken(short, short, short, short)
		over := newPipedCleartext(func(ctx context.Context, network, address string) (net.Conn, error) {
			dials.Add(1)
			open.Add(1)
			conn, err := pipe(ctx, network, address)
			return &counted{quiet: quiet{conn}, open: &open}, err
		}, 10*time.Second, 2)
		three := func() (bodies []io.ReadCloser) {
			for range 3 {
				req, err := http.NewRequestWithContext(t.Context(), "GET", "http://service.example/", nil)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := over.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				bodies = append(bodies, resp.Body)
			}
			return bodies
		}
		finish := func(bodies []io.ReadCloser) {
			for _, b := range bodies {
				if text, err := io.ReadAll(b); err != nil || string(text) != "ok" {
					t.Errorf("%q, %v", text, err)
				}
				if n, err := b.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
					t.Errorf("after the end: %d, %v", n, err)
				}
				b.Close()
			}
		}
		finish(three())
		if open.Load() != 2 {
			t.Errorf("%d connections are kept, want 2", open.Load())
		}
		time.Sleep(time.Minute) // longer than a head may take, and shorter than they may rest
		finish(three())
		if dials.Load() != 4 {
			t.Errorf("%d connections were made, want 3 and 1 more", dials.Load())
		}
		time.Sleep(maxRest) // a look is due then
		synctest.Wait()
		if open.Load() != 0 || len(over.idle) != 0 || over.sweep != nil {
			t.Errorf("%d connections are kept after their rest, of %d hosts", open.Load(), len(over.idle))
		}
		under := three()
		finish(under[:1])
		over.close()
		finish(under[1:])
		if open.Load() != 0 || len(over.idle) != 0 {
			t.Errorf("%d connections are kept after close, of %d hosts", open.Load(), len(over.idle))
		}
	})
}

// counted tells when it is closed.
type counted struct {
	quiet
	open   *atomic.Int64
	closed atomic.Bool
}

func (c *counted) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.open.Add(-1)
	}
	return c.Conn.Close()
}

// TestProbe: an idle connection on which something came, or that was closed, is not used again, and one that is quiet is.
func TestProbe(t *testing.T) {
	for name, c := range map[string]struct {
		then  func(conn net.Conn)
		again bool
	}{
		"quiet":  {func(net.Conn) {}, true},
		"closed": {func(conn net.Conn) { conn.Close() }, false},
		"reset": {func(conn net.Conn) {
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			conn.Close()
		}, false},
		"unasked": {func(conn net.Conn) { _, _ = io.WriteString(conn, "x") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var connections atomic.Int64
			idle, done := make(chan struct{}), make(chan struct{})
			address := listen(t, func(conn net.Conn) {
				r := bufio.NewReader(conn)
				for n := connections.Add(1); ; {
					if _, err := http.ReadRequest(r); err != nil {
						return
					}
					_, _ = io.WriteString(conn, short)
					if n == 1 {
						select {
						case <-idle:
							idle = nil
							c.then(conn)
							close(done)
						case <-t.Context().Done():
							return
						}
					}
				}
			})
			client := newClient(Options{Name: "orders", BaseURL: address})
			defer client.Close()
			if got := outcome(client, get(t, address)); got != "200 \"ok\"\n" {
				t.Fatal(got)
			}
			close(idle)
			timebox.Wait(t, done)
			post := get(t, address)
			post.Method = http.MethodPost // which nobody repeats
			if got := outcome(client, post); got != "200 \"ok\"\n" {
				t.Error(got)
			}
			if again := connections.Load() == 1; again != c.again {
				t.Errorf("used again: %t, want %t", again, c.again)
			}
		})
	}
}
