package http1

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"drawbridge/test/timebox"
)

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
	// The connection is closed if an error is not what net/http gives.
	well := func(err error) {
		if err != nil {
			panic(http.ErrAbortHandler)
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
		"of no length": func(w http.ResponseWriter, _ *http.Request) {
			set("Content-Length", "0")(w)
			_, err := w.Write(nil)
			well(err)
			_, err = io.WriteString(w, "a")
			_, read := w.(io.ReaderFrom).ReadFrom(strings.NewReader("a"))
			if !errors.Is(err, http.ErrContentLength) || !errors.Is(read, http.ErrContentLength) {
				panic(http.ErrAbortHandler)
			}
		},
		"of no length, and pushed out": func(w http.ResponseWriter, _ *http.Request) {
			set("Content-Length", "0", "X-A", "1")(w)
			well(http.NewResponseController(w).Flush())
		},
		"no content, and nothing written": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(204)
			_, err := w.Write(nil)
			well(err)
			well(http.NewResponseController(w).Flush())
		},
		"a short one": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "abc") },
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
			well(http.NewResponseController(w).Flush())
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
			_, _ = fmt.Fprintf(w, "%s %s %s %q %d %v %q %v %v %v %v %v", r.Method, r.RequestURI, r.Host, r.Header, r.ContentLength, r.Close, b, err, again, r.Proto, r.TLS, r.RemoteAddr)
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
		"on one that was taken behind a status": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusAccepted)
			conn, _, err := http.NewResponseController(w).Hijack()
			well(err)
			_, _ = io.WriteString(conn, "raw")
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
	return timebox.Receive(t, read)
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
	timebox.Wait(t, ended)
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

// TestAfterwards: whoever still has the writer when its handler has returned, writes nothing.
func TestAfterwards(t *testing.T) {
	server, client := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, client) }()
	var kept http.ResponseWriter
	s := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { kept = w }))
	r, _ := Request([]byte(asked))
	s.Serve(t.Context(), server, "pipe", r, nil)
	_, write := io.WriteString(kept, "a")
	_, read := kept.(io.ReaderFrom).ReadFrom(strings.NewReader("a"))
	_, _, hijack := http.NewResponseController(kept).Hijack()
	for what, err := range map[string]error{"write": write, "read from": read, "flush": http.NewResponseController(kept).Flush(), "hijack": hijack} {
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_ = server.Close()
}

// TestBroken: nothing is written to a connection that is broken, and each who tries is told.
func TestBroken(t *testing.T) {
	server, client := net.Pipe()
	_ = client.Close()
	s := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, write := io.WriteString(w, strings.Repeat("a", 10))
		flush := http.NewResponseController(w).Flush()
		_, again := io.WriteString(w, "a")
		_, read := w.(io.ReaderFrom).ReadFrom(strings.NewReader("a"))
		_, _, hijack := http.NewResponseController(w).Hijack()
		if write != nil || !errors.Is(flush, io.ErrClosedPipe) || again != flush || read != flush || hijack != flush || r.Context().Err() == nil { //nolint:errorlint // the same is wanted
			t.Errorf("%v, %v, %v, %v, %v, %v", write, flush, again, read, hijack, r.Context().Err())
		}
	}))
	r, _ := Request([]byte(asked))
	if got := s.Serve(t.Context(), server, "pipe", r, []byte("next")); got.Fate != Ended {
		t.Errorf("got %+v", got)
	}
	_ = server.Close()
}

// TestPushedOut: a request goes on when a part of its answer is sent.
func TestPushedOut(t *testing.T) {
	here(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "one")
		if err := http.NewResponseController(w).Flush(); err != nil || r.Context().Err() != nil {
			t.Errorf("%v, %v", err, r.Context().Err())
		}
	}))
}

// TestBrokenBetween: an answer ends with its connection, and its handler is told.
func TestBrokenBetween(t *testing.T) {
	const length = 4 * held
	for name, write := range map[string]func(w http.ResponseWriter, all string) (int64, error){
		"write": func(w http.ResponseWriter, all string) (int64, error) {
			n, err := io.WriteString(w, all)
			return int64(n), err
		},
		"read from": func(w http.ResponseWriter, all string) (int64, error) {
			return w.(io.ReaderFrom).ReadFrom(strings.NewReader(all))
		},
	} {
		server, client := net.Pipe()
		go func() {
			_, _ = io.ReadFull(client, make([]byte, held+10))
			_ = client.Close()
		}()
		s := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(length))
			n, err := write(w, strings.Repeat("a", length))
			if n <= 0 || n >= length || !errors.Is(err, io.ErrClosedPipe) || r.Context().Err() == nil {
				t.Errorf("%s: %d, %v, %v", name, n, err, r.Context().Err())
			}
		}))
		r, _ := Request([]byte(asked))
		if got := s.Serve(t.Context(), server, "pipe", r, []byte("next")); got.Fate != Ended {
			t.Errorf("%s: %+v", name, got)
		}
		_ = server.Close()
	}
}

// TestLengthThatIsNone: what is no length is not sent, and the answer has the length that it has.
func TestLengthThatIsNone(t *testing.T) {
	for _, length := range []string{"a", "-1", ""} {
		got := here(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", length)
			w.Header().Set("Content-Type", "a/b")
			w.Header().Set("Date", "today")
			_, _ = io.WriteString(w, "abc")
		}))
		if want := strings.Repeat("HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nDate: today\r\nContent-Length: 3\r\n\r\nabc", 2); got != want {
			t.Errorf("%q: %q", length, got)
		}
	}
}
