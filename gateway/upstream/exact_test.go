package upstream

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"

	"drawbridge/test/timebox"
)

// TestExact: net/http repeats by itself what it takes for replayable, on a connection that was used before and ends without an
// answer, and so do calls in the clear. None does where nobody may, and what is sent is what was sent without that (L5).
func TestExact(t *testing.T) {
	t.Run("in the clear", func(t *testing.T) { testExact(t, nil) })
	t.Run("by net/http", func(t *testing.T) { testExact(t, []string{strings.Repeat("x", maxWritten)}) })
}

// testExact sends requests with a header that makes them long.
func testExact(t *testing.T, long []string) {
	for _, c := range []struct {
		method, key, body string
		repeat            RetryPolicy
		want              int64 // requests, with the first, which warms the connection up
	}{
		{"GET", "", "", RetryByMethod, 3}, // by net/http
		{"GET", "", "", RetryNever, 2},
		{"GET", "", "", NoRetry, 3}, // for who repeats by himself
		{"DELETE", "", "", RetryNever, 2},
		{"HEAD", "", "", RetryNever, 2},
		{"OPTIONS", "", "", RetryNever, 2},
		{"GET", "", "body", RetryNever, 2},
		{"PUT", "", "body", RetryNever, 2},
		{"POST", "", "body", RetryByMethod, 2},
		{"POST", "Idempotency-Key", "body", RetryByMethod, 2},
		{"POST", "Idempotency-Key", "", RetryByMethod, 2},
		{"POST", "X-Idempotency-Key", "body", RetryByMethod, 2},
		{"POST", "X-Idempotency-Key", "", RetryNever, 2},
		{"GET", "Idempotency-Key", "", RetryNever, 2},
		{"POST", "Idempotency-Key", "body", RetryAlways, 3},
		{"POST", "no value", "body", RetryByMethod, 3}, // our own code's word that it may be repeated
	} {
		t.Run(fmt.Sprint(c.method, c.repeat, c.key, c.body), func(t *testing.T) {
			var requests atomic.Int64
			heads := make(chan string, 10)
			address := listen(t, func(conn net.Conn) {
				for r := bufio.NewReader(conn); ; {
					head := readRequest(r)
					if head == "" {
						return
					}
					if strings.Contains(head, "Content-Length: 4") {
						_, _ = io.ReadFull(r, make([]byte, 4))
					}
					n := requests.Add(1)
					heads <- head
					if n == 2 {
						return // it was read, and the connection ends without a word
					}
					fmt.Fprint(conn, "HTTP/1.1 204 No Content\r\n\r\n")
				}
			})
			client := newClient(Options{Name: "orders", BaseURL: address})
			defer client.Close()
			warm := get(t, address)
			warm.Header["Long"] = long
			if got := outcome(client, warm); got != "204 \"\"\n" {
				t.Fatal(got)
			}
			timebox.Wait(t, heads)
			var body io.Reader
			if c.body != "" {
				body = strings.NewReader(c.body)
			}
			req, err := http.NewRequestWithContext(t.Context(), c.method, address.String(), body)
			if err != nil {
				t.Fatal(err)
			}
			req.Header["Long"] = long
			switch c.key {
			case "":
			case "no value":
				req.Header["Idempotency-Key"] = []string{}
			default:
				req.Header.Set(c.key, "k1")
			}
			resp, _, err := client.Send(req, c.repeat, LimitHeader)
			if err == nil {
				resp.Body.Close()
			}
			if (err == nil) != (c.want == 3) || requests.Load() != c.want {
				t.Errorf("%d requests, want %d; %v", requests.Load(), c.want, err)
			}
			head := strings.ToLower(timebox.Receive(t, heads))
			if strings.Contains(head, "transfer-encoding") || strings.HasSuffix(c.key, "Key") && !strings.Contains(head, strings.ToLower(c.key)+": k1\r\n") ||
				strings.Contains(head, "content-length") != (c.body != "" || c.method == "POST") {
				t.Errorf("sent:\n%s", head)
			}
		})
	}
}

// TestExactOfAnother: what is made within a marked request, such as one for a token, is not marked by that.
func TestExactOfAnother(t *testing.T) {
	marked := markNoReplay(get(t, parse(t, "http://orders.example.com/")), RetryNever)
	if !isNoReplay(marked.Context()) {
		t.Fatal("it is not marked")
	}
	for repeat, want := range map[RetryPolicy]bool{RetryNever: true, RetryByMethod: false, RetryAlways: false} {
		if own := markNoReplay(get(t, parse(t, "http://login.example.com/")).WithContext(marked.Context()), repeat); isNoReplay(own.Context()) != want {
			t.Errorf("%v: marked is %t, want %t", repeat, !want, want)
		}
	}
}

// TestExactHTTP2: over HTTP/2 a marked request is sent once, where the service does not say that it has not looked at it.
func TestExactHTTP2(t *testing.T) {
	for _, method := range []string{"GET", "PUT"} {
		var requests atomic.Int64
		server, pool := framed(t, &requests, func(f *http2.Framer, stream uint32) { _ = f.WriteRSTStream(stream, http2.ErrCodeProtocol) })
		client := impatient(newClient(Options{Name: "orders", BaseURL: parse(t, server.URL), RootCAs: pool, Retries: Retries{Max: 2, Budget: 100}}))
		if got := outcome(client, get(t, parse(t, server.URL))); got != "204 \"\"\n" {
			t.Fatal(got)
		}
		req := get(t, parse(t, server.URL))
		req.Method = method
		resp, _, err := client.Send(req, RetryNever, LimitHeader)
		if err == nil {
			resp.Body.Close()
		}
		if err == nil || requests.Load() != 2 {
			t.Errorf("%s: %d requests, want 2; %v", method, requests.Load(), err)
		}
		client.Close()
	}
}
