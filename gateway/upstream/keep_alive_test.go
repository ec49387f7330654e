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
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestIdleTime: the hint of a service is read in all its forms, and what is none is ignored.
func TestIdleTime(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		want  string
	}{
		{nil, "1m30s false"},
		{[]string{"timeout=5"}, "4s true"},
		{[]string{"timeout=5, max=100"}, "4s true"},
		{[]string{"max=100,Timeout = \"5\""}, "4s true"},
		{[]string{"timeout=1"}, "0s true"},
		{[]string{"timeout=0"}, "0s true"},
		{[]string{"timeout=2"}, "1s true"},
		{[]string{"timeout=600"}, "1m30s true"},
		{[]string{"timeout=60", "timeout=5"}, "4s true"},
		{[]string{"timeout=5, timeout=60"}, "4s true"},
		{[]string{"timeout=-5"}, "1m30s false"},
		{[]string{"timeout=soon"}, "1m30s false"},
		{[]string{"timeout"}, "1m30s false"},
		{[]string{"timeout=99999999999999999999"}, "1m30s false"},
		{[]string{"max=3", "xtimeout=1", ""}, "1m30s false"},
	} {
		limit, ok := idleTime(http.Header{"Keep-Alive": tt.lines})
		if got := fmt.Sprint(limit, " ", ok); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.lines, got, tt.want)
		}
	}
}

// TestIdleTimeIsHeeded: no request is sent over a connection that has been idle for as long as the service said, less a second, neither
// in the clear nor by net/http; a service that says nothing has the time of the pool (pains row 161).
func TestIdleTimeIsHeeded(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\n"
	bodies := map[string]string{"length": "Content-Length: 2\r\n\r\nok", "chunked": "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "empty": "Content-Length: 0\r\n\r\n"}
	for _, tt := range []struct {
		hint  string
		pause time.Duration
		dials int64 // of three calls
	}{
		{"", 80 * time.Second, 1},
		{"Keep-Alive: timeout=5\r\n", 3900 * time.Millisecond, 1},
		{"Keep-Alive: timeout=5\r\n", 4100 * time.Millisecond, 3},
		{"Keep-Alive: timeout=600, max=7\r\n", 80 * time.Second, 1},
		{"Keep-Alive: timeout=600, max=7\r\n", 100 * time.Second, 3},
		{"Keep-Alive: timeout=1\r\n", 0, 3},
		{"Keep-Alive: timeout=0\r\n", 0, 3},
	} {
		for kind, body := range bodies {
			for _, by := range []string{"cleartext", "net/http"} {
				t.Run(fmt.Sprintf("%s/%s/%q after %s", by, kind, tt.hint, tt.pause), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var dials atomic.Int64
						answers := make([]string, 3)
						for i := range answers {
							answers[i] = head + tt.hint + body
						}
						pipe := spoken(answers...)
						dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
							dials.Add(1)
							conn, err := pipe(ctx, network, addr)
							return quiet{conn}, err
						}
						var over http.RoundTripper
						if by == "cleartext" {
							c := newPipedCleartext(dial, time.Minute, 2)
							defer c.close()
							over = c
						} else {
							p := newPoolWithoutCleartext(dial)
							defer p.close()
							over = p
						}
						for range 3 {
							if got := hear(t, over, "POST"); got.Fault || got.Status != 200 {
								t.Fatalf("%+v", got)
							}
							time.Sleep(tt.pause)
							synctest.Wait()
						}
						if got := dials.Load(); got != tt.dials {
							t.Errorf("%d connections, want %d", got, tt.dials)
						}
					})
				})
			}
		}
	}
}

// newPoolWithoutCleartext returns a pool whose calls are all made by net/http.
func newPoolWithoutCleartext(dial dialer) *pool {
	spoken := &protocols{}
	return newPool(0, spoken, func() *connections {
		transport := newTransport(Options{}, dialers{plain: dial, secure: dial}, spoken)
		off := newCleartext(dial, 0, 1)
		off.off = true
		return &connections{cleartext: off, transport: transport, noTimeout: transport}
	})
}

// TestIdleTimeStays: what a service said of a connection holds for all its later answers, and a request that takes longer than the
// connection may be idle is not cut off.
func TestIdleTimeStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dials atomic.Int64
		dial := func(context.Context, string, string) (net.Conn, error) {
			dials.Add(1)
			here, there := net.Pipe()
			go func() {
				defer there.Close()
				r := bufio.NewReader(there)
				for n := 0; ; n++ {
					if _, err := http.ReadRequest(r); err != nil {
						return
					}
					hint := ""
					if n == 0 {
						hint = "Keep-Alive: timeout=5\r\n"
					} else {
						time.Sleep(10 * time.Second)
					}
					if _, err := io.WriteString(there, "HTTP/1.1 200 OK\r\n"+hint+"Content-Length: 2\r\n\r\nok"); err != nil {
						return
					}
				}
			}()
			return quiet{here}, nil
		}
		plain := newPipedCleartext(dial, time.Minute, 2)
		defer plain.close()
		pool := newPoolWithoutCleartext(dial)
		defer pool.close()
		for _, over := range []http.RoundTripper{plain, pool} {
			dials.Store(0)
			for i, pause := range []time.Duration{time.Second, time.Second, 5 * time.Second, 0} {
				if got := hear(t, over, "POST"); got.Body != "ok" {
					t.Fatalf("call %d: %+v", i, got)
				}
				time.Sleep(pause)
				synctest.Wait()
			}
			if got := dials.Load(); got != 2 {
				t.Errorf("%T: %d connections, want 2", over, got)
			}
		}
	})
}

// TestIdleTimeOverTLS: the hint holds over TLS, too, for every method and marked requests.
func TestIdleTimeOverTLS(t *testing.T) {
	var opened atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Keep-Alive", "timeout="+r.URL.Query().Get("timeout"))
		_, _ = io.WriteString(w, "ok")
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	for timeout, want := range map[string]int64{"1": 8, "60": 1} {
		client := newClient(Options{BaseURL: parse(t, server.URL), RootCAs: roots})
		opened.Store(0)
		for n := range 8 {
			method := []string{"GET", "POST"}[n%2]
			var body io.Reader
			if method == "POST" {
				body = strings.NewReader("text")
			}
			req, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/?timeout="+timeout, body)
			if err != nil {
				t.Fatal(err)
			}
			resp, _, err := client.Send(req, RetryNever, LimitHeader)
			if err != nil {
				t.Fatalf("timeout=%s, call %d: %v", timeout, n, err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
		if got := opened.Load(); got != want {
			t.Errorf("timeout=%s: %d connections, want %d", timeout, got, want)
		}
		client.Close()
	}
}
