package gateway

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/test/timebox"
)

// plainRequest is one, for the path.
func plainRequest(path string) string {
	return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
}

// attended is a client of a listener that answers plain requests.
type attended struct {
	net.Conn
	in *bufio.Reader
}

// attends has plain requests answered by h, and returns a client.
func (h *harbour) attends(handler http.Handler) attended {
	h.Answer(plainly(handler))
	return h.client()
}

// client is a client of a listener that is set up.
func (h *harbour) client() attended {
	c := h.come()
	return attended{c, bufio.NewReader(c)}
}

// ask sends a request, and returns the status of its answer, and whether it is the last; 0: there was none.
func (c attended) ask(request string) (status int, last bool) {
	if _, err := io.WriteString(c, request); err != nil {
		return 0, true
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, true
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode, resp.Close
}

// ends reports whether the connection is closed.
func (c attended) ends() bool {
	_, err := c.in.ReadByte()
	return err != nil
}

// TestAttended: plain requests are answered without net/http, as many as come, and the connection rests between them; one that is not plain takes the connection to
// net/http, with all that was sent.
func TestAttended(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(g)
		var paths []string
		c := h.attends(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.RemoteAddr != "192.0.2.1:1" {
				t.Errorf("from %q", r.RemoteAddr)
			}
			if n := h.all.slow.stages[served].Load(); n != 1 {
				t.Errorf("%d connections are served", n)
			}
			if paths = append(paths, r.URL.Path); r.URL.Path == "/b" {
				w.WriteHeader(http.StatusUnauthorized)
			}
		}))
		for _, path := range []string{"/a", "/b", "/c"} {
			want := http.StatusOK
			if path == "/b" {
				want = http.StatusUnauthorized
			}
			if status, last := c.ask(plainRequest(path)); status != want || last {
				t.Errorf("%s: status %d, last %v", path, status, last)
			}
			synctest.Wait()
			for c := range h.conns {
				if c.refused != (path == "/b") { // so that it gives way
					t.Errorf("%s: refused %v", path, c.refused)
				}
			}
			if h.count[resting] != 1 || h.all.slow.stages[resting].Load() != 1 || h.serving != 0 {
				t.Errorf("%s: %d in each stage, %d goroutines serve", path, h.count, h.serving)
			}
			time.Sleep(RestPatience - time.Second)
		}
		const other = "GET /d HTTP/1.1\r\nHost: x\r\n\r\n"
		go func() { _, _ = io.WriteString(c, other) }()
		conn := <-h.accepted
		b := make([]byte, len(other))
		if _, err := io.ReadFull(conn, b); err != nil || string(b) != other || strings.Join(paths, " ") != "/a /b /c" {
			t.Errorf("%q, %v, after %q", b, err, paths)
		}
		_ = conn.Close()
		_ = c.Close()
		h.end(t)
	})
}

// TestAttendedRest: a connection may rest as long as net/http lets it, and one that sends half a request has as long as for its first.
func TestAttendedRest(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	for sent, bounds := range map[string][2]time.Duration{"": {RestPatience, RestPatience}, "POST /mcp HT": {HeadPatience, 2 * HeadPatience}} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarbour(g)
			c := h.attends(echoed)
			if status, _ := c.ask(plainRequest("/a")); status != 200 {
				t.Fatal(status)
			}
			begin := time.Now()
			_, _ = io.WriteString(c, sent)
			if took := time.Since(begin); !c.ends() || time.Since(begin) < bounds[0] || time.Since(begin) > bounds[1] {
				t.Errorf("after %q: closed after %v, %v", sent, time.Since(begin), took)
			}
			_ = c.Close()
			h.end(t)
		})
	}
}

// TestAttendedHead: a head that is longer than MaxHeader is net/http's to refuse.
func TestAttendedHead(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(g)
		o := plainly(echoed)
		o.MaxHeader = 100
		h.Answer(o)
		c := h.come()
		go func() {
			_, _ = io.WriteString(c, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nA: "+strings.Repeat("a", 100)+"\r\n\r\n")
		}()
		_ = (<-h.accepted).Close()
		_ = c.Close()
		h.end(t)
	})
}

// TestAttendedEnd: O5. When service ends, what rests is closed, what is answered goes on, and is waited for; Abort waits for nobody.
func TestAttendedEnd(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	for _, abort := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarbour(g)
			begun, left := make(chan struct{}), atomic.Bool{}
			calls, endCalls := context.WithCancel(context.Background())
			o := plainly(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/long" {
					close(begun)
					select {
					case <-time.After(20 * time.Second):
					case <-r.Context().Done():
						left.Store(true)
					}
				}
			}))
			o.BaseContext = func() context.Context { return calls }
			h.Answer(o)
			rests, silentOne := h.client(), h.client()
			if status, _ := rests.ask(plainRequest("/a")); status != 200 {
				t.Fatal(status)
			}
			busy := h.client()
			answered := make(chan [2]bool, 1)
			go func() {
				status, last := busy.ask(plainRequest("/long"))
				answered <- [2]bool{status == 200, last}
			}()
			<-begun
			begin := time.Now()
			h.Drain(t.Context())
			if took := time.Since(begin); took > 2*lastLook || !rests.ends() || !silentOne.ends() {
				t.Errorf("drained after %v", took)
			}
			if err := h.Close(); err != nil || time.Since(begin) > time.Second {
				t.Errorf("%v, closed after %v", err, time.Since(begin))
			}
			soon, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := h.Idle(soon); err != context.DeadlineExceeded { //nolint:errorlint // it is that
				t.Errorf("idle with a call under way: %v", err)
			}
			cancel()
			if abort {
				h.Abort()
			}
			if err := h.Idle(t.Context()); err != nil || left.Load() != abort {
				t.Errorf("%v, left %v", err, left.Load())
			}
			want := [2]bool{!abort, true}
			if got := <-answered; got != want {
				t.Errorf("answered, and the last: %v, not %v", got, want)
			}
			endCalls()
			_ = busy.Close()
			h.end(t)
		})
	}
}

// TestAttendedIsTaken: a connection that the handler takes is nobody's here any more, and may come back.
func TestAttendedIsTaken(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(g)
		taken := make(chan net.Conn, 1)
		c := h.attends(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/taken" {
				return
			}
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.count != [stages]int{} {
				t.Errorf("%d in each stage", h.count)
			}
			taken <- conn
		}))
		go func() { _, _ = io.WriteString(c, plainRequest("/taken")) }()
		conn := <-taken
		synctest.Wait()
		if h.waiting != 1 || h.serving != 0 { // which takes connections
			t.Errorf("%d goroutines wait, %d serve", h.waiting, h.serving)
		}
		serveAgain(conn, []byte(plainRequest("/again")[:10]))
		if status, _ := c.ask(plainRequest("/again")[10:]); status != 200 {
			t.Errorf("status %d", status)
		}
		_ = c.Close()
		h.end(t)
	})
}

// TestAttendedPanics: a handler that panics costs its connection, and nothing else.
func TestAttendedPanics(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	synctest.Test(t, func(t *testing.T) {
		h := newHarbour(g)
		c := h.attends(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/panic" {
				panic("so")
			}
		}))
		if status, _ := c.ask(plainRequest("/panic")); status != 0 || !c.ends() {
			t.Errorf("status %d", status)
		}
		other := h.client()
		if status, _ := other.ask(plainRequest("/a")); status != 200 {
			t.Errorf("status %d", status)
		}
		_ = c.Close()
		_ = other.Close()
		h.end(t)
	})
	if got := metricLines(g, "drawbridge_panics_total 1"); len(got) != 1 {
		t.Errorf("counted %q", metricLines(g, "drawbridge_panics_total"))
	}
}

// TestNotAttendedOverTLS: what begins with a TLS record is net/http's, whatever it would be in clear.
func TestNotAttendedOverTLS(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	a := newArrivals(&boundedListener{Listener: &pipes{}, all: g.connections}, true)
	if a.Answer(plainly(echoed)); a.plain != nil {
		t.Error("it would be answered")
	}
}

// BenchmarkPlainRequest is a request on a connection that is used again, answered by net/http and in front of it.
func BenchmarkPlainRequest(b *testing.B) {
	g := start(b, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	text := []string{"text/plain"}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header()["Content-Type"] = text
		_, _ = w.Write([]byte("hello"))
	})
	for _, way := range []string{"net/http", "in front"} {
		b.Run(way, func(b *testing.B) {
			l, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			a := g.Listener(l)
			if way == "in front" {
				a.Answer(plainly(handler))
			}
			s := &http.Server{Handler: handler, ReadHeaderTimeout: HeadPatience}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = s.Serve(a)
			}()
			conn, err := (&net.Dialer{}).DialContext(b.Context(), "tcp", l.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			request, answer := []byte(plainRequest("/mcp")), make([]byte, 1<<10)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := conn.Write(request); err != nil {
					b.Fatal(err)
				}
				if n, err := conn.Read(answer); err != nil || !strings.HasSuffix(string(answer[:n]), "hello") {
					b.Fatal(err)
				}
			}
			_ = conn.Close()
			if err := s.Close(); err != nil {
				b.Error(err)
			}
			if err := a.Idle(b.Context()); err != nil {
				b.Error(err)
			}
			timebox.Wait(b, ended)
		})
	}
}
