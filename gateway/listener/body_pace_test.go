package listener

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// drip is a body of so many bytes, of which some come at a time.
type drip struct {
	left, each int
	pause      time.Duration
}

func (d *drip) Read(p []byte) (int, error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	time.Sleep(d.pause)
	n := min(d.left, d.each, len(p))
	d.left -= n
	return copy(p, bytes.Repeat([]byte("b"), n)), nil
}

// TestBodyPace: a body that stands still, or comes too slowly on average, ends with 408, whether its length was announced or not, over every protocol, on
// all connections alike; one that keeps the pace does not, however long it takes.
func TestBodyPace(t *testing.T) {
	certificate := httptest.NewUnstartedServer(nil)
	certificate.StartTLS()
	secure := certificate.TLS
	roots := certificate.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	certificate.Close()
	const connections, pace = 20, 240
	for _, body := range []struct {
		name        string
		drip        drip
		status      int
		least, most time.Duration // until there is an answer
	}{
		{"3 bytes in 4 s", drip{300, 3, 4 * time.Second}, http.StatusRequestTimeout, bodyGrace, bodyGrace + time.Second},
		{"standing still", drip{4, 2, time.Minute}, http.StatusRequestTimeout, BodyStall, BodyStall},
		{"standing still after a while", drip{40_000, 10_000, 9 * time.Second}, http.StatusOK, 36 * time.Second, 36 * time.Second},
		{"just too slow after a while", drip{40_000, pace * 7, 8 * time.Second}, http.StatusRequestTimeout, bodyGrace, bodyGrace + 40_000/pace*time.Second},
		{"in pace", drip{pace * 200, pace, time.Second}, http.StatusOK, 199 * time.Second, 201 * time.Second},
	} {
		for _, over := range []string{"HTTP/1.1", "HTTP/1.1 TLS", "HTTP/2", "HTTP/2 TLS"} {
			for _, announced := range []bool{true, false} {
				t.Run(body.name+", "+over+", announced "+strconv.FormatBool(announced), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var gaveUp atomic.Int32
						h := newHarbour(DefaultBodyPace(func() { gaveUp.Add(1) }).Handler(http.HandlerFunc(reads)))
						transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
							c := h.come()
							return c.Conn, nil
						}, Protocols: new(http.Protocols), TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "example.com"}}
						two, scheme := strings.HasPrefix(over, "HTTP/2"), "http"
						transport.Protocols.SetHTTP1(!two)
						transport.Protocols.SetHTTP2(two)
						transport.Protocols.SetUnencryptedHTTP2(two)
						if strings.HasSuffix(over, "TLS") {
							scheme = "https"
							h.overTLS(secure, two)
						}
						var all sync.WaitGroup
						for range connections {
							all.Go(func() {
								d := body.drip
								r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, scheme+"://gateway/", &d)
								if err != nil {
									t.Error(err)
									return
								}
								if announced {
									r.ContentLength = int64(d.left)
								}
								start := time.Now()
								resp, err := transport.RoundTrip(r)
								if err != nil {
									t.Error(err)
									return
								}
								_, _ = io.Copy(io.Discard, resp.Body)
								_ = resp.Body.Close()
								if took := time.Since(start); resp.StatusCode != body.status || took < body.least || took > body.most {
									t.Errorf("%s after %v, want %d after %v to %v", resp.Status, took, body.status, body.least, body.most)
								}
							})
						}
						all.Wait()
						want := int32(connections)
						if body.status == http.StatusOK {
							want = 0
						}
						if n := gaveUp.Load(); n != want {
							t.Errorf("%d were given up, want %d", n, want)
						}
						transport.CloseIdleConnections()
						time.Sleep(time.Hour) // bodies that are still to come
						h.stop(t)
					})
				})
			}
		}
	}
}

// reads reads a body and answers.
func reads(w http.ResponseWriter, r *http.Request) {
	switch _, err := io.Copy(io.Discard, r.Body); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusRequestTimeout)
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	}
}

// overTLS serves with TLS from now on.
func (h *harbour) overTLS(config *tls.Config, two bool) {
	_ = h.server.Close()
	<-h.ended
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!two)
	protocols.SetHTTP2(two)
	h.inner = &pipes{conns: make(chan any), closed: make(chan struct{})}
	h.Listener = h.limiter.Listener(h.inner)
	h.server = &http.Server{Handler: h.server.Handler, ReadHeaderTimeout: headTimeout, IdleTimeout: idleTimeout, Protocols: protocols, ErrorLog: quiet,
		TLSConfig: &tls.Config{Certificates: config.Certificates}}
	h.Attach(h.server)
	go func() { h.ended <- h.server.ServeTLS(h.Listener, "", "") }()
}

// TestBodyPaceOfOthers: a body that no handler reads has its time too; one that has come leaves no deadline for its call, nor does it for the next request.
func TestBodyPaceOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(DefaultBodyPace(nil).Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/unread" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			reads(w, r)
			select {
			case <-time.After(time.Minute): // of a call
			case <-r.Context().Done():
				t.Error("the client has not left")
			}
		})))
		c := h.come()
		for range 2 {
			_ = c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na")
			if status, last := c.answer(); status != 200 || last {
				t.Errorf("status %d, last %t", status, last)
			}
			time.Sleep(time.Minute)
		}
		start := time.Now()
		_ = c.send("POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na")
		if status, last := c.answer(); status != 401 || !last || !c.closed() || time.Since(start) > BodyStall+time.Second {
			t.Errorf("status %d, last %t, after %v", status, last, time.Since(start))
		}
		_ = c.Close()
		h.stop(t)
	})
}

// TestHurryBody: who is about to refuse a request does not wait for its body as others do.
func TestHurryBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(DefaultBodyPace(nil).Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			HurryBody(r, time.Second)
			reads(w, r)
		})))
		for _, pause := range []time.Duration{100 * time.Millisecond, 400 * time.Millisecond} {
			c := h.come()
			start := time.Now()
			go func() {
				_ = c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n")
				for range 4 {
					time.Sleep(pause)
					_ = c.send("a")
				}
			}()
			want, most := 200, 4*pause
			if 4*pause > time.Second {
				want, most = 408, time.Second
			}
			if status, _ := c.answer(); status != want || time.Since(start) != most {
				t.Errorf("status %d after %v", status, time.Since(start))
			}
			_ = c.Close()
		}
		HurryBody(httptest.NewRequest(http.MethodPost, "/", strings.NewReader("a")), time.Second) // a body without a pace
		time.Sleep(time.Second)
		h.stop(t)
	})
}
