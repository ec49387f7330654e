package credential

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/test/race"
)

// An early refresh takes half the time that a call has left, not all of it.
func TestRefreshLeavesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIDP(t, "ok", "hang", "hang")
		rt := mustNew(t, clientCredentials(idpURL, i.client))(&service{})
		if _, err := send(t.Context(), t, rt, "GET", resource, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(92 * time.Second)
		for _, c := range []struct{ has, takes time.Duration }{{time.Second, time.Second / 2}, {time.Minute, earlyFetchTime}} {
			ctx, cancel := context.WithTimeout(t.Context(), c.has)
			start := time.Now()
			if _, err := send(ctx, t, rt, "GET", resource, nil); err != nil || time.Since(start) != c.takes {
				t.Errorf("%v after %s", err, time.Since(start))
			}
			cancel()
		}
	})
}

// A panic in a token request comes out in the calls that wait for it, where
// somebody catches it, and in no goroutine of its own (H10).
func TestPanicInTokenRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIDP(t)
		o := clientCredentials(idpURL, i.client)
		calls := 0
		o.OAuth.ClientSecret = func() (string, error) {
			if calls++; calls == 2 { // the first is New's
				time.Sleep(time.Second)
				panic("no secret")
			}
			return "s", nil
		}
		rt := mustNew(t, o)(&service{})
		var wg sync.WaitGroup
		caught := make(chan any, 10)
		for range 10 {
			wg.Go(func() {
				defer func() { caught <- recover() }()
				_, err := send(t.Context(), t, rt, "GET", resource, nil)
				t.Error(err)
			})
		}
		wg.Wait()
		for range 10 {
			if p := <-caught; p != "no secret" {
				t.Errorf("%v", p)
			}
		}
		if _, err := send(t.Context(), t, rt, "GET", resource, nil); !errors.Is(err, errUnfinished) {
			t.Error(err)
		}
		time.Sleep(retryDelay)
		if _, err := send(t.Context(), t, rt, "GET", resource, nil); err != nil {
			t.Error(err)
		}
	})
}

// A clock that is set forward or back costs a token request and keeps nothing
// longer than it is good. (That of [time.Now] is monotonic and knows no steps.)
func TestClockSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIDP(t)
		now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		o := clientCredentials(idpURL, i.client)
		o.Now = func() time.Time { return now }
		dead := ""
		next := &service{status: func(a string) (int, string) {
			if a == dead {
				return 401, ""
			}
			return 200, ""
		}}
		rt := mustNew(t, o)(next)
		step := func(name string, d time.Duration, fails bool, requests int64) {
			t.Helper()
			now = now.Add(d)
			status, err := send(t.Context(), t, rt, "GET", resource, nil)
			if (err != nil) != fails || err == nil && status != 200 || i.requests.Load() != requests {
				t.Errorf("%s: %d, %v, %d token requests", name, status, err, i.requests.Load())
			}
		}
		step("first", 0, false, 1)
		step("a day on", 24*time.Hour, false, 2)
		step("a day back", -24*time.Hour, false, 3)
		step("no step", 0, false, 3)
		i.tell("429 30")
		step("a failure", 200*time.Second, true, 4)
		step("stands", 29*time.Second, true, 4)
		step("an hour back", -time.Hour, false, 5)
		dead = next.seen[len(next.seen)-1]
		step("a service that forgets, a little back", -time.Second, false, 6)
		dead = next.seen[len(next.seen)-1]
		step("a service that forgets", renewAfter, false, 7)
	})
}

// stub makes tokens of a size.
type stub struct {
	bytes int
	now   time.Time
}

func (s *stub) fetch(context.Context, string, time.Duration) (*token, error) {
	header := []string{"Bearer " + strings.Repeat("t", s.bytes)}
	return &token{header: seal(header), requestedAt: s.now, refreshAt: s.now.Add(time.Hour), expiry: s.now.Add(time.Hour)}, nil
}

// A hundred thousand callers come, and what is kept is ten thousand tokens and
// less than a kilobyte beside each: 16 MiB with tokens of one kilobyte, 181 MiB
// with the longest that is accepted, of which the allocator rounds up to 18 KiB.
func TestMemoryOfCallers(t *testing.T) {
	const beside = 1 << 10
	for size, callersInAll := range map[int]int{1 << 10: race.Fewer(100_000, 12_000), maxToken: race.Fewer(20_000, 12_000)} {
		now := time.Now()
		clock := func() time.Time { return now }
		s := &tokenCache{maxEntries: maxCallers}
		f := &stub{bytes: size, now: now}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for n := range callersInAll {
			key := tokenKey{principal: fmt.Sprintf("https://idp.example.com|user-%d", n)}
			key.token[0], key.token[1], key.token[2] = byte(n), byte(n>>8), byte(n>>16)
			if _, _, err := s.source(key, now).get(t.Context(), f, clock, "", nil); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		t.Logf("tokens of %d bytes: %d KiB, %d bytes beside each token", size, grown>>10, grown/maxCallers-int64(size))
		if len(s.entries) != maxCallers || grown > maxCallers*int64(size+size/8+beside) {
			t.Errorf("%d callers, %d bytes", len(s.entries), grown)
		}
		runtime.KeepAlive(s)
	}
}

// A token that a service refuses while another is on its way is replaced by that.
func TestRetryDuringRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIDP(t, "ok", "slow 1s")
		next := &service{status: func(a string) (int, string) {
			if a == "Bearer t1" {
				return 401, ""
			}
			return 200, ""
		}}
		rt := mustNew(t, clientCredentials(idpURL, i.client))(next)
		if status, err := send(t.Context(), t, rt, "GET", resource, nil); status != 401 || err != nil { // another would be no better
			t.Fatal(status, err)
		}
		time.Sleep(92 * time.Second)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				start := time.Now()
				if status, err := send(t.Context(), t, rt, "GET", resource, nil); status != 200 || err != nil || time.Since(start) != time.Second {
					t.Errorf("%d, %v after %s", status, err, time.Since(start))
				}
			})
		}
		wg.Wait()
		if i.requests.Load() != 2 {
			t.Errorf("%d token requests", i.requests.Load())
		}
	})
}

// A body is sent again from its beginning, over a real connection, however much
// of it the service had read when it said 401; one that can't be is sent once.
func TestRetryOfBodies(t *testing.T) {
	for _, size := range []int{10, 1 << 20} {
		for name, reads := range map[string]bool{"reads": true, "does not": false} {
			synctest.Test(t, func(t *testing.T) {
				i := newIDP(t)
				answer, dead := 20_000, "Bearer t1"
				var got []int
				p, client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("Authorization") == dead && r.Method == "POST" {
						if reads {
							_, _ = io.Copy(io.Discard, r.Body)
						}
						w.WriteHeader(401)
						io.WriteString(w, strings.Repeat("n", answer))
						return
					}
					n, err := io.Copy(io.Discard, r.Body)
					if err != nil {
						t.Error(err)
					}
					got = append(got, int(n))
				}))
				o := clientCredentials(idpURL, i.client)
				o.Origin = mustURL(t, "http://orders.example.com")
				rt := mustNew(t, o)(client.Transport)
				if _, err := send(t.Context(), t, rt, "GET", "http://orders.example.com/", nil); err != nil {
					t.Fatal(err)
				}
				time.Sleep(renewAfter)
				body := strings.Repeat("b", size)
				stream := io.MultiReader(strings.NewReader(body))
				if status, err := send(t.Context(), t, rt, "POST", "http://orders.example.com/", stream); err != nil && reads || err == nil && status != 401 {
					t.Errorf("%d, %s, a stream: %d, %v", size, name, status, err)
				}
				if status, err := send(t.Context(), t, rt, "POST", "http://orders.example.com/", strings.NewReader(body)); status != 200 || err != nil {
					t.Errorf("%d, %s: %d, %v", size, name, status, err)
				}
				if len(got) != 2 || got[1] != size {
					t.Errorf("%d, %s: %d", size, name, got)
				}
				// What is short is read to its end, and its connection used on; a longer answer is not waited for.
				dialled := p.dialled.Load()
				answer = 100
				for range 2 {
					time.Sleep(renewAfter)
					i.tell("ok")
					dead = "Bearer t" + fmt.Sprint(i.requests.Load())
					if status, err := send(t.Context(), t, rt, "POST", "http://orders.example.com/", strings.NewReader("b")); status != 200 || err != nil {
						t.Errorf("%d, %v", status, err)
					}
				}
				if n := p.dialled.Load() - dialled; reads && n > 1 {
					t.Errorf("%d connections for two short answers", n)
				}
			})
		}
	}
}

// A refusal that does not come to its end holds up the repeated request for no longer than is worth a connection.
func TestRetryAfterStalledRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIDP(t)
		rt := mustNew(t, clientCredentials(idpURL, i.client))(through(func(req *http.Request) (*http.Response, error) {
			if req.Header.Get("Authorization") == "Bearer t1" {
				body, _ := io.Pipe()
				return &http.Response{StatusCode: 401, Body: body, ContentLength: 2}, nil
			}
			return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
		}))
		if status, err := send(t.Context(), t, rt, "POST", resource, nil); status != 401 || err != nil { // it is new: another would be no better
			t.Fatal(status, err)
		}
		time.Sleep(renewAfter)
		start := time.Now()
		if status, err := send(t.Context(), t, rt, "GET", resource, nil); status != 200 || err != nil || time.Since(start) > drainTime {
			t.Errorf("%d, %v after %s", status, err, time.Since(start))
		}
	})
}

// The answer that a repeated request makes void is closed.
func TestRetryClosesAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIDP(t)
		body := &closer{Reader: strings.NewReader("no")}
		rt := mustNew(t, clientCredentials(idpURL, i.client))(through(func(req *http.Request) (*http.Response, error) {
			if req.Header.Get("Authorization") == "Bearer t1" && i.requests.Load() == 1 && req.Method == "POST" {
				return &http.Response{StatusCode: 401, Body: body, ContentLength: -1}, nil
			}
			return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
		}))
		for _, method := range []string{"GET", "POST"} {
			if status, err := send(t.Context(), t, rt, method, resource, nil); status != 200 || err != nil {
				t.Error(status, err)
			}
			time.Sleep(renewAfter)
		}
		if !body.closed {
			t.Error("it is open")
		}
	})
}

// A repeated request has the first answer beside it, the request that came in is as it was, and what the service then does stands.
func TestRetryTellsOfBoth(t *testing.T) {
	gone := errors.New("gone")
	for _, second := range []error{nil, gone} {
		synctest.Test(t, func(t *testing.T) {
			i := newIDP(t)
			first := true
			rt := mustNew(t, clientCredentials(idpURL, i.client))(through(func(req *http.Request) (*http.Response, error) {
				switch {
				case first:
					return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
				case req.Header.Get("Authorization") == "Bearer t1":
					return &http.Response{StatusCode: 401, Body: http.NoBody}, nil
				case second != nil:
					return nil, second
				}
				return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
			}))
			if _, err := send(t.Context(), t, rt, "GET", resource, nil); err != nil {
				t.Fatal(err)
			}
			first = false
			time.Sleep(renewAfter)
			req := request(t, "GET "+resource)
			resp, err := rt.RoundTrip(req)
			switch {
			case req.Response != nil:
				t.Error("the request was changed")
			case second != nil:
				if !errors.Is(err, second) || resp != nil {
					t.Errorf("%v, %v", resp, err)
				}
			case err != nil || resp.StatusCode != 200:
				t.Errorf("%v, %v", resp, err)
			case resp.Request == nil || resp.Request == req || resp.Request.Response == nil || resp.Request.Response.StatusCode != 401:
				t.Errorf("%+v", resp.Request)
			case resp.Request.Header.Get("Authorization") != "":
				t.Error("the request of the answer has the credential")
			}
		})
	}
}

// A call that gives up on an early refresh may still learn from a 401 that the token has ended.
func TestRetryAfterRefreshGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIDP(t, "ok", "hang", "ok")
		dead := ""
		rt := mustNew(t, clientCredentials(idpURL, i.client))(&service{status: func(a string) (int, string) {
			if a == dead {
				return 401, ""
			}
			return 200, ""
		}})
		if _, err := send(t.Context(), t, rt, "GET", resource, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(92 * time.Second)
		dead = "Bearer t1"
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if status, err := send(ctx, t, rt, "GET", resource, nil); status != 200 || err != nil || i.requests.Load() != 3 {
			t.Errorf("%d, %v, %d token requests", status, err, i.requests.Load())
		}
	})
}

// A token that was made in this moment is not blamed for a 401, whoever asked for it.
func TestRetryOfNewToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIDP(t)
		rt := mustNew(t, clientCredentials(idpURL, i.client))(&service{status: func(string) (int, string) { return 401, "" }})
		for range 2 {
			if status, err := send(t.Context(), t, rt, "GET", resource, nil); status != 401 || err != nil || i.requests.Load() != 1 {
				t.Errorf("%d, %v, %d token requests", status, err, i.requests.Load())
			}
		}
	})
}
