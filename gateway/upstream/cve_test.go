package upstream

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

// TestCVE_2026_71324_LeftOnTheConnection is named after an advisory about another product: what a service sends beyond
// its answer, or before it is asked, must not become the answer to the next call, which may be another caller's.
func TestCVE_2026_71324_LeftOnTheConnection(t *testing.T) {
	const poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
	own := func(n int) string { return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nown-%d", n) }
	for name, answer := range map[string]func(n int) string{
		"after an answer":    func(n int) string { return own(n) + poison },
		"after many answers": func(n int) string { return own(n) + strings.Repeat(poison, 50) },
		"after chunks": func(int) string {
			return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nown-0\r\n0\r\n\r\n" + poison
		},
		"after no content":        func(int) string { return "HTTP/1.1 204 No Content\r\n\r\n" + poison },
		"a body where none is":    func(int) string { return "HTTP/1.1 304 Not Modified\r\nContent-Length: 43\r\n\r\n" + poison },
		"after an interim answer": func(n int) string { return "HTTP/1.1 103 Early Hints\r\n\r\n" + own(n) + poison },
		"with two lengths": func(int) string {
			return "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nown-0" + poison
		},
		"with length and chunks": func(int) string {
			return "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nown-0\r\n0\r\n\r\n" + poison
		},
		"as trailers of the answer": func(int) string {
			return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nown-0\r\n0\r\n" + poison + "\r\n\r\n"
		},
	} {
		t.Run(name, func(t *testing.T) {
			address, ended := poisoned(t, answer)
			client := newClient(Options{BaseURL: parse(t, "http://"+address)})
			defer client.Close()
			for range 20 {
				resp, err := client.Do(get(t, parse(t, "http://"+client.baseHost+"/")))
				if err == nil { // refused is as good
					body, _ := io.ReadAll(resp.Body)
					resp.Body.Close()
					if strings.Contains(string(body), "poison") {
						t.Fatalf("the answer is what was left on the connection: %d %q", resp.StatusCode, body)
					}
				}
				timebox.Wait(t, ended)
			}
		})
	}
}

// poisoned is a service that gives each request on a connection the answer, and more than that.
// ended tells of each connection that the client has given up.
func poisoned(t *testing.T, answer func(n int) string) (address string, ended <-chan struct{}) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	gone := make(chan struct{}, 100)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() {
					conn.Close()
					gone <- struct{}{}
				}()
				for r, n := bufio.NewReader(conn), 0; ; n = (n + 1) % 10 {
					_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
					if _, err := http.ReadRequest(r); err != nil {
						return
					}
					if _, err := io.WriteString(conn, answer(n)); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String(), gone
}
