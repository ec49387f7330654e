package http1

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestClientLeaves: a request ends when its client closes the connection, and not when it sends more, which is the next request's.
func TestClientLeaves(t *testing.T) {
	for _, c := range []struct {
		name string
		does func(client net.Conn)
		ends time.Duration // after which the context has ended
		next string
		fate Fate
	}{
		{"waits", func(net.Conn) {}, 10 * time.Second, "", Again},
		{"leaves", func(c net.Conn) { _ = c.Close() }, watchAfter, "", Ended},
		{"leaves later", func(c net.Conn) { time.Sleep(3 * time.Second); _ = c.Close() }, 3 * time.Second, "", Ended},
		{"asks for more", func(c net.Conn) { _, _ = io.WriteString(c, "P") }, 10 * time.Second, "P", Again},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, client := net.Pipe()
				defer client.Close()
				_ = server.SetReadDeadline(time.Now().Add(time.Second)) // of whoever has waited for the request
				begin := time.Now()
				s := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					select {
					case <-r.Context().Done():
					case <-time.After(10 * time.Second):
					}
					if took := time.Since(begin); took != c.ends {
						t.Errorf("ended after %v, not %v", took, c.ends)
					}
					w.WriteHeader(204)
				}))
				go func() {
					c.does(client)
					_, _ = io.Copy(io.Discard, client)
				}()
				r, _ := Request([]byte(asked))
				if got := s.Serve(t.Context(), server, "pipe", r, nil); string(got.Next) != c.next || got.Fate != c.fate || got.Status != 204 {
					t.Errorf("got %+v", got)
				}
				_ = server.Close()
			})
		})
	}
}

// TestClientsLeave: that a client has left is noticed as long after its own request began, whatever others are served.
func TestClientsLeave(t *testing.T) {
	const ms = time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(3 * ms):
				if r.Header.Get("Answer") == "late" {
					<-r.Context().Done()
				}
			}
		}))
		var all sync.WaitGroup
		for _, c := range []struct {
			begins, ends time.Duration
			answer       string
		}{
			{0, watchAfter, "late"},
			{1 * ms, 4 * ms, "soon"}, // it is answered, and leaves the others behind
			{2 * ms, 2*ms + watchAfter, "late"},
			{2 * ms, 2*ms + watchAfter, "late"},
			{4 * ms, 4*ms + watchAfter, "late"},
			{5 * ms, 8 * ms, "soon"}, // the last of those
			{time.Second, time.Second + watchAfter, "late"},
		} {
			all.Go(func() {
				server, client := net.Pipe()
				time.Sleep(c.begins)
				begin := time.Now()
				r, _ := Request([]byte(strings.Replace(asked, "\r\n", "\r\nAnswer: "+c.answer+"\r\n", 1)))
				if c.answer == "late" {
					_ = client.Close()
				} else {
					all.Go(func() { _, _ = io.Copy(io.Discard, client) })
				}
				s.Serve(t.Context(), server, "pipe", r, nil)
				if took := time.Since(begin); took != c.ends-c.begins {
					t.Errorf("%+v took %v", c, took)
				}
				_ = server.Close()
			})
		}
		all.Wait()
		time.Sleep(watchAfter)
		s.watches.mu.Lock()
		defer s.watches.mu.Unlock()
		if s.watches.runs || s.watches.list.Len() > 0 {
			t.Errorf("the timer runs: %v, for %d", s.watches.runs, s.watches.list.Len())
		}
	})
}

// breaking is a connection whose reader panics.
type breaking struct{ net.Conn }

func (breaking) Read([]byte) (int, error) { panic("so") }

// TestWatchPanics: a connection that can't be looked at takes nothing with it.
func TestWatchPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, client) }()
		var told []string
		s := newServer(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Second) }))
		s.Panicked = func(what string, v any) { told = append(told, fmt.Sprint(what, ": ", v)) }
		r, _ := Request([]byte(asked))
		if got := s.Serve(t.Context(), breaking{server}, "pipe", r, nil); got.Fate != Again || fmt.Sprint(told) != "[a connection was looked at: so]" {
			t.Errorf("%+v, told %q", got, told)
		}
		_ = server.Close()
	})
}
