package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"drawbridge/test/timebox"
)

// impatient retries at once.
func impatient(c *Client) *Client {
	c.retries.jitter = func(time.Duration) time.Duration { return 0 }
	return c
}

// TestFaultMatrix is L5, with a service that counts how often it is asked: each
// fault with each kind of request. POST is asked for once, whatever happens after
// it was written.
func TestFaultMatrix(t *testing.T) {
	status := func(code int, header string) func(net.Conn) {
		return func(conn net.Conn) {
			fmt.Fprintf(conn, "HTTP/1.1 %d Status\r\nContent-Length: 0\r\nConnection: close\r\n%s\r\n", code, header)
		}
	}
	const (
		once  = 1
		three = 3 // the first, and two retries
	)
	for _, fault := range []struct {
		name  string
		serve func(net.Conn)
		want  string // what is left when all attempts fail
		// hits of requests that may be repeated; others are sent once
		hits   int
		reason string
	}{
		{"closed without a word", func(net.Conn) {}, "truncated", three, "truncated"},
		{"half a head", func(conn net.Conn) { io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n") }, "truncated", three, "truncated"},
		{"half a line", func(conn net.Conn) { io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Le") }, "truncated", three, "truncated"},
		{"half a status", func(conn net.Conn) { io.WriteString(conn, "HTTP/1.1 2") }, "truncated", three, "truncated"},
		{"no HTTP", func(conn net.Conn) { io.WriteString(conn, "SSH-2.0-x\r\n\r\n") }, "protocol", once, ""},
		{"half a body", func(conn net.Conn) { io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf") }, "truncated", once, ""},
		{"one byte of a body", func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 503 Busy\r\nContent-Length: 9\r\nRetry-After: 86400\r\n\r\nh")
		}, "truncated", once, ""},
		{"429", status(429, ""), "429", three, "429"},
		{"500", status(500, ""), "500", once, ""},
		{"501", status(501, ""), "501", once, ""},
		{"502", status(502, ""), "502", three, "502"},
		{"503", status(503, ""), "503", three, "503"},
		{"504", status(504, ""), "504", three, "504"},
		{"503, at once", status(503, "Retry-After: 0\r\n"), "503", three, "503"},
		{"503, some day", status(503, "Retry-After: 86400\r\n"), "503", once, ""},
		{"429, tomorrow", status(429, "Retry-After: "+time.Now().Add(24*time.Hour).UTC().Format(http.TimeFormat)+"\r\n"), "429", once, ""},
		{"429, yesterday", status(429, "Retry-After: "+time.Now().Add(-24*time.Hour).UTC().Format(http.TimeFormat)+"\r\n"), "429", three, "429"},
		{"429, none left", status(429, "X-RateLimit-Remaining: 0\r\n"), "429", once, ""},
		{"429, none left until", status(429, "RateLimit: \"d\";r=0;t=3600\r\n"), "429", once, ""},
		{"429, reset", status(429, "X-Rate-Limit-Reset: 86400\r\n"), "429", once, ""},
		{"503, soon", status(503, "retry-after-ms: 1\r\n"), "503", three, "503"},
		{"404", status(404, ""), "404", once, ""},
		{"302", status(302, "Location: /\r\n"), "302", once, ""},
	} {
		t.Run(fault.name, func(t *testing.T) {
			var hits atomic.Int64
			bodies := make(chan string, 100)
			address := listen(t, func(conn net.Conn) {
				hits.Add(1)
				head := readRequest(conn)
				body := make([]byte, 4)
				if strings.Contains(head, "Content-Length: 4") {
					io.ReadFull(conn, body)
				}
				bodies <- string(body)
				fault.serve(conn)
			})
			for _, kind := range []struct {
				method string
				repeat RetryPolicy
				safe   bool
			}{
				{"GET", RetryByMethod, true}, {"HEAD", RetryByMethod, true}, {"OPTIONS", RetryByMethod, true}, {"PUT", RetryByMethod, true}, {"DELETE", RetryByMethod, true},
				{"POST", RetryByMethod, false}, {"PATCH", RetryByMethod, false}, {"POST", RetryAlways, true}, {"PATCH", RetryAlways, true},
				{"GET", RetryNever, false}, {"PUT", RetryNever, false}, {"GET", NoRetry, false},
			} {
				if kind.method == "HEAD" && strings.Contains(fault.name, "body") {
					continue // it has none
				}
				client := impatient(newClient(Options{Name: "orders", BaseURL: address, Retries: Retries{Max: 2, Budget: 100}}))
				req := get(t, address)
				req.Method = kind.method
				if kind.method == "PUT" || kind.method == "POST" || kind.method == "PATCH" {
					req.Body, req.ContentLength = io.NopCloser(strings.NewReader("body")), 4
					req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("body")), nil }
				}
				hits.Store(0)
				resp, requests, err := client.Send(req, kind.repeat, LimitHeader)
				got := ""
				if err == nil {
					got = fmt.Sprint(resp.StatusCode)
					if _, err = io.Copy(io.Discard, resp.Body); err == nil && resp.StatusCode == 200 {
						t.Errorf("%s: success", kind.method)
					}
					resp.Body.Close()
				}
				if e := (*Error)(nil); errors.As(err, &e) {
					got = e.Kind.String()
				}
				client.Close()
				want := 1
				if kind.safe {
					want = fault.hits
				}
				if n := int(hits.Load()); n != want || requests != want || got != fault.want {
					t.Errorf("%s, %d: %d hits, of which it tells %d, want %d; %s, want %s", kind.method, kind.repeat, n, requests, want, got, fault.want)
				}
				for reason, n := range client.Retried() {
					if n > 0 != (reason == fault.reason && want > 1) || n > 0 && int(n) != want-1 {
						t.Errorf("%s, %d: %d retries because of %s", kind.method, kind.repeat, n, reason)
					}
				}
				for range hits.Load() {
					if body := timebox.Receive(t, bodies); req.GetBody != nil && body != "body" {
						t.Errorf("%s: body %q", kind.method, body)
					}
				}
			}
		})
	}
}

// TestNotSent: what no connection was made for is sent again whatever its
// method, unless its body is gone.
func TestNotSent(t *testing.T) {
	for _, c := range []struct {
		method string
		repeat RetryPolicy
		want   int
	}{
		{"GET", RetryByMethod, 3}, {"POST", RetryByMethod, 3}, {"POST", RetryNever, 3}, {"", RetryAlways, 3}, {"GET", NoRetry, 1},
	} {
		for _, kind := range []Kind{Connect, TLS, Refused, Credential, Timeout, Canceled, Protocol} {
			dials := 0
			client := impatient(newClient(Options{Name: "orders", Retries: Retries{Max: 2, Budget: 100},
				Wrap: service(func(*http.Request) (*http.Response, error) {
					dials++
					return nil, &Error{Kind: kind, API: "orders", Err: errors.New("x")}
				})}))
			req := get(t, parse(t, "http://orders.internal/"))
			req.Method = c.method
			_, requests, err := client.Send(req, c.repeat, LimitHeader)
			want, sent := 1, 0
			switch kind {
			case Connect:
				want = c.want
			case Timeout, Canceled, Protocol:
				sent = 1
			}
			if e := (*Error)(nil); !errors.As(err, &e) || e.Kind != kind || dials != want || requests != sent {
				t.Errorf("%s, %s: %d attempts, of which the service may have got %d, %v", c.method, kind, dials, requests, err)
			}
			client.Close()
		}
	}
	dials := 0
	client := impatient(newClient(Options{Name: "orders", Retries: Retries{Max: 2, Budget: 100},
		Wrap: service(func(*http.Request) (*http.Response, error) {
			dials++
			return nil, &Error{Kind: Connect, API: "orders", Err: errors.New("x")}
		})}))
	defer client.Close()
	req := get(t, parse(t, "http://orders.internal/"))
	req.Body = io.NopCloser(strings.NewReader("body"))
	if _, _, err := client.Send(req, RetryAlways, LimitHeader); err == nil || dials != 1 {
		t.Errorf("a body that can't be had again: %d attempts, %v", dials, err)
	}
}

// TestRetryTimes: jitter without Retry-After, that and jitter with it, and never
// a wait that leaves less time than the last attempt took.
func TestRetryTimes(t *testing.T) {
	for _, c := range []struct {
		name    string
		timeout time.Duration
		took    time.Duration
		header  string
		starts  []time.Duration // of the attempts
	}{
		{"jitter", 30 * time.Second, 0, "", []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond}},
		{"seconds", 30 * time.Second, 0, "5", []time.Duration{0, 5100 * time.Millisecond, 10300 * time.Millisecond}},
		{"a date", 30 * time.Second, 0, "date", []time.Duration{0, 7100 * time.Millisecond, 7300 * time.Millisecond}},
		{"the second wait is too long", 10 * time.Second, 0, "5", []time.Duration{0, 5100 * time.Millisecond}},
		{"the wait is too long", 5 * time.Second, 0, "5", []time.Duration{0}},
		{"slow answers", 10 * time.Second, 4 * time.Second, "", []time.Duration{0, 4100 * time.Millisecond}},
		{"nonsense", 30 * time.Second, 0, "soon", []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond}},
		{"an hour in digits", 30 * time.Second, 0, "3600000000000000000000", []time.Duration{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				var starts []time.Duration
				client := newClient(Options{Name: "orders", Timeout: c.timeout, Retries: Retries{Max: 2, Budget: 10},
					Wrap: service(func(*http.Request) (*http.Response, error) {
						starts = append(starts, time.Since(begin))
						time.Sleep(c.took)
						header := c.header
						if header == "date" {
							header = begin.Add(7 * time.Second).UTC().Format(http.TimeFormat)
						}
						return reply(503, "Retry-After", header), nil
					})})
				defer client.Close()
				client.retries.jitter = func(d time.Duration) time.Duration { return d }
				req := get(t, parse(t, "http://orders.internal/")).WithContext(t.Context())
				resp, err := client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				if data, err := io.ReadAll(resp.Body); err != nil || string(data) != "ok" || resp.StatusCode != 503 || resp.Request != req {
					t.Errorf("the last answer is not whole: %d %q %v", resp.StatusCode, data, err)
				}
				resp.Body.Close()
				if diff := cmp.Diff(c.starts, starts); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// TestRetryEndsWithTheCall: who goes away while a retry waits is not served any more.
func TestRetryEndsWithTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, failure := range []*Error{nil, {Kind: Connect, API: "orders", Err: errors.New("x")}} {
			hits := 0
			client := newClient(Options{Name: "orders", Retries: Retries{Max: 2, Budget: 10}, Bulkhead: Bulkhead{InFlight: 1},
				Wrap: service(func(*http.Request) (*http.Response, error) {
					if hits++; failure != nil {
						return nil, failure
					}
					resp := reply(503, "Retry-After", "10")
					resp.Body = io.NopCloser(io.MultiReader(strings.NewReader("o"), brokenBody{}))
					return resp, nil
				})})
			ctx, cancel := context.WithCancel(t.Context())
			client.retries.jitter = func(time.Duration) time.Duration { return time.Second }
			time.AfterFunc(500*time.Millisecond, cancel)
			got := outcome(client, get(t, parse(t, "http://orders.internal/")).WithContext(ctx))
			if !strings.HasPrefix(got, "canceled\n") || hits != 1 {
				t.Errorf("%d hits, %s", hits, got)
			}
			if inFlight, _ := client.Load(); inFlight != 0 {
				t.Error("the place is still taken")
			}
			client.Close()
		}
	})
}

// TestRetryBudget: of a service that fails wholly, a tenth more is asked than
// there are calls, and ten to begin with.
func TestRetryBudget(t *testing.T) {
	hits := 0
	client := impatient(newClient(Options{Name: "orders", Retries: Retries{Max: 2, Budget: 10},
		Wrap: service(func(*http.Request) (*http.Response, error) { hits++; return reply(503), nil })}))
	defer client.Close()
	const calls = 1000
	for range calls {
		outcome(client, get(t, parse(t, "http://orders.internal/")))
	}
	if most := calls + calls/10 + budgetStart; hits > most || hits < most-2 {
		t.Errorf("%d calls became %d requests, want %d", calls, hits, most)
	}
	// While all goes well, it fills up, but not over its brim.
	for range calls {
		client.retries.earn()
	}
	if left := client.retries.budget.Load(); left != budgetStart*100 {
		t.Errorf("%d hundredths", left)
	}
}

// TestNoRetryIntoAnOpenBreaker: what opens it is the last attempt, and the call
// ends with what the service said.
func TestNoRetryIntoAnOpenBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hits := 0
		client := impatient(newClient(Options{Name: "orders", BaseURL: parse(t, "http://orders.internal"), Retries: Retries{Max: 10, Budget: 1000},
			Breaker: Breaker{Failures: 50, Calls: 4, Window: 10 * time.Second, Pause: 5 * time.Second, Probes: 1},
			Wrap:    service(func(*http.Request) (*http.Response, error) { hits++; return reply(503), nil })}))
		defer client.Close()
		if got := outcome(client, get(t, parse(t, "http://orders.internal/"))); got != "503 \"ok\"\n" || hits != 4 {
			t.Errorf("%d requests, %s", hits, got)
		}
		if got := outcome(client, get(t, parse(t, "http://orders.internal/"))); !strings.HasPrefix(got, "open\n") || hits != 4 {
			t.Errorf("%d requests, %s", hits, got)
		}
	})
}

// TestStaleConnection: a service that has closed a connection which it kept is
// asked again for what may be repeated, and a PUT is, though net/http does not.
func TestStaleConnection(t *testing.T) {
	var hits atomic.Int64
	address := listen(t, func(conn net.Conn) {
		first := readRequest(conn)
		hits.Add(1)
		if strings.Contains(first, "/first") {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			if readRequest(conn) != "" {
				hits.Add(1)
			}
			return // without an answer
		}
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	})
	for _, c := range []struct {
		method string
		want   string
		hits   int64
	}{{"PUT", "200 \"ok\"\n", 2}, {"DELETE", "200 \"ok\"\n", 2}, {"POST", "truncated\n", 1}} {
		client := impatient(newClient(Options{Name: "orders", BaseURL: address, Retries: Retries{Max: 2, Budget: 100}}))
		outcome(client, get(t, address.JoinPath("/first")))
		hits.Store(0)
		req := get(t, address.JoinPath("/second"))
		req.Method = c.method
		if got := outcome(client, req); !strings.HasPrefix(got, c.want) || hits.Load() != c.hits {
			t.Errorf("%s: %d hits, %s", c.method, hits.Load(), got)
		}
		client.Close()
	}
}

// TestSeenBefore: what is not sent at last may have been seen at first, and
// nobody is told otherwise.
func TestSeenBefore(t *testing.T) {
	for _, c := range []struct {
		name  string
		first func() (*http.Response, error)
		sent  bool
	}{
		{"broken off", func() (*http.Response, error) {
			return nil, &Error{Kind: Truncated, API: "orders", Err: io.EOF}
		}, true},
		{"answered", func() (*http.Response, error) { return reply(503), nil }, true},
		{"not looked at", func() (*http.Response, error) {
			return nil, &Error{Kind: Truncated, API: "orders", Err: io.EOF, unprocessed: true}
		}, false},
		{"no connection", func() (*http.Response, error) {
			return nil, &Error{Kind: Connect, API: "orders", Err: io.EOF}
		}, false},
	} {
		hits := 0
		client := impatient(newClient(Options{Name: "orders", Retries: Retries{Max: 2, Budget: 100},
			Wrap: service(func(*http.Request) (*http.Response, error) {
				if hits++; hits == 1 {
					return c.first()
				}
				return nil, &Error{Kind: Connect, API: "orders", Err: io.EOF}
			})}))
		req := get(t, parse(t, "http://orders.internal/"))
		req.Method = http.MethodPut
		_, err := client.Do(req)
		var e *Error
		if !errors.As(err, &e) || e.Kind != Connect || e.NotSent() == c.sent || strings.Contains(e.ToolMessage(), "Nothing was sent") == c.sent ||
			strings.Contains(e.ToolMessage(), "may have got the same call a moment ago") != c.sent {
			t.Errorf("%s: %v, %s", c.name, err, e.ToolMessage())
		}
		client.Close()
	}
}
