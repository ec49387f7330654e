package cache

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// service answers requests in memory, and counts them.
type service struct {
	calls  atomic.Int64
	answer func(n int64, req *http.Request) (status int, header, body string)
}

func (s *service) fetch(req *http.Request) (*http.Response, error) {
	status, header, body := s.answer(s.calls.Add(1), req)
	resp := &http.Response{StatusCode: status, Header: http.Header{}, ProtoMajor: 1, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)), Request: req}
	for line := range strings.SplitSeq(header, "\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			resp.Header.Add(name, value)
		}
	}
	return resp, req.Context().Err()
}

func request(t testing.TB, ctx context.Context, method, at string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, "http://service.test"+at, nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// get makes a request and reads its answer: outcome, status and body.
func get(t testing.TB, c *Cache, s *service, n Name, r *Rule, method, at string) string {
	t.Helper()
	resp, o, err := c.Do(request(t, t.Context(), method, at), n, r, s.fetch)
	if err != nil {
		return "error: " + err.Error()
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("%s %d %s", o, resp.StatusCode, body)
}

// TestFreshness is the table of RFC 9111: what is kept, and for how long, by a private cache and by a shared one.
func TestFreshness(t *testing.T) {
	for _, c := range []struct {
		name, header string
		status       int
		ttl          time.Duration
		shared       bool
		fresh, stale time.Duration // after how long it is still a hit, and no more; 0: it is never
	}{
		{name: "nothing said", fresh: 0, stale: time.Second},
		{name: "ttl", ttl: time.Minute, fresh: 59 * time.Second, stale: time.Minute},
		{name: "ttl is no more than a default", ttl: time.Minute, header: "Cache-Control: max-age=5", fresh: 4 * time.Second, stale: 5 * time.Second},
		{name: "max-age in letters of both cases", header: `Cache-Control: Private, Max-Age="60"`, fresh: 59 * time.Second, stale: time.Minute},
		{name: "no-store", ttl: time.Minute, header: "Cache-Control: max-age=60\nCache-Control: no-store", stale: time.Second},
		{name: "no-cache", ttl: time.Minute, header: "Cache-Control: no-cache\nETag: \"1\"", stale: time.Second},
		{name: "no-cache of fields", ttl: time.Minute, header: "Cache-Control: no-cache=\"Set-Cookie\"", stale: time.Second},
		{name: "Pragma", ttl: time.Minute, header: "Pragma: no-cache", stale: time.Second},
		{name: "max-age twice", header: "Cache-Control: max-age=60, max-age=5", fresh: 4 * time.Second, stale: 5 * time.Second},
		{name: "max-age that is none", ttl: time.Minute, header: "Cache-Control: max-age=soon", stale: time.Second},
		{name: "max-age beyond numbers", header: "Cache-Control: max-age=99999999999999999999", fresh: 24 * time.Hour},
		{name: "Age", header: "Cache-Control: max-age=60\nAge: 50", fresh: 9 * time.Second, stale: 10 * time.Second},
		{name: "Age of several, which the first is", header: "Cache-Control: max-age=60\nAge: 50, 1", fresh: 9 * time.Second, stale: 10 * time.Second},
		{name: "Age that is none", header: "Cache-Control: max-age=60\nAge: -50", fresh: 59 * time.Second, stale: time.Minute},
		{name: "Age beyond numbers", header: "Cache-Control: max-age=60\nAge: 99999999999999999999", stale: time.Second},
		{name: "a Date of long ago", header: "Cache-Control: max-age=60\nDate: Mon, 01 Jan 0001 00:00:00 GMT", stale: time.Second},
		{name: "Expires of long after a Date of long ago", header: "Date: Mon, 01 Jan 0001 00:00:00 GMT\nExpires: Fri, 31 Dec 9999 23:59:59 GMT", stale: time.Second},
		{name: "Date in the future", header: "Cache-Control: max-age=60\nDate: Fri, 31 Dec 9999 23:59:59 GMT", fresh: 59 * time.Second, stale: time.Minute},
		{name: "a time in the words of another directive", header: `Cache-Control: note="a, max-age=60, b"`, stale: time.Second},
		{name: "a quote in the words of another directive", header: `Cache-Control: note="\", max-age=60, \""`, stale: time.Second},
		{name: "words of another directive, and a time", header: `Cache-Control: note="a, b\"", max-age="60"`, fresh: 59 * time.Second, stale: time.Minute},
		{name: "a quote without an end", ttl: time.Minute, header: `Cache-Control: max-age=60, note="a`, stale: time.Second},
		{name: "a quote with an end in another line", header: "Cache-Control: note=\"a, max-age=60\nCache-Control: b\"", stale: time.Second},
		{name: "no-store and a no-break space, which is no space of a header", ttl: time.Minute, header: "Cache-Control: no-store\u00a0\nETag: \"1\"", stale: time.Second},
		{name: "an empty element", header: "Cache-Control: , max-age=60", fresh: 59 * time.Second, stale: 61 * time.Second},
		{name: "no-store behind a quote without an end", ttl: time.Minute, header: "Cache-Control: note=\"a, no-store\nETag: \"1\"", stale: time.Second},
		{name: "negative max-age", ttl: time.Minute, header: "Cache-Control: max-age=-1", stale: time.Second},
		{name: "max-age with a sign", ttl: time.Minute, header: "Cache-Control: max-age=+60", stale: time.Second},
		{name: "private of fields, shared", shared: true, ttl: time.Minute, header: `Cache-Control: private="X-A, X-B"`, stale: time.Second},
		{name: "s-maxage of nothing, shared", shared: true, ttl: time.Minute, header: "Cache-Control: s-maxage=0, max-age=60", stale: time.Second},
		{name: "Expires", header: "Date: Sat, 01 Jan 2000 00:00:00 GMT\nExpires: Sat, 01 Jan 2000 00:01:00 GMT", fresh: 59 * time.Second, stale: time.Minute},
		{name: "Expires with a service whose clock is behind", header: "Date: Fri, 31 Dec 1999 23:59:30 GMT\nExpires: Sat, 01 Jan 2000 00:00:30 GMT", fresh: 29 * time.Second, stale: 30 * time.Second},
		{name: "Expires: 0", ttl: time.Minute, header: "Expires: 0", stale: time.Second},
		{name: "max-age before Expires", header: "Expires: 0\nCache-Control: max-age=60", fresh: 59 * time.Second, stale: time.Minute},
		{name: "a ttl counts from here, whatever the clock of the service", ttl: time.Minute, header: "Date: Fri, 31 Dec 1999 00:00:00 GMT", fresh: 59 * time.Second, stale: time.Minute},
		{name: "s-maxage is for shared caches", header: "Cache-Control: max-age=5, s-maxage=60", fresh: 4 * time.Second, stale: 5 * time.Second},
		{name: "s-maxage", shared: true, header: "Cache-Control: max-age=5, s-maxage=60", fresh: 59 * time.Second, stale: time.Minute},
		{name: "private", header: "Cache-Control: private, max-age=60", fresh: 59 * time.Second, stale: time.Minute},
		{name: "private, shared", shared: true, ttl: time.Minute, header: "Cache-Control: private, max-age=60", stale: time.Second},
		{name: "a cookie, shared", shared: true, ttl: time.Minute, header: "Set-Cookie: a=b", stale: time.Second},
		{name: "Vary: *", ttl: time.Minute, header: "Vary: Accept, *", stale: time.Second},
		{name: "Vary", ttl: time.Minute, header: "Vary: Accept, Authorization", fresh: 59 * time.Second, stale: time.Minute},
		{name: "404 by ttl", ttl: time.Minute, status: 404, stale: time.Second},
		{name: "404", status: 404, header: "Cache-Control: max-age=60", fresh: 59 * time.Second, stale: time.Minute},
		{name: "500", status: 500, header: "Cache-Control: max-age=60", stale: time.Second},
		{name: "206", status: 206, header: "Cache-Control: max-age=60", stale: time.Second},
		{name: "302", status: 302, header: "Cache-Control: max-age=60", stale: time.Second},
		{name: "stale-while-revalidate", header: "Cache-Control: max-age=5, stale-while-revalidate=60", fresh: 4 * time.Second, stale: 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{answer: func(int64, *http.Request) (int, string, string) { return cmp.Or(c.status, 200), c.header, "x" }}
				r := &Rule{TTL: c.ttl, Shared: c.shared, MaxBytes: 1 << 10}
				cache := New(1<<20, nil, nil)
				get(t, cache, s, Name{}, r, "GET", "/a")
				slept := time.Duration(0)
				for _, at := range []struct {
					after time.Duration
					hit   bool
				}{{c.fresh, true}, {c.stale, false}} {
					if at.after == 0 {
						continue
					}
					time.Sleep(at.after - slept)
					slept = at.after
					if got := get(t, cache, s, Name{}, r, "GET", "/a"); strings.HasPrefix(got, "hit") != at.hit {
						t.Errorf("after %v: %s", at.after, got)
					}
				}
			})
		})
	}
}

// TestRevalidation: what is no longer fresh is asked about, and what the answer says of it counts.
func TestRevalidation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		version := "1"
		s := &service{answer: func(_ int64, req *http.Request) (int, string, string) {
			head := "ETag: \"" + version + "\"\nCache-Control: max-age=10\nContent-Type: text/plain"
			if req.Header.Get("If-None-Match") == `"`+version+`"` {
				return 304, head + "\nX-More: yes\nContent-Length: 0", ""
			}
			return 200, head, "version " + version
		}}
		r, cache := &Rule{MaxBytes: 1 << 10}, New(1<<20, nil, nil)
		want := func(want string) {
			t.Helper()
			if got := get(t, cache, s, Name{}, r, "GET", "/a"); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		want("miss 200 version 1")
		want("hit 200 version 1")
		time.Sleep(11 * time.Second)
		want("revalidated 200 version 1")
		want("hit 200 version 1")
		time.Sleep(11 * time.Second)
		version = "2"
		want("miss 200 version 2")
		want("hit 200 version 2")
		time.Sleep(11 * time.Second)
		s.answer = func(int64, *http.Request) (int, string, string) { return 503, "", "down" }
		want("miss 503 down") // nothing stale is given out, and what was there can still be asked about
		s.answer = func(_ int64, req *http.Request) (int, string, string) { return 304, "Cache-Control: no-store", "" }
		want("revalidated 200 version 2")
		s.answer = func(_ int64, req *http.Request) (int, string, string) {
			return 200, "", req.Header.Get("If-None-Match")
		}
		want("bypass 200 ")
	})
}

// TestNames: another owner, group, variant, method or URL is another answer, and what asks for its own things is not for the cache.
func TestNames(t *testing.T) {
	s := &service{answer: func(n int64, _ *http.Request) (int, string, string) { return 200, "", fmt.Sprint(n) }}
	r, cache := &Rule{TTL: time.Hour, MaxBytes: 8}, New(1<<20, nil, nil)
	seen := map[string]bool{}
	for _, n := range []Name{{}, {Owner: "a"}, {Group: "a"}, {Variant: "a"}, {Group: "a", Owner: "a"}, {Group: "aa"}} {
		for _, method := range []string{"GET", "HEAD"} {
			for _, at := range []string{"/a", "/a?b", "/b"} {
				got := get(t, cache, s, n, r, method, at)
				if seen[got] || !strings.HasPrefix(got, "miss") {
					t.Errorf("%v %s %s: %s", n, method, at, got)
				}
				seen[got] = true
				if again := get(t, cache, s, n, r, method, at); again != strings.Replace(got, "miss", "hit", 1) {
					t.Errorf("%v %s %s: %s, then %s", n, method, at, got, again)
				}
			}
		}
	}
	for _, name := range []string{"Range", "If-None-Match", "Cache-Control"} {
		req := request(t, t.Context(), "GET", "/a")
		req.Header.Set(name, "x")
		if _, o, _ := cache.Do(req, Name{}, r, s.fetch); o != Bypass {
			t.Errorf("%s: %s", name, o)
		}
	}
	if got := get(t, cache, s, Name{}, r, "POST", "/a"); !strings.HasPrefix(got, "bypass") {
		t.Error(got)
	}
}

// TestWhole: what is cut off, too large or not read to its end is not kept.
func TestWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, cache := &Rule{TTL: time.Hour, MaxBytes: 8}, New(1<<20, nil, nil)
		large := &service{answer: func(int64, *http.Request) (int, string, string) { return 200, "", "more than eight" }}
		for range 2 {
			if got := get(t, cache, large, Name{}, r, "GET", "/large"); strings.HasPrefix(got, "hit") {
				t.Error(got)
			}
		}
		broken := func(req *http.Request) (*http.Response, error) {
			body := io.MultiReader(strings.NewReader("half"), failing{})
			return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: 8, Body: io.NopCloser(body), Request: req}, nil
		}
		for range 2 {
			resp, _, _ := cache.Do(request(t, t.Context(), "GET", "/broken"), Name{}, r, broken)
			if _, err := io.ReadAll(resp.Body); err == nil {
				t.Error("half an answer was whole")
			}
			resp.Body.Close()
			time.Sleep(unkeptTime)
		}
		s := &service{answer: func(int64, *http.Request) (int, string, string) { return 200, "", "whole" }}
		resp, _, _ := cache.Do(request(t, t.Context(), "GET", "/left"), Name{}, r, s.fetch)
		resp.Body.Close()
		if got := get(t, cache, s, Name{}, r, "GET", "/left"); got != "miss 200 whole" {
			t.Error(got)
		}
		r.Keep = func(*http.Response) bool { return false }
		get(t, cache, s, Name{}, r, "GET", "/not")
		if got := get(t, cache, s, Name{}, r, "GET", "/not"); got != "bypass 200 whole" {
			t.Error(got)
		}
	})
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("reset") }

// TestStampede: of many that come at once one asks the service; one that leaves leaves, and if it is the one that asked, another asks.
func TestStampede(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: func(n int64, req *http.Request) (int, string, string) {
			select {
			case <-time.After(time.Second):
			case <-req.Context().Done():
			}
			return 200, "", fmt.Sprint("answer ", n)
		}}
		r, cache := &Rule{TTL: time.Minute, MaxBytes: 64}, New(1<<20, nil, nil)
		first, leave := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		outcomes := make(chan string, 200)
		ask := func(ctx context.Context) {
			wg.Go(func() {
				resp, o, err := cache.Do(request(t, ctx, "GET", "/a"), Name{}, r, s.fetch)
				if err != nil {
					outcomes <- err.Error()
					return
				}
				body, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				outcomes <- string(o) + " " + string(body)
			})
			synctest.Wait()
		}
		ask(first)
		impatient, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		ask(impatient)
		for range 100 {
			ask(t.Context())
		}
		time.Sleep(500 * time.Millisecond)
		leave()
		wg.Wait()
		close(outcomes)
		counts := map[string]int{}
		for o := range outcomes {
			counts[o]++
		}
		if counts["hit answer 2"] != 99 || counts["miss answer 2"] != 1 || counts["context canceled"] != 1 || counts["context deadline exceeded"] != 1 || s.calls.Load() != 2 {
			t.Errorf("%v, %d requests", counts, s.calls.Load())
		}
		// What can't be kept makes nobody wait: all ask at once, and for a while nobody waits at all.
		s.calls.Store(0)
		r = &Rule{MaxBytes: 64}
		begin := time.Now()
		outcomes = make(chan string, 200)
		for range 50 {
			wg.Go(func() { outcomes <- get(t, cache, s, Name{Variant: "b"}, r, "GET", "/a") })
		}
		wg.Wait()
		if took := time.Since(begin); took > 2*time.Second || s.calls.Load() != 50 {
			t.Errorf("%v for %d requests", took, s.calls.Load())
		}
	})
}

// TestForget: a change makes stale what is at its path, whatever the query and whosever it is, what is above it, and what is on its way;
// nothing of another service or another path.
func TestForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: func(n int64, _ *http.Request) (int, string, string) {
			time.Sleep(time.Second)
			return 200, "", fmt.Sprint(n)
		}}
		r, cache := &Rule{TTL: time.Hour, MaxBytes: 64}, New(1<<20, nil, nil)
		kept := func(n Name, at string) bool { return strings.HasPrefix(get(t, cache, s, n, r, "GET", at), "hit") }
		all := []string{"/orders?open", "/orders/7", "/orders/7?all", "/orders/8", "/"}
		for _, at := range all {
			for _, n := range []Name{{Owner: "a"}, {Owner: "b"}, {Group: "other"}} {
				kept(n, at)
			}
		}
		u, _ := url.Parse("HTTP://Service.test/orders/7")
		slow := make(chan string)
		go func() { slow <- get(t, cache, s, Name{Owner: "slow"}, r, "GET", "/orders/7") }()
		synctest.Wait()
		cache.Forget("", u)
		<-slow
		for _, at := range all {
			want := at == "/orders/8" || at == "/"
			if kept(Name{Owner: "a"}, at) != want || kept(Name{Owner: "b"}, at) != want || !kept(Name{Group: "other"}, at) {
				t.Errorf("%s: want kept: %v", at, want)
			}
		}
		if kept(Name{Owner: "slow"}, "/orders/7") {
			t.Error("what was on its way when it was changed was kept")
		}
	})
}

// TestBounds: all together, and each owner, take no more than they may, and what was asked for last stays.
func TestBounds(t *testing.T) {
	s := &service{answer: func(int64, *http.Request) (int, string, string) { return 200, "", strings.Repeat("x", 10_000) }}
	r, cache := &Rule{TTL: time.Hour, MaxBytes: 1 << 20}, New(400_000, nil, nil)
	for i := range 100 {
		get(t, cache, s, Name{Owner: "greedy"}, r, "GET", fmt.Sprint("/", i))
		get(t, cache, s, Name{Owner: "greedy"}, r, "GET", "/0")
	}
	if bytes, n := cache.Size(); bytes > 100_000 || n > 9 || n < 8 {
		t.Errorf("one owner has %d bytes, %d answers", bytes, n)
	}
	if got := get(t, cache, s, Name{Owner: "greedy"}, r, "GET", "/0"); !strings.HasPrefix(got, "hit") {
		t.Error("what was asked for all the time is gone")
	}
	for i := range 200 {
		get(t, cache, s, Name{Owner: fmt.Sprint(i % 50)}, r, "GET", fmt.Sprint("/", i))
	}
	if bytes, _ := cache.Size(); bytes > 400_000 {
		t.Errorf("all have %d bytes", bytes)
	}
	cache.Resize(0)
	if bytes, n := cache.Size(); bytes != 0 || n != 0 || len(cache.owners) != 0 || len(cache.places) != 0 || cache.order.Len() != 0 || len(cache.inFlight) != 0 || len(cache.flights) != 0 {
		t.Errorf("%d bytes, %d answers left: %+v", bytes, n, cache)
	}
}

// TestNothingIsShared: who gets a kept answer can do with it as they like.
func TestNothingIsShared(t *testing.T) {
	s := &service{answer: func(int64, *http.Request) (int, string, string) { return 200, "X-A: 1", "body" }}
	r, cache := &Rule{TTL: time.Hour, MaxBytes: 64}, New(1<<20, nil, nil)
	for range 3 {
		resp, _, err := cache.Do(request(t, t.Context(), "GET", "/a"), Name{}, r, s.fetch)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Header.Get("X-A") != "1" {
			t.Error("a header was written to")
		}
		resp.Header.Set("X-A", "2")
		var b bytes.Buffer
		_, _ = b.ReadFrom(resp.Body)
		resp.Body.Close()
		copy(b.Bytes(), "XXXX")
	}
}
