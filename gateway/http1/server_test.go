package http1

import (
	"bufio"
	"context"
	"errors"
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

// asked is a plain request.
const asked = "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"

// TestAnswers: whatever a handler does with its writer, the client gets what net/http gives it: heads to the byte, and bodies in whatever chunks.
func TestAnswers(t *testing.T) {
	long := strings.Repeat("a line of an answer that is long.\n", 300)
	set := func(pairs ...string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			for n := 0; n < len(pairs); n += 2 {
				w.Header().Set(pairs[n], pairs[n+1])
			}
		}
	}
	for name, handler := range map[string]func(w http.ResponseWriter, r *http.Request){
		"nothing":            func(http.ResponseWriter, *http.Request) {},
		"a status":           func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) },
		"two of them":        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404); w.WriteHeader(200) },
		"one without a name": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(299) },
		"no content": func(w http.ResponseWriter, _ *http.Request) {
			set("Content-Length", "3")(w)
			w.WriteHeader(204)
			_, err := io.WriteString(w, "abc")
			fmt.Fprint(w, err)
		},
		"not modified": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) },
		"a short one":  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "abc") },
		"a typed one": func(w http.ResponseWriter, _ *http.Request) {
			set("Content-Type", "application/json", "X-B", "1", "X-A", "a\r\nInjected: b")(w)
			_, _ = io.WriteString(w, "{}")
		},
		"a packed one without a type": func(w http.ResponseWriter, _ *http.Request) {
			set("Content-Encoding", "gzip")(w)
			_, _ = io.WriteString(w, "{}")
		},
		"of more than a buffer": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, long) },
		"of more, in small steps": func(w http.ResponseWriter, _ *http.Request) {
			for n := 0; n < len(long); n += 100 {
				_, _ = io.WriteString(w, long[n:n+100])
			}
		},
		"of a buffer less a byte": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, long[:held/2-1]) },
		"of a buffer":             func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, long[:held/2]) },
		"pushed out before":       func(w http.ResponseWriter, _ *http.Request) { _ = http.NewResponseController(w).Flush() },
		"pushed out between": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "one")
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, "two")
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, long)
		},
		"of a known length": func(w http.ResponseWriter, _ *http.Request) {
			set("Content-Length", fmt.Sprint(len(long)))(w)
			_, _ = io.WriteString(w, long[:10])
			_, _ = io.WriteString(w, long[10:])
		},
		"shorter than it says": func(w http.ResponseWriter, _ *http.Request) {
			set("Content-Length", "10")(w)
			_, _ = io.WriteString(w, "abc")
		},
		"longer than it says": func(w http.ResponseWriter, _ *http.Request) {
			set("Content-Length", "2")(w)
			_, err := io.WriteString(w, "abc")
			_, _ = io.WriteString(w, map[bool]string{true: "ok", false: "no"}[errors.Is(err, http.ErrContentLength)])
		},
		"read from elsewhere": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.(io.ReaderFrom).ReadFrom(strings.NewReader(long))
		},
		"read from elsewhere, of a known length": func(w http.ResponseWriter, _ *http.Request) {
			set("Content-Length", fmt.Sprint(len(long)), "Content-Type", "text/plain")(w)
			_, _ = w.(io.ReaderFrom).ReadFrom(strings.NewReader(long))
		},
		"that ends the connection": func(w http.ResponseWriter, _ *http.Request) {
			set("Connection", "close")(w)
			_, _ = io.WriteString(w, "abc")
		},
		"with a date": func(w http.ResponseWriter, _ *http.Request) { set("Date", "today")(w) },
		"an error":    func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusServiceUnavailable) },
		"broken off": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, long)
			panic(http.ErrAbortHandler)
		},
		"broken off before": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "abc")
			panic(http.ErrAbortHandler)
		},
		"what was asked": func(w http.ResponseWriter, r *http.Request) {
			b, err := io.ReadAll(r.Body)
			_, again := r.Body.Read(make([]byte, 1))
			_, _ = fmt.Fprintf(w, "%s %s %s %q %d %v %q %v %v %v %v", r.Method, r.RequestURI, r.Host, r.Header, r.ContentLength, r.Close, b, err, again, r.Proto, r.TLS)
		},
		"on a connection that was taken": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, err = io.WriteString(w, "abc")
			_, _, again := http.NewResponseController(w).Hijack()
			_, _ = fmt.Fprint(conn, err, again)
			_ = conn.Close()
		},
		"on one that was taken in the middle": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "abc")
			_ = http.NewResponseController(w).Flush()
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, "raw")
			_ = conn.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := http.HandlerFunc(handler)
				if got, want := heard(here(t, h)), heard(theirs(t, h, asked+asked)); got != want {
					t.Errorf("got\n%.2000s\nwant\n%.2000s", got, want)
				}
			})
		})
	}
}

// heard is what a client understands of answers.
func heard(answers string) string {
	var all strings.Builder
	for in := bufio.NewReader(strings.NewReader(answers)); ; {
		if _, err := in.Peek(1); err != nil {
			return all.String()
		}
		rest, _ := in.Peek(in.Buffered())
		head, _, _ := strings.Cut(string(rest), "\r\n\r\n")
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			fmt.Fprintf(&all, "%q %v\n", rest, err)
			return all.String()
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil { // how much of an answer that was broken off is out, is not the handler's to know
			body = nil
		}
		fmt.Fprintf(&all, "%q, %v\n%d bytes %q, %v\n", head, resp.Close, len(body), body, err)
	}
}

// here is what a client reads that asks twice.
func here(t *testing.T, h http.Handler) string {
	t.Helper()
	server, client := net.Pipe()
	read := make(chan string)
	go func() {
		got, _ := io.ReadAll(client)
		read <- string(got)
	}()
	s := newServer(t, h)
	fate := Again
	for b := []byte(asked + asked); fate == Again && len(b) > 0; {
		r, size := Request(b)
		if r == nil || size != len(asked) {
			t.Fatalf("%q is not plain, or has %d bytes", b, size)
		}
		result := s.Serve(t.Context(), server, "pipe", r, b[size:])
		b, fate = result.Next, result.Fate
	}
	if fate != Taken {
		_ = server.Close()
	}
	return <-read
}

func newServer(t *testing.T, h http.Handler) *Server {
	return &Server{
		Handler: h, Closing: func() bool { return false }, AnswerTimeout: time.Second, Took: func(net.Conn) {},
		Panicked: func(what string, v any) { t.Errorf("%s: %v", what, v) },
	}
}

// theirs is what a client reads that sends these bytes to net/http, and no more.
func theirs(t testing.TB, h http.Handler, sent string) string {
	t.Helper()
	server, client := net.Pipe()
	l := &single{conn: make(chan net.Conn, 1)}
	l.conn <- ending{server, strings.NewReader(sent)}
	s := &http.Server{Handler: h}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(l)
	}()
	got, _ := io.ReadAll(client)
	_ = s.Close()
	<-ended
	return string(got)
}

// single is a listener of one connection.
type single struct{ conn chan net.Conn }

func (l *single) Accept() (net.Conn, error) {
	c, ok := <-l.conn
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (l *single) Close() error   { close(l.conn); return nil }
func (l *single) Addr() net.Addr { return &net.TCPAddr{} }

// ending is a connection whose client has sent all that it will.
type ending struct {
	net.Conn
	sent io.Reader
}

func (c ending) Read(p []byte) (int, error) { return c.sent.Read(p) }

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
	if h := <-header; fate != Ended || h.Get("Close") != "true" {
		t.Errorf("fate %v, close %v", fate, h)
	}
	_ = server.Close()
}
