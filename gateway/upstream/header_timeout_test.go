package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestHeadInTime: the head of an answer has a clock of its own, but for calls that are patient: of these it may take as long as the
// call. It is the same for all that carries a call.
func TestHeadInTime(t *testing.T) {
	certified := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate alone
	certified.Close()
	roots := x509.NewCertPool()
	roots.AddCert(certified.Certificate())
	const late = 16 * time.Second
	for _, wire := range []struct {
		name, scheme string
		protocols    []string
		long         bool
	}{
		{"http", "http", nil, false},
		{"http, a request that net/http makes", "http", nil, true},
		{"https", "https", []string{"http/1.1"}, false},
		{"https, HTTP/2", "https", []string{"h2"}, false},
	} {
		for _, c := range []struct {
			name     string
			patience HeaderTimeout
			timeout  time.Duration // of the call
			head     time.Duration
			want     string
			after    time.Duration
		}{
			{"in time", LimitHeader, 30 * time.Second, 14 * time.Second, "200 \"ok\"\n", 14 * time.Second},
			{"late", LimitHeader, 30 * time.Second, late, "timeout\n" + timeoutMessage + "\n", 15 * time.Second},
			{"late, patient", NoHeaderTimeout, 30 * time.Second, late, "200 \"ok\"\n", late},
			{"never, patient", NoHeaderTimeout, 30 * time.Second, time.Hour, "timeout\n" + timeoutMessage + "\n", 30 * time.Second},
			{"a short call, patient", NoHeaderTimeout, 5 * time.Second, late, "timeout\n" + timeoutMessage + "\n", 5 * time.Second},
		} {
			t.Run(wire.name+", "+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := &pipes{made: make(chan net.Conn), closed: make(chan struct{})}
					service := &http.Server{ErrorLog: discard(), TLSConfig: &tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS12,
						NextProtos: wire.protocols}, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						pause := c.head
						if r.URL.Path == "/first" { // so that the next is made on a connection that was used
							pause = 0
						}
						select {
						case <-time.After(pause):
							_, _ = io.WriteString(w, "ok")
						case <-r.Context().Done(): // it says 200 without a body, to a client that is about to go
						}
					})}
					served := make(chan struct{})
					go func() {
						defer close(served)
						if wire.scheme == "https" {
							_ = service.ServeTLS(l, "", "")
						} else {
							_ = service.Serve(l)
						}
					}()
					client := newClient(Options{Name: "orders", BaseURL: parse(t, wire.scheme+"://example.com"), RootCAs: roots, dial: l.dial})
					for _, path := range []string{"/first", "/second"} {
						ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), c.timeout)
						req, err := http.NewRequestWithContext(ctx, http.MethodGet, wire.scheme+"://example.com"+path, nil)
						if err != nil {
							t.Fatal(err)
						}
						if wire.long {
							req.Header.Set("Long", strings.Repeat("x", maxWritten))
						}
						begin, want, after := time.Now(), "200 \"ok\"\n", time.Duration(0)
						if path == "/second" {
							want, after = c.want, c.after
						}
						resp, _, err := client.Send(req, RetryByMethod, c.patience)
						got := told(resp, err)
						if took := time.Since(begin); got != want || took != after {
							t.Errorf("%s: %s after %v, want %s after %v", path, got, took, want, after)
						}
						cancel()
					}
					client.Close()
					service.Close()
					<-served
				})
			})
		}
	}
}

// pipes is a listener to whose connections dial connects.
type pipes struct {
	made   chan net.Conn
	closed chan struct{}
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.made <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.made:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }
