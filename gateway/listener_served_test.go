package gateway

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/test/timebox"
)

// echoed answers with what it was asked.
var echoed = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.Header()["Date"] = nil
	body, err := io.ReadAll(r.Body)
	_, _ = fmt.Fprintf(w, "%s %s %v %d %q %v\n", r.Method, r.URL, r.Header, r.ContentLength, body, err)
})

// TestArrivalsChangeNoAnswer: in whatever pieces requests come, and whoever answers the plain ones, their answers are those that net/http gives when they come at once and
// nothing stands in front of it.
func TestArrivalsChangeNoAnswer(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	// What stands behind the request is none. net/http answers that; here who leaves in the middle of one has no answer (TestArrivalsThatLeave), be it the first or the second.
	const behind = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhello world"
	for _, request := range []string{
		"GET /a HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /a HTTP/1.0\nA: b\n\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\nhello world",
		behind,
		strings.Repeat("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", 3),
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloPOST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
		"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: more\r\n\r\nhello",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
		"POST /a HTTP/1.1\r\nHost: x\r\nA b\r\n\r\n",
		"POST /a HTTP/3.0\r\nHost: x\r\n\r\n",
		"HELO\r\n", "\x16\x03\x01\x00\x01a\n", "",
		"POST /a HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", 20<<10) + "\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n" + strings.Repeat("a", 20000),
	} {
		name, _, _ := strings.Cut(request, "\n")
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plain := &pipes{conns: make(chan any), closed: make(chan struct{})}
				want := exchange(t, plain, plain, []string{request})
				for n := range 40 {
					var pieces []string
					for rest := request; rest != ""; {
						n := 1 + rand.IntN(len(rest))
						if rand.IntN(2) == 0 {
							n = min(n, 1+rand.IntN(40))
						}
						pieces, rest = append(pieces, rest[:n]), rest[n:]
					}
					inner := &pipes{conns: make(chan any), closed: make(chan struct{})}
					a := newArrivals(&boundedListener{Listener: inner, all: g.connections}, false)
					if n%2 == 0 && request != behind {
						a.Answer(plainly(echoed))
					}
					if got := exchange(t, inner, a, pieces); got != want {
						t.Fatalf("in pieces %q\n%s\nwant\n%s", pieces, got, want)
					}
				}
			})
		})
	}
}

func plainly(h http.Handler) Answering {
	return Answering{Handler: h, BaseContext: context.Background, MaxHeader: http.DefaultMaxHeaderBytes, AnswerTimeout: time.Minute}
}

// TestArrivalsThatLeave: who ends the connection before the request is whole has no answer (RFC 9112 section 8 asks for none), and net/http
// has nothing of it.
func TestArrivalsThatLeave(t *testing.T) {
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	for _, first := range []string{"P", "POST /a HTTP/1.1\r\nHost: x\r\nA: b", "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\nhello world"} {
		synctest.Test(t, func(t *testing.T) {
			inner := &pipes{conns: make(chan any), closed: make(chan struct{})}
			a := newArrivals(&boundedListener{Listener: inner, all: g.connections}, false)
			accepted := 0
			got := exchange(t, inner, acceptances{a, &accepted}, []string{first})
			if got != "" || accepted != 0 {
				t.Errorf("%q: %d were accepted, answered %q", first, accepted, got)
			}
		})
	}
}

// acceptances counts what is accepted.
type acceptances struct {
	net.Listener
	accepted *int
}

func (l acceptances) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		*l.accepted++
	}
	return conn, err
}

// TestSlowBody: H7. A body that does not come has the answer that it has when net/http waits for it.
func TestSlowBody(t *testing.T) {
	g := start(t, document("Shop", "list"), "auth: {anonymous: true}\napis: [{name: shop, spec: $SPEC}]\n", "")
	synctest.Test(t, func(t *testing.T) {
		inner := &pipes{conns: make(chan any), closed: make(chan struct{})}
		s := &http.Server{Handler: g.Handler(), ReadHeaderTimeout: HeadPatience}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = s.Serve(newArrivals(&boundedListener{Listener: inner, all: g.connections}, false))
		}()
		server, client := net.Pipe()
		inner.conns <- remote{server, "127.0.0.1:1"}
		begin := time.Now()
		_, _ = io.WriteString(client, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
			"Content-Length: 100\r\n\r\n{")
		got, _ := io.ReadAll(client)
		if took := time.Since(begin); took < bodyPatience || took > 2*bodyPatience+time.Second { // which is net/http's, before it closes
			t.Errorf("answered after %v", took)
		}
		for _, part := range []string{"HTTP/1.1 408 Request Timeout\r\n", "\r\nConnection: close\r\n", "the body did not arrive in time"} {
			if !strings.Contains(string(got), part) {
				t.Errorf("no %q in %s", part, got)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	})
}

// exchange sends pieces to a server on l, which takes connections from inner, and returns the answer.
func exchange(t *testing.T, inner *pipes, l net.Listener, pieces []string) string {
	t.Helper()
	s := &http.Server{Handler: echoed, ReadHeaderTimeout: HeadPatience}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(l)
	}()
	server, client := net.Pipe()
	inner.conns <- remote{halves{server, make(chan struct{})}, "192.0.2.1:1"}
	answer := make(chan string)
	go func() {
		got, _ := io.ReadAll(client)
		answer <- string(got)
	}()
	for _, piece := range pieces {
		if _, err := io.WriteString(client, piece); err != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	_, _ = io.WriteString(client, endOfSending)
	got := <-answer
	_ = client.Close()
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	<-ended
	return got
}

// endOfSending stands for the end of what a client sends, which can't be said on a pipe without closing it.
const endOfSending = "\x00\x00end"

// halves is the side of a pipe that reads endOfSending as the end.
type halves struct {
	net.Conn
	ended chan struct{}
}

func (h halves) Read(p []byte) (int, error) {
	select {
	case <-h.ended:
		return 0, io.EOF
	default:
	}
	n, err := h.Conn.Read(p)
	if string(p[:n]) == endOfSending {
		close(h.ended)
		return 0, io.EOF
	}
	return n, err
}

// BenchmarkFirstRequest is a request on a connection of its own, with and without the wait in front of net/http.
func BenchmarkFirstRequest(b *testing.B) {
	g := start(b, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC}]\n", "")
	for _, way := range []struct {
		name   string
		listen func(net.Listener) net.Listener
	}{
		{"net/http", func(l net.Listener) net.Listener { return l }},
		{"arrivals", func(l net.Listener) net.Listener { return g.Listener(l) }},
	} {
		b.Run(way.name, func(b *testing.B) {
			var lc net.ListenConfig
			l, err := lc.Listen(b.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			s := &http.Server{Handler: echoed, ReadHeaderTimeout: HeadPatience}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = s.Serve(way.listen(l))
			}()
			request := "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: 200\r\n\r\n" + strings.Repeat("b", 200)
			var d net.Dialer
			in := bufio.NewReader(nil)
			for b.Loop() {
				conn, err := d.DialContext(b.Context(), "tcp", l.Addr().String())
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.WriteString(conn, request)
				in.Reset(conn)
				if _, err := in.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
				_ = conn.Close()
			}
			if err := s.Close(); err != nil {
				b.Error(err)
			}
			timebox.Wait(b, ended)
		})
	}
}
