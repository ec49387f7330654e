package listener

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"drawbridge/test/timebox"
)

// TestLimits is H8: connections are bounded in total and per address; one too many is closed at once, and Accept goes on to the next. One that was closed
// makes room, once.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{inner: &pipes{conns: make(chan any), closed: make(chan struct{})}}
		h.limiter = h.newLimiter(4, 2)
		l := h.limiter.Listener(h.inner)
		accepted := make(chan net.Conn, 20)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				accepted <- c
			}
		}()
		var open []net.Conn
		come := func(address string, want bool) {
			t.Helper()
			ours, theirs := net.Pipe()
			h.inner.conns <- from{ours, address}
			synctest.Wait()
			if got := len(accepted) == 1; got != want {
				t.Fatalf("%s: accepted %t", address, got)
			}
			if want {
				open = append(open, <-accepted)
			} else if _, err := theirs.Read(make([]byte, 1)); err != io.EOF { //nolint:errorlint // net.Pipe returns it so
				t.Errorf("%s: not closed: %v", address, err)
			}
		}
		come("192.0.2.1:1", true)
		come("192.0.2.1:2", true)
		come("192.0.2.1:3", false)
		come("127.0.0.1:1", true) // counts in the total alone
		come("127.0.0.1:2", true)
		come("127.0.0.1:3", false)
		_ = open[0].Close()
		_ = open[0].Close() // which counts once
		come("192.0.2.1:4", true)
		come("192.0.2.2:1", false)
		if want := []Reason{TooManyOfAddress, TooMany, TooMany}; !slices.Equal(h.refused, want) {
			t.Errorf("refused %q, want %q", h.refused, want)
		}
		for _, c := range open {
			_ = c.Close()
		}
		_ = l.Close()
		h.gone(t)
	})
}

// nameless is a connection that can't be counted.
type nameless struct{ net.Conn }

func (nameless) RemoteAddr() net.Addr { panic("injected") }

// TestPanicWhileAccepting: a panic costs the connection that it happens at, and no other.
func TestPanicWhileAccepting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(http.NotFoundHandler())
		ours, theirs := net.Pipe()
		h.inner.conns <- nameless{ours}
		if _, err := theirs.Read(make([]byte, 1)); err != io.EOF { //nolint:errorlint // net.Pipe returns it so
			t.Errorf("its client reads %v, want the end", err)
		}
		c := h.come()
		_ = c.send(get)
		if status, _ := c.answer(); status != http.StatusNotFound || len(h.panics) != 1 {
			t.Errorf("status %d after %q", status, h.panics)
		}
		_ = c.Close()
		h.stop(t)
	})
}

// TestStages: an operator sees how far connections have come, and what those lacked that were too slow.
func TestStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, end := make(chan struct{}), make(chan struct{})
		h := newHarbour(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/long":
				close(begun)
				<-end
			case "/taken":
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				_ = conn.Close()
			}
		}))
		late := func(nothing, head int) {
			t.Helper()
			for w, want := range map[WaitedFor]int{Nothing: nothing, Head: head, Body: 0, Answer: 0} {
				if n := testutil.ToFloat64(h.limiter.metrics.gaveUp[w]); n != float64(want) {
					t.Errorf("%v were too late with %s, want %d", n, w, want)
				}
			}
		}
		says := func(text string) *client {
			c := h.come()
			go func() { _ = c.send(text) }()
			synctest.Wait()
			return c
		}
		for _, text := range []string{"", "GET / HT", "GET / HTTP/1.1\r\n"} {
			c := says(text)
			go func() { _, _ = io.Copy(io.Discard, c) }()
		}
		rests := says(get)
		if status, _ := rests.answer(); status != 200 {
			t.Error(status)
		}
		long := says(strings.Replace(get, "/", "/long", 1))
		<-begun
		two := says("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
		go func() { _, _ = io.Copy(io.Discard, two) }()
		says(strings.Replace(get, "/", "/taken", 1)) // and closed
		synctest.Wait()
		h.stands(t, map[stage]int{silent: 1, sending: 2, resting: 1, served: 1, multiplexed: 1})
		late(0, 0)
		time.Sleep(headTimeout + time.Second)
		synctest.Wait()
		h.stands(t, map[stage]int{resting: 1, served: 1, multiplexed: 1})
		late(1, 2)
		close(end)
		if status, _ := long.answer(); status != 200 {
			t.Error(status)
		}
		go func() { _ = rests.send("GET / HT"); _, _ = io.Copy(io.Discard, rests) }()
		synctest.Wait()
		h.stands(t, map[stage]int{sending: 1, resting: 1, multiplexed: 1})
		time.Sleep(idleTimeout + time.Second)
		synctest.Wait()
		h.stands(t, nil)
		late(1, 3)
		h.stop(t)
	})
}

// TestClosesAsTheServerDoes: net/http says that it has said all before it waits for the client to have read that.
func TestClosesAsTheServerDoes(t *testing.T) {
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &harbour{}
	h.limiter = h.newLimiter(10, 10)
	l := h.limiter.Listener(inner)
	done, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		c, err := l.Accept()
		if err == nil {
			err = c.(interface{ CloseWrite() error }).CloseWrite()
		}
		done <- err
		_, _ = io.Copy(io.Discard, c)
		_ = c.Close()
		_ = l.Close()
	}()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); err != nil || len(got) > 0 {
		t.Errorf("%q, %v", got, err)
	}
	_ = conn.Close()
	if err := timebox.Receive(t, done); err != nil {
		t.Error(err)
	}
	timebox.Wait(t, ended)
	if n, _ := h.limiter.Held(netip.Prefix{}); n != 0 {
		t.Error(n)
	}
}
