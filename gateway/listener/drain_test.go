package listener

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

var ok = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})

// TestDrain is O5: a request that has begun to arrive is answered, on a new connection and on one that rested, also if it comes within a moment of the end.
// A connection that has said nothing is closed.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(ok)
		quiet, begun, again, rests, late := h.come(), h.come(), h.come(), h.come(), h.come()
		for _, c := range []*client{again, rests} {
			_ = c.send(get)
			if status, _ := c.answer(); status != 200 {
				t.Fatal(status)
			}
		}
		_ = begun.send(get[:10])
		_ = again.send(get[:10])
		synctest.Wait()
		start := time.Now()
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			h.Drain(t.Context())
		}()
		time.Sleep(lastLook / 2)
		_ = late.send(get[:10])
		if !quiet.closed() || !rests.closed() {
			t.Error("they are not closed")
		}
		if took := time.Since(start); took < lastLook || took > lastLook+2*drainLook {
			t.Errorf("those that say nothing are closed after %v", took)
		}
		time.Sleep(time.Second)
		for _, c := range []*client{begun, again, late} {
			select {
			case <-drained:
				t.Error("drained, and not all are answered")
			default:
			}
			_ = c.send(get[10:])
			if status, _ := c.answer(); status != 200 {
				t.Errorf("status %d", status)
			}
		}
		<-drained
		h.stop(t)
	})
}

// TestDrainDoesNotWaitForCalls: those that run are the server's to wait for, over HTTP/1 and HTTP/2.
func TestDrainDoesNotWaitForCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		h := newHarbour(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
		one, two := h.come(), h.come()
		_ = one.send(get)
		answered := make(chan int, 1)
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return two.Conn, nil }, Protocols: new(http.Protocols)}
		transport.Protocols.SetUnencryptedHTTP2(true)
		go func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://gateway/", nil)
			if err != nil {
				t.Error(err)
			}
			resp, err := transport.RoundTrip(r)
			if err != nil {
				t.Error(err)
				answered <- 0
				return
			}
			_ = resp.Body.Close()
			answered <- resp.StatusCode
		}()
		synctest.Wait()
		start := time.Now()
		h.Drain(t.Context())
		if took := time.Since(start); took > lastLook {
			t.Errorf("drained after %v", took)
		}
		go func() {
			time.Sleep(time.Minute)
			close(end)
		}()
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			h.stop(t)
		}()
		if status, _ := one.answer(); status != 200 {
			t.Error(status)
		}
		if status := <-answered; status != 200 {
			t.Error(status)
		}
		<-stopped
	})
}

// TestDrainHasAnEnd: a client that sends slowly takes no more of the time that calls have to end than a head may take, and none of it once ctx has ended.
func TestDrainHasAnEnd(t *testing.T) {
	for _, most := range []time.Duration{time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarbour(ok)
			c := h.come()
			go func() {
				for c.send("GET / HTTP/1.1\r\nA") == nil {
					time.Sleep(headTimeout - time.Second)
				}
			}()
			synctest.Wait()
			time.Sleep(headTimeout / 2)
			ctx, cancel := context.WithTimeout(t.Context(), most)
			defer cancel()
			start := time.Now()
			h.Drain(ctx)
			if took := time.Since(start); took > headTimeout || most < headTimeout && took != most {
				t.Errorf("drained after %v", took)
			}
			_ = h.server.Close()
			<-h.ended
			_ = c.Close()
			time.Sleep(headTimeout)
			h.gone(t)
		})
	}
}

// TestAcceptAfterDrain: the server is told of the end of its listener when that is closed, not before: it would take it for a failure.
func TestAcceptAfterDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(ok)
		synctest.Wait()
		h.Drain(t.Context())
		h.Drain(t.Context()) // which does nothing
		time.Sleep(time.Minute)
		synctest.Wait()
		select {
		case err := <-h.ended:
			t.Errorf("Serve has ended with %v", err)
		default:
		}
		h.stop(t)
	})
}

// TestAcceptFails: a failure of the socket is the server's to judge.
func TestAcceptFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(ok)
		broken := errors.New("broken")
		h.inner.conns <- broken
		if err := <-h.ended; !errors.Is(err, broken) {
			t.Error(err)
		}
	})
}

// taking hands out connections that it takes from the server.
func taking(t *testing.T) (http.Handler, chan net.Conn) {
	taken := make(chan net.Conn, 1)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/taken" {
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
		}
		taken <- conn
	}), taken
}

const take = "GET /taken HTTP/1.1\r\nHost: x\r\n\r\n"

// TestServeAgain: a connection that was taken may rest as long as others, and is served again, with what was said meanwhile.
func TestServeAgain(t *testing.T) {
	for _, c := range []struct {
		said string
		rest time.Duration
		want int
	}{{"", headTimeout * 2, 200}, {"", idleTimeout - time.Second, 200}, {"", idleTimeout + time.Second, 0}, {get[:5], time.Second, 200}, {get, 0, 200}} {
		synctest.Test(t, func(t *testing.T) {
			handler, taken := taking(t)
			h := newHarbour(handler)
			client := h.come()
			_ = client.send(take)
			conn := <-taken
			h.stands(t, map[stage]int{hijacked: 1})
			again := make(chan struct{})
			go func() {
				defer close(again)
				ServeAgain(conn, []byte(c.said))
			}()
			time.Sleep(c.rest)
			for rest := range 2 { // and again
				if rest == 0 && len(c.said) < len(get) {
					_ = client.send(get[len(c.said):])
				} else if rest == 1 {
					_ = client.send(get)
				}
				if status, _ := client.answer(); status != c.want {
					t.Errorf("%q after %s: status %d, want %d", c.said, c.rest, status, c.want)
				}
			}
			<-again
			_ = client.Close()
			h.stop(t)
		})
	}
}

// TestServeAgainAtTheEnd: a connection that was taken is not served when service ends, and is not left open.
func TestServeAgainAtTheEnd(t *testing.T) {
	for name, ends := range map[string]func(t *testing.T, h *harbour, again func()){
		"while it rests": func(t *testing.T, h *harbour, again func()) {
			go again()
			synctest.Wait()
			h.stands(t, map[stage]int{parked: 1})
			h.Drain(t.Context())
		},
		"while it rests, at once": func(t *testing.T, h *harbour, again func()) {
			go again()
			synctest.Wait()
			_ = h.server.Close()
		},
		"after the drain": func(t *testing.T, h *harbour, again func()) { h.Drain(t.Context()); again() },
		"after the end":   func(t *testing.T, h *harbour, again func()) { _ = h.server.Close(); again() },
	} {
		for _, said := range []string{"", get} {
			if said != "" && name != "after the end" {
				continue
			}
			t.Run(name+said, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					handler, taken := taking(t)
					h := newHarbour(handler)
					client := h.come()
					_ = client.send(take)
					conn := <-taken
					ends(t, h, func() { ServeAgain(conn, []byte(said)) })
					if rest, err := io.ReadAll(client.in); err != nil || len(rest) > 0 {
						t.Errorf("%q, %v", rest, err)
					}
					synctest.Wait()
					_ = h.server.Close()
					<-h.ended
					h.gone(t)
				})
			})
		}
	}
}

// TestServeAgainOfOthers: a connection that is no listener's, or whose listener has no server, is closed.
func TestServeAgainOfOthers(t *testing.T) {
	h := &harbour{}
	h.limiter = h.newLimiter(1, 1)
	ours, theirs := net.Pipe()
	ServeAgain(ours, nil)
	if _, err := theirs.Read(make([]byte, 1)); err != io.EOF { //nolint:errorlint // net.Pipe returns it so
		t.Error(err)
	}
	ours, theirs = net.Pipe()
	ServeAgain(h.limiter.admit(h.limiter.Listener(&pipes{}), ours), nil)
	if _, err := theirs.Read(make([]byte, 1)); err != io.EOF { //nolint:errorlint // net.Pipe returns it so
		t.Error(err)
	}
}
