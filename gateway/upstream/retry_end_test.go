package upstream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/test/timebox"
)

// TestRetryThatIsNone: a call that fails and is not sent again, for whatever reason, ends with what failed.
func TestRetryThatIsNone(t *testing.T) {
	for name, with := range map[string]func(c *Client, req *http.Request){
		"no budget": func(c *Client, _ *http.Request) { c.retries.budget.Store(0) },
		"no time": func(c *Client, _ *http.Request) {
			c.retries.jitter = func(time.Duration) time.Duration { return time.Hour }
		},
		"no room":        func(c *Client, _ *http.Request) { c.retries.jitter = c.crowd },
		"no second body": func(_ *Client, req *http.Request) { req.GetBody = nil },
		"a second body that can't be had": func(_ *Client, req *http.Request) {
			req.GetBody = func() (io.ReadCloser, error) { return nil, errors.New("gone") }
		},
		"the breaker opens meanwhile": func(c *Client, req *http.Request) {
			req.GetBody = func() (io.ReadCloser, error) {
				c.health.main.setState(Open)
				c.health.main.until = time.Now().Add(time.Minute)
				return http.NoBody, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hits := 0
				client := impatient(newClient(Options{Name: "orders", BaseURL: parse(t, "http://orders.internal"), Retries: Retries{Max: 2, Budget: 10},
					Bulkhead: Bulkhead{InFlight: 1}, Breaker: usual,
					Wrap: service(func(*http.Request) (*http.Response, error) {
						hits++
						return nil, &Error{Kind: Connect, API: "orders", Err: io.EOF}
					})}))
				defer client.Close()
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://orders.internal/", strings.NewReader("x"))
				if err != nil {
					t.Fatal(err)
				}
				with(client, req)
				if got := outcome(client, req); got != "connect\n"+connectMessage+"\n" || hits != 1 {
					t.Errorf("%d hits, %s", hits, got)
				}
			})
		})
	}
}

// crowd is a jitter during which another call takes the place of the one that waits, for long.
func (c *Client) crowd(time.Duration) time.Duration {
	time.AfterFunc(time.Millisecond, func() {
		if c.bulkhead.acquire(context.Background()) == nil {
			time.AfterFunc(time.Second, c.bulkhead.release)
		}
	})
	return 2 * time.Millisecond
}

// TestRetryGivesUp: an answer in whose place another is asked for is read to its end if that is near, and its connection used again;
// otherwise the connection is closed at once.
func TestRetryGivesUp(t *testing.T) {
	for name, c := range map[string]struct {
		head, body string
		want       int64 // connections
	}{
		"short":           {"Content-Length: 4", "busy", 1},
		"empty":           {"Content-Length: 0", "", 1},
		"as long as may":  {fmt.Sprint("Content-Length: ", maxDiscarded), strings.Repeat("x", maxDiscarded), 1},
		"longer":          {fmt.Sprint("Content-Length: ", maxDiscarded+1), strings.Repeat("x", maxDiscarded+1), 2},
		"of no length":    {"Transfer-Encoding: chunked", "4\r\nbusy\r\n0\r\n\r\n", 2},
		"that hangs":      {"Content-Length: 4", "bus", 2},
		"with many lines": {strings.Repeat("A: b\r\n", maxHeaderLines+1) + "Content-Length: 4", "bus", 1}, // and no second attempt
	} {
		t.Run(name, func(t *testing.T) {
			var connections, requests atomic.Int64
			gone := make(chan struct{}, 9)
			address := listen(t, func(conn net.Conn) {
				connections.Add(1)
				for r := bufio.NewReader(conn); readRequest(r) != ""; {
					if requests.Add(1) == 1 {
						_, _ = fmt.Fprintf(conn, "HTTP/1.1 503 Service Unavailable\r\n%s\r\n\r\n%s", c.head, c.body)
					} else {
						_, _ = io.WriteString(conn, short)
					}
				}
				gone <- struct{}{}
			})
			client := impatient(newClient(Options{Name: "orders", BaseURL: address, Retries: Retries{Max: 1, Budget: 10}}))
			want := "200 \"ok\"\n"
			if strings.HasPrefix(name, "with") {
				want = "protocol\n"
			}
			if got := outcome(client, get(t, address)); !strings.HasPrefix(got, want) || connections.Load() != c.want {
				t.Errorf("%s, %d connections, want %d", got, connections.Load(), c.want)
			}
			client.Close()
			for range c.want { // the service sees all of them end
				timebox.Wait(t, gone)
			}
		})
	}
}

// TestRetrier: the bounds of what is counted.
func TestRetrier(t *testing.T) {
	if newRetrier(Retries{Budget: 10}) != nil {
		t.Error("there are retries that nobody asked for")
	}
	r := newRetrier(Retries{Max: 1})
	r.budget.Store(100)
	if !r.spend() || r.spend() {
		t.Error("a budget of one retry is not one retry")
	}
	r.jitter = func(d time.Duration) time.Duration { return d }
	if _, ok := r.pause(1, nil, time.Second, firstPause+time.Second); ok {
		t.Error("no time would be left to read the answer")
	}
	if wait, ok := r.pause(1, nil, time.Second, firstPause+time.Second+1); wait != firstPause || !ok {
		t.Errorf("waits %s, %t", wait, ok)
	}
	if fullJitter(0) != 0 {
		t.Error("a jitter of nothing is something")
	}
	for range 100 {
		if d := fullJitter(2); d < 0 || d > 2 {
			t.Errorf("a jitter of %d", d)
		}
	}
}

// TestRetried: what is counted has a closed set of reasons.
func TestRetried(t *testing.T) {
	client := newClient(Options{})
	if n := len(maps.Collect(client.Retried())); n != 0 {
		t.Errorf("%d reasons, and nothing is repeated", n)
	}
	client = impatient(newClient(Options{Retries: Retries{Max: 1, Budget: 10},
		Wrap: service(func(*http.Request) (*http.Response, error) { return reply(503), nil })}))
	outcome(client, get(t, parse(t, "http://orders.internal/")))
	if got := maps.Collect(client.Retried()); len(got) != len(retryReasons) || got["503"] != 1 || got["502"] != 0 {
		t.Error(got)
	}
	for range client.Retried() {
		break // which must end it
	}
}
