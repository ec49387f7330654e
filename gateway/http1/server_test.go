package http1

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/test/timebox"
)

// asked is a plain request.
const asked = "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"

func newServer(t *testing.T, h http.Handler) *Server {
	return &Server{
		Handler: h, Closing: func() bool { return false }, AnswerTimeout: time.Second, Took: func(net.Conn) {},
		Panicked: func(what string, v any) { t.Errorf("%s: %v", what, v) },
	}
}

// TestTaken: who takes a connection has what its client has sent behind its request, and no deadline.
func TestTaken(t *testing.T) {
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			server, client := net.Pipe()
			defer client.Close()
			var took net.Conn
			s := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if late {
					time.Sleep(time.Second) // the connection is watched
				}
				if _, err := io.WriteString(w, "a"); err != nil {
					t.Error(err)
				}
				conn, rw, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				there, _ := rw.Reader.Peek(rw.Reader.Buffered())
				time.Sleep(time.Minute)
				rest := make([]byte, 4-len(there))
				_, err = io.ReadFull(conn, rest)
				if took != conn || string(there)+string(rest) != "next" || err != nil {
					t.Errorf("took %v, %q and %q, %v", took, there, rest, err)
				}
			}))
			s.Took = func(c net.Conn) { took = c }
			after := "ne"
			if late {
				after = ""
			}
			go func() { _, _ = io.WriteString(client, "next"[len(after):]) }()
			go func() { _, _ = io.Copy(io.Discard, client) }()
			r, _ := Request([]byte(asked))
			if got := s.Serve(t.Context(), server, "pipe", r, []byte(after)); got.Fate != Taken || got.Next != nil {
				t.Errorf("got %+v", got)
			}
			_ = server.Close()
		})
	}
}

// TestAnswersThatAreNotRead: a client that reads nothing ends its request, by the time that a write has if the handler gives it none.
func TestAnswersThatAreNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		defer client.Close()
		begin := time.Now()
		s := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, err := io.WriteString(w, strings.Repeat("a", 2*held))
			if took := time.Since(begin); err == nil || took != time.Second || r.Context().Err() == nil {
				t.Errorf("%v after %v, %v", err, took, r.Context().Err())
			}
		}))
		r, _ := Request([]byte(asked))
		if got := s.Serve(t.Context(), server, "pipe", r, nil); got.Fate != Ended {
			t.Errorf("got %+v", got)
		}
		_ = server.Close()
	})
}

// TestDeadlineOfHandler: a write has the time that the handler gives it.
func TestDeadlineOfHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		defer client.Close()
		begin := time.Now()
		s := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).SetWriteDeadline(begin.Add(3 * time.Second))
			n, err := io.WriteString(w, strings.Repeat("a", 2*held))
			if took := time.Since(begin); n != 0 || err == nil || took != 3*time.Second {
				t.Errorf("%d, %v after %v", n, err, took)
			}
		}))
		r, _ := Request([]byte(asked))
		s.Serve(t.Context(), server, "pipe", r, nil)
		_ = server.Close()
	})
}

// TestPanics: a handler that panics has its connection closed, and the panic is told.
func TestPanics(t *testing.T) {
	server, client := net.Pipe()
	defer client.Close()
	var told []string
	s := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "a")
		panic("so")
	}))
	s.Panicked = func(what string, v any) { told = append(told, fmt.Sprint(what, ": ", v)) }
	r, _ := Request([]byte(asked))
	fate := s.Serve(t.Context(), server, "pipe", r, nil).Fate
	if fate != Ended || fmt.Sprint(told) != "[a request was served: so]" {
		t.Errorf("fate %v, told %q", fate, told)
	}
	_ = server.Close()
}

// TestClosing: the last answer of a connection says so.
func TestClosing(t *testing.T) {
	server, client := net.Pipe()
	s := newServer(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Closing = func() bool { return true }
	header := make(chan http.Header, 1)
	go func() {
		resp, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil {
			t.Error(err)
			header <- nil
			return
		}
		defer resp.Body.Close()
		header <- http.Header{"Close": {fmt.Sprint(resp.Close)}}
	}()
	r, _ := Request([]byte(asked))
	fate := s.Serve(context.Background(), server, "pipe", r, nil).Fate
	if h := timebox.Receive(t, header); fate != Ended || h.Get("Close") != "true" {
		t.Errorf("fate %v, close %v", fate, h)
	}
	_ = server.Close()
}

// TestPanicsLater: nobody reads the connection of a request that is over, however it has ended.
func TestPanicsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		s := newServer(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			time.Sleep(time.Second) // the connection is watched
			panic(http.ErrAbortHandler)
		}))
		r, _ := Request([]byte(asked))
		s.Serve(t.Context(), server, "pipe", r, nil)
		go func() {
			_, _ = io.WriteString(client, "more")
			_ = client.Close()
		}()
		if more, err := io.ReadAll(server); string(more) != "more" || err != nil {
			t.Errorf("%q, %v", more, err)
		}
		_ = server.Close()
	})
}
