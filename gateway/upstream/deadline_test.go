package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestOneDeadline is L1: whatever a call waits for, in the queue, before the
// head, in the body or for its next attempt, comes out of the same time.
func TestOneDeadline(t *testing.T) {
	slow := func(r *http.Request, d time.Duration) error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-r.Context().Done():
			return &Error{Kind: Timeout, API: "orders", Err: r.Context().Err()}
		}
	}
	for _, c := range []struct {
		name              string
		queue, head, body time.Duration
		failures          int // answers with 503 that come first, each after head
		want              string
		hits              int
		after             time.Duration
	}{
		{"all in time", 3 * time.Second, 3 * time.Second, 3 * time.Second, 0, "200", 1, 9 * time.Second},
		{"the queue takes all", 11 * time.Second, 0, 0, 0, "overloaded", 0, 10 * time.Second},
		{"queue and head", 6 * time.Second, 6 * time.Second, 0, 0, "timeout", 1, 10 * time.Second},
		{"queue, head and body", 4 * time.Second, 4 * time.Second, 4 * time.Second, 0, "timeout", 1, 10 * time.Second},
		{"two attempts", 2 * time.Second, 3 * time.Second, time.Second, 1, "200", 2, 9 * time.Second},
		{"a second attempt that would be too long", 5 * time.Second, 3 * time.Second, 0, 1, "503", 1, 8 * time.Second},
		{"an attempt that takes longer than the one before", 5 * time.Second, 2 * time.Second, 4 * time.Second, 1, "timeout", 2, 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hits := 0
				client := impatient(newClient(Options{Name: "orders", Timeout: 10 * time.Second, Retries: Retries{Max: 2, Budget: 10},
					Bulkhead: Bulkhead{InFlight: 1, Queued: 1, Wait: time.Minute},
					Wrap: service(func(r *http.Request) (*http.Response, error) {
						hits++
						if err := slow(r, c.head); err != nil {
							return nil, err
						}
						if hits <= c.failures {
							return reply(503), nil
						}
						resp := reply(200)
						resp.Body = readerFunc(func([]byte) (int, error) {
							if err := slow(r, c.body); err != nil {
								return 0, err
							}
							return 0, io.EOF
						})
						return resp, nil
					})}))
				defer client.Close()
				if err := client.bulkhead.acquire(t.Context()); err != nil { // another call, which ends after c.queue
					t.Fatal(err)
				}
				time.AfterFunc(c.queue, client.bulkhead.release)
				begin := time.Now()
				req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, "http://orders.internal/", nil)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := client.Do(req)
				got := ""
				if err == nil {
					got = resp.Status
					if _, err = io.Copy(io.Discard, resp.Body); err == nil {
						got = map[int]string{200: "200", 503: "503"}[resp.StatusCode]
					}
					resp.Body.Close()
				}
				if e := (*Error)(nil); errors.As(err, &e) {
					got = e.Kind.String()
				}
				if passed := time.Since(begin); got != c.want || hits != c.hits || passed != c.after {
					t.Errorf("%s after %s, %d hits; want %s after %s, %d", got, passed, hits, c.want, c.after, c.hits)
				}
				time.Sleep(time.Minute) // the other call ends
			})
		})
	}
}

// TestAnswerAfterTheEnd: what a service says once the time of a call is over, or its caller has gone, is no answer: a handler that is stopped by
// the end of its connection returns, and its server says 200 in its place, or that the body is at its end. A body whose length was told
// before can be whole all the same.
func TestAnswerAfterTheEnd(t *testing.T) {
	stopped := func(r *http.Request, n int64, body string) *http.Response {
		resp := reply(200)
		resp.ContentLength = n
		resp.Body = readerFunc(func(p []byte) (int, error) {
			<-r.Context().Done()
			return copy(p, body), io.EOF
		})
		return resp
	}
	for name, answer := range map[string]struct {
		make func(*http.Request) *http.Response
		want string
	}{
		"a head without a body": {func(r *http.Request) *http.Response {
			<-r.Context().Done()
			resp := reply(200)
			resp.ContentLength, resp.Body = 0, http.NoBody
			return resp
		}, ""},
		"a head with a body": {func(r *http.Request) *http.Response {
			<-r.Context().Done()
			return reply(200)
		}, ""},
		"the end of a body":                  {func(r *http.Request) *http.Response { return stopped(r, -1, "ok") }, ""},
		"the end of a body of a told length": {func(r *http.Request) *http.Response { return stopped(r, 2, "ok") }, "200 \"ok\"\n"},
	} {
		for kind, end := range map[string]func(context.Context) (context.Context, context.CancelFunc){
			"timeout\n" + timeoutMessage + "\n": func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, time.Second)
			},
			"canceled\n" + canceledMessage + "\n": func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(time.Second, cancel)
				return ctx, cancel
			},
		} {
			for _, retries := range []int{0, 2} {
				synctest.Test(t, func(t *testing.T) {
					closed := false
					client := newClient(Options{Name: "orders", Timeout: time.Minute, Retries: Retries{Max: retries, Budget: 10},
						Wrap: service(func(r *http.Request) (*http.Response, error) {
							resp := answer.make(r)
							resp.Body = closing{resp.Body, &closed}
							return resp, nil
						})})
					ctx, cancel := end(t.Context())
					defer cancel()
					req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://orders.internal/", nil)
					if err != nil {
						t.Fatal(err)
					}
					want := kind
					if answer.want != "" {
						want = answer.want
					}
					resp, requests, err := client.Send(req, RetryByMethod, LimitHeader)
					if got := told(resp, err); got != want || requests != 1 || !closed {
						t.Errorf("%s, %d retries: %s%d requests, closed: %v; want %s", name, retries, got, requests, closed, want)
					}
				})
			}
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
func (f readerFunc) Close() error               { return nil }
