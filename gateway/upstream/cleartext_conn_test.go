package upstream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/test/timebox"
)

// TestCleartextNotRepeated: what ends for another reason than a broken connection is sent once, whatever its method, and the other
// idle connections stay.
func TestCleartextNotRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		body io.ReadCloser
		then string // comes instead of an answer, before the connection ends
		want string
		took time.Duration
	}{
		"no answer in time":           {nil, "", "i/o timeout", 10 * time.Second},
		"an answer that breaks off":   {nil, "H", "within the head of the answer", 0},
		"a body that can't be read":   {io.NopCloser(readerFunc(func([]byte) (int, error) { return 0, os.ErrInvalid })), "", os.ErrInvalid.Error(), 0},
		"a body that is not so long":  {io.NopCloser(strings.NewReader("x")), "", "http: ContentLength=2 with Body length 1", 0},
		"a body that is much shorter": {io.NopCloser(strings.NewReader("")), "", "http: ContentLength=2 with Body length 0", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var requests, open atomic.Int64
				over := newPipedCleartext(func(context.Context, string, string) (net.Conn, error) {
					open.Add(1)
					here, there := net.Pipe()
					go func() {
						defer there.Close()
						for r := bufio.NewReader(there); ; {
							if _, err := http.ReadRequest(r); err != nil {
								return
							}
							if requests.Add(1) <= 3 {
								time.Sleep(time.Second) // so that three calls need three connections
								_, _ = io.WriteString(there, short)
							} else if c.then != "" {
								_, _ = io.WriteString(there, c.then)
								return
							}
						}
					}()
					return &counted{quiet: quiet{here}, open: &open}, nil
				}, 10*time.Second, 3)
				defer over.close()
				done := make(chan said)
				for range 3 {
					go func() { done <- hear(t, over, "GET") }()
				}
				for range 3 {
					if got := <-done; got.Body != "ok" {
						t.Fatal(got)
					}
				}
				req, err := http.NewRequestWithContext(t.Context(), "GET", "http://service.example/", nil)
				if err != nil {
					t.Fatal(err)
				}
				if c.body != nil {
					req.Body, req.ContentLength = c.body, 2
					req.GetBody = func() (io.ReadCloser, error) { return c.body, nil }
				}
				begin := time.Now()
				resp, err := over.RoundTrip(req)
				if err == nil {
					resp.Body.Close()
					t.Fatal("no error")
				}
				if took := time.Since(begin); !strings.Contains(err.Error(), c.want) || took != c.took || open.Load() != 2 {
					t.Errorf("%v after %s, %d connections are left; want %s after %s, 2", err, took, open.Load(), c.want, c.took)
				}
			})
		})
	}
}

// TestCleartextEnded: of a call that has ended nothing is sent, and it costs no connection.
func TestCleartextEnded(t *testing.T) {
	var heads atomic.Int64
	connections := 0
	pipe := spoken(short, short)
	over := newPipedCleartext(func(ctx context.Context, network, address string) (net.Conn, error) {
		connections++
		return pipe(ctx, network, address)
	}, time.Minute, 1)
	defer over.close()
	if got := hear(t, over, "GET"); got.Body != "ok" {
		t.Fatal(got)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrProcessDone)
	closed := false
	req, err := http.NewRequestWithContext(ctx, "POST", "http://service.example/", readerFunc(func([]byte) (int, error) {
		heads.Add(1)
		return 0, io.EOF
	}))
	if err != nil {
		t.Fatal(err)
	}
	req.Body, req.ContentLength = closing{req.Body, &closed}, 1
	resp, err := over.RoundTrip(req)
	if err == nil {
		resp.Body.Close()
	}
	if !errors.Is(err, os.ErrProcessDone) || heads.Load() != 0 || !closed {
		t.Errorf("%v; the body was read %d times and closed: %t", err, heads.Load(), closed)
	}
	if got := hear(t, over, "GET"); got.Body != "ok" || connections != 1 {
		t.Errorf("%v, %d connections", got, connections)
	}
}

// TestCleartextGoesAway: a call that ends before its answer comes says why, and takes its connection with it.
func TestCleartextGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		over := newPipedCleartext(func(context.Context, string, string) (net.Conn, error) {
			open.Add(1)
			here, there := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, there); there.Close() }()
			return &counted{quiet: quiet{here}, open: &open}, nil
		}, time.Minute, 1)
		defer over.close()
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(os.ErrProcessDone) })
		req, err := http.NewRequestWithContext(ctx, "GET", "http://service.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := over.RoundTrip(req)
		if err == nil {
			resp.Body.Close()
		}
		if !errors.Is(err, os.ErrProcessDone) || open.Load() != 0 {
			t.Errorf("%v, %d connections are left", err, open.Load())
		}
	})
}

// TestCleartextHead: a head may be as long as heads may be, in whatever pieces it comes, and no byte longer.
func TestCleartextHead(t *testing.T) {
	for more, want := range []string{"200 <nil>", "0 the head of the answer is longer than 65536 bytes"} {
		head := "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: %s\r\n\r\n"
		head = fmt.Sprintf(head, strings.Repeat("x", maxHeaderBytes-len(head)+len("%s")+more))
		over := newPipedCleartext(func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go func() {
				readRequest(there)
				for piece := range slices.Chunk([]byte(head), 1000) {
					_, _ = there.Write(piece)
				}
				there.Close()
			}()
			return quiet{here}, nil
		}, time.Minute, 1)
		defer over.close()
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://service.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		status := 0
		resp, err := over.RoundTrip(req)
		if err == nil {
			status = resp.StatusCode
			resp.Body.Close()
		}
		if got := fmt.Sprint(status, " ", err); got != want {
			t.Errorf("%d bytes: %s, want %s", len(head), got, want)
		}
	}
}

// TestCleartextEarly: an answer that comes before the request is whole is the answer, also if the service takes no more of the request;
// its connection is not used again.
func TestCleartextEarly(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   string
	}{
		"an answer":          {"HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno", `413 "no"` + "\n"},
		"no body":            {"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", `401 ""` + "\n"},
		"none":               {"", new(Error{Kind: Truncated, API: "orders"}).lines()},
		"an interim answer":  {"HTTP/1.1 100 Continue\r\n\r\n", new(Error{Kind: Truncated, API: "orders"}).lines()},
		"a part of a body":   {"HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nno", new(Error{Kind: Truncated, API: "orders"}).lines()},
		"before an interim":  {"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\nno", `409 "no"` + "\n"},
		"that says to close": {"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno", `413 "no"` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			gone := make(chan struct{})
			address := listen(t, func(conn net.Conn) {
				readRequest(conn)
				_, _ = io.WriteString(conn, c.answer)
				conn.Close() // bytes of the body that nobody read, or that come now, reset the connection
				close(gone)
			})
			client := newClient(Options{Name: "orders", BaseURL: address})
			defer client.Close()
			sent := 0
			req := get(t, address)
			req.Method, req.ContentLength = http.MethodPost, 8<<10
			req.Body = io.NopCloser(readerFunc(func(p []byte) (int, error) {
				switch sent++; sent {
				case 1, 2:
				case 3:
					return 0, io.EOF
				}
				if sent == 2 {
					timebox.Wait(t, gone)
				}
				return copy(p, strings.Repeat("x", 4<<10)), nil
			}))
			if got := outcome(client, req); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if n := len(client.pool.current.Load().cleartext.idle); n != 0 {
				t.Errorf("connections to %d hosts are kept", n)
			}
		})
	}
}

// lines is what outcome says of an error.
func (e *Error) lines() string { return fmt.Sprintf("%s\n%s\n", e.Kind, e.ToolMessage()) }

// TestCleartextLow: after an answer that has no number of a final one the connection is not used again, as by net/http.
func TestCleartextLow(t *testing.T) {
	for _, status := range []string{"101 Switching Protocols", "099 Low", "000 None"} {
		over := newPipedCleartext(spoken("HTTP/1.1 "+status+"\r\nContent-Length: 0\r\n\r\n"), time.Minute, 1)
		defer over.close()
		if got := hear(t, over, "GET"); fmt.Sprintf("%03d", got.Status) != status[:3] || len(over.idle) != 0 {
			t.Errorf("%s: %d, %d connections are kept", status, got.Status, len(over.idle))
		}
	}
}

// TestCleartextBody: a body ends once, in one way, and its connection is kept only if it was read to its end.
func TestCleartextBody(t *testing.T) {
	read := func(b io.Reader, n int) string {
		got := make([]byte, n)
		n, err := io.ReadFull(b, got)
		return fmt.Sprintf("%s %v", got[:n], err)
	}
	for name, c := range map[string]struct {
		answer string
		with   func(b io.ReadCloser, cancel func()) string
		want   string
		kept   int
	}{
		"read to its end": {short, func(b io.ReadCloser, cancel func()) string {
			first := read(b, 2)
			cancel() // too late
			return fmt.Sprint(first, ", ", b.Close(), b.Close(), ", ", read(b, 1))
		}, "ok <nil>, <nil> <nil>,  EOF", 1},
		"closed before its end": {short, func(b io.ReadCloser, _ func()) string {
			first := read(b, 1)
			return fmt.Sprint(first, ", ", b.Close(), b.Close(), ", ", read(b, 1))
		}, "o <nil>, <nil> <nil>,  http: invalid Read on closed Body", 0},
		"cancelled before its end": {short, func(b io.ReadCloser, cancel func()) string {
			cancel()
			synctest.Wait()
			return fmt.Sprint(read(b, 2), ", ", b.Close())
		}, "ok <nil>, <nil>", 0},
		"cancelled while it is read": {strings.Replace(short, ": 2", ": 3", 1), func(b io.ReadCloser, cancel func()) string {
			time.AfterFunc(time.Minute, cancel) // longer than a head may take
			return fmt.Sprint(read(b, 2), ", ", read(b, 1), ", ", read(b, 1), ", ", b.Close())
		}, "ok <nil>,  io: read/write on closed pipe,  http: invalid Read on closed Body, <nil>", 0},
		"closed while it is read": {strings.Replace(short, ": 2", ": 3", 1), func(b io.ReadCloser, _ func()) string {
			time.AfterFunc(time.Minute, func() { b.Close() })
			return fmt.Sprint(read(b, 2), ", ", read(b, 1), ", ", read(b, 1))
		}, "ok <nil>,  io: read/write on closed pipe,  http: invalid Read on closed Body", 0},
		"that does not come": {"HTTP/1.1 200 OK\r\n\r\nok", func(b io.ReadCloser, cancel func()) string {
			time.AfterFunc(time.Minute, cancel)
			return fmt.Sprint(read(b, 3), ", ", b.Close())
		}, "ok io: read/write on closed pipe, <nil>", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				over := newPipedCleartext(func(context.Context, string, string) (net.Conn, error) {
					here, there := net.Pipe()
					go func() {
						readRequest(there)
						_, _ = io.WriteString(there, c.answer)
						_, _ = io.Copy(io.Discard, there)
						there.Close()
					}()
					return quiet{here}, nil
				}, 10*time.Second, 1)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				req, err := http.NewRequestWithContext(ctx, "GET", "http://service.example/", nil)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := over.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				if got := c.with(resp.Body, cancel); got != c.want || len(over.idle["service.example"]) != c.kept {
					t.Errorf("%s, %d connections are kept; want %s, %d", got, len(over.idle["service.example"]), c.want, c.kept)
				}
				over.close()
			})
		})
	}
}

// TestCleartextOwnAnswers: whoever goes away beside them, and when, calls get the answers to their own requests.
func TestCleartextOwnAnswers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Asked", r.URL.Path)
		if _, err := io.WriteString(w, strings.Repeat(r.URL.Path+"\n", 200)); err != nil {
			return // nobody listens
		}
	}))
	defer server.Close()
	base := parse(t, server.URL)
	client := newClient(Options{Name: "orders", BaseURL: base, MaxIdle: 4})
	defer client.Close()
	var calls sync.WaitGroup
	var good atomic.Int64
	for caller := range 8 {
		calls.Go(func() {
			for n := range 150 {
				path := fmt.Sprintf("/%d/%d", caller, n)
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+path, strings.NewReader(path))
				if err != nil {
					t.Error(err)
				}
				if n%3 == 1 {
					time.AfterFunc(time.Duration(n)*5*time.Microsecond, cancel)
				}
				resp, err := client.Do(req)
				if err == nil {
					if asked := resp.Header.Get("Asked"); asked != path {
						t.Errorf("%s got the answer to %s", path, asked)
					}
					if n%3 == 2 {
						_, _ = resp.Body.Read(make([]byte, n)) // the rest is not wanted
					} else if text, failed := io.ReadAll(resp.Body); failed != nil {
						err = failed
					} else if string(text) != strings.Repeat(path+"\n", 200) {
						t.Errorf("%s got the body %.50q", path, text)
					} else {
						good.Add(1)
					}
					resp.Body.Close()
				}
				if err != nil && n%3 != 1 {
					t.Errorf("%s: %v", path, err)
				}
				cancel()
			}
		})
	}
	timebox.Done(t, calls.Wait)
	if good.Load() < 8*50 {
		t.Errorf("%d answers", good.Load())
	}
}

// FuzzCleartextNext: whatever comes over a connection, in whatever pieces, and however the call ends that it is for, the next call gets
// its own answer, though it may be sent once only.
func FuzzCleartextNext(f *testing.F) {
	for _, answer := range answers {
		for how := range uint8(8) {
			f.Add(answer, uint8(0), how)
			f.Add(answer, uint8(20), how)
			f.Add(answer+short, uint8(0), how)
			f.Add(answer+"\r\n", uint8(1), how)
		}
	}
	f.Fuzz(func(t *testing.T, answer string, most, how uint8) {
		if len(answer) > 16<<10 { // the sockets hold it
			t.Skip()
		}
		const second = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond"
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		done := make(chan struct{})
		connections := 0
		over := newCleartext(func(context.Context, string, string) (net.Conn, error) {
			here, there := sockets(t)
			say := second
			if connections++; connections == 1 {
				say = answer
			}
			first := connections == 1
			go func() {
				defer there.Close()
				for r := bufio.NewReader(there); ; say, first = second, false {
					_ = there.SetReadDeadline(time.Now().Add(time.Minute))
					if _, err := http.ReadRequest(r); err != nil {
						return
					}
					_, _ = io.WriteString(there, say)
					if first && how&4 != 0 {
						there.Close()
					}
					if first {
						close(done)
					}
				}
			}()
			if connections == 1 {
				return &pieces{UnixConn: here, most: 1 + int(most), left: len(answer), dry: cancel}, nil
			}
			return here, nil
		}, time.Minute, 1)
		defer over.close()
		method := "GET"
		if how&8 != 0 {
			method = "HEAD"
		}
		req, err := http.NewRequestWithContext(ctx, method, "http://service.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := over.RoundTrip(req); err == nil {
			switch how & 3 {
			case 0:
				_, _ = io.Copy(io.Discard, resp.Body)
			case 1:
				_, _ = resp.Body.Read(make([]byte, 5))
			case 2:
				cancel()
				_, _ = io.Copy(io.Discard, resp.Body)
			}
			resp.Body.Close()
		}
		timebox.Wait(t, done)
		if got := hear(t, over, "POST"); got.Status != 200 || got.Body != "second" {
			t.Errorf("after %q: %+v, %d connections", answer, got, connections)
		}
	})
}

// sockets returns the two ends of a connection, of which the one gets at once what is written to the other.
func sockets(t testing.TB) (here, there *net.UnixConn) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*net.UnixConn
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "socket")
		conn, err := net.FileConn(file)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		ends[i], _ = conn.(*net.UnixConn)
	}
	return ends[0], ends[1]
}

// pieces is a connection from which few bytes come at a time; dry is called where there are no more.
type pieces struct {
	*net.UnixConn
	most, left int
	dry        func()
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.left == 0 {
		p.dry()
	}
	n, err := p.UnixConn.Read(b[:min(len(b), p.most)])
	p.left -= n
	return n, err
}
