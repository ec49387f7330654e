package cache

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// common is a Beyond in memory.
type common struct {
	mu     sync.Mutex
	values map[string]commonValue
	mark   int
	looks  int
	told   []string
}

// slow is one beyond which others look while a change is told.
type slow struct {
	*common
	meanwhile func()
}

func (s *slow) Changed(ctx context.Context, group string, places []string) {
	s.meanwhile()
	s.common.Changed(ctx, group, places)
}

type commonValue struct {
	value []byte
	mark  string
	until time.Time
}

func (c *common) Get(_ context.Context, key, _, _ string) ([]byte, time.Duration, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	v := c.values[key]
	if mark := fmt.Sprint(c.mark); v.mark != mark {
		return nil, 0, mark
	}
	return v.value, time.Until(v.until), v.mark
}

func (c *common) Put(key, _, mark string, value []byte, life time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values[key] = commonValue{value, mark, time.Now().Add(life)}
}

func (c *common) Changed(_ context.Context, group string, places []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mark++
	c.told = append(c.told, group+" "+strings.Join(places, " "))
}

// TestBeyond: what one has kept another finds, with one look for many that ask, no longer than it is fresh, and not for others; a change is
// told, and what is too large, or was on its way then, is not put.
func TestBeyond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: func(n int64, _ *http.Request) (int, string, string) {
			return 200, "Cache-Control: max-age=60\nX-Kept: yes", fmt.Sprint(n)
		}}
		r, b := &Rule{MaxBytes: 1 << 20}, &common{values: map[string]commonValue{}}
		one, two := New(1<<22, nil, nil), New(1<<22, nil, nil)
		one.With(b)
		two.With(b)
		want := func(c *Cache, n Name, at, want string) {
			t.Helper()
			if got := get(t, c, s, n, r, "GET", at); got != want {
				t.Errorf("%s: %s, want %s", at, got, want)
			}
		}
		alice, bob := Name{Owner: "alice", Group: "g"}, Name{Owner: "bob", Group: "g"}
		want(one, alice, "/a", "miss 200 1")
		time.Sleep(20 * time.Second)
		want(two, bob, "/a", "miss 200 2")
		want(two, alice, "/a?b", "miss 200 3")
		looks := b.looks
		want(two, alice, "/a", "shared 200 1")
		want(two, alice, "/a", "hit 200 1")
		if b.looks != looks+1 {
			t.Errorf("%d looks for one answer", b.looks-looks)
		}
		time.Sleep(39 * time.Second)
		want(two, alice, "/a", "hit 200 1")
		time.Sleep(time.Second)
		want(two, alice, "/a", "miss 200 4") // 60 seconds after it was asked for, whoever has it
		u, _ := url.Parse("http://service.test/a/b")
		one.Changed(t.Context(), "g", u)
		want(one, alice, "/a", "miss 200 5")
		if got := strings.Join(b.told, "|"); got != "g http://service.test/a/b http://service.test/a http://service.test/a/" {
			t.Errorf("told: %s", got)
		}
		want(two, alice, "/a", "hit 200 4")
		two.Stale("g", strings.Fields(b.told[0])[1:])
		want(two, alice, "/a", "shared 200 5")
		two.Stale("g", []string{"http://service.test/a/c", "nonsense", "http://nowhere", ""})
		want(two, alice, "/a", "hit 200 5")

		r.MaxBytes = 1
		one.Stale("g", []string{"http://service.test/a"})
		want(one, alice, "/a", "shared 200 5")
		s.answer = func(int64, *http.Request) (int, string, string) {
			return 200, "Cache-Control: max-age=60", strings.Repeat("x", maxBeyond+1)
		}
		r.MaxBytes = 1 << 20
		n := len(b.values)
		get(t, one, s, alice, r, "GET", "/large")
		s.answer = func(int64, *http.Request) (int, string, string) {
			one.Changed(t.Context(), "g", u)
			return 200, "Cache-Control: max-age=60", "late"
		}
		get(t, one, s, alice, r, "GET", "/a/b")
		if len(b.values) != n {
			t.Errorf("%d values, want %d", len(b.values), n)
		}
		for _, took := range []time.Duration{maxFlight, maxFlight - time.Second} {
			s.answer = func(int64, *http.Request) (int, string, string) {
				time.Sleep(took)
				return 200, "Cache-Control: max-age=600", "slow"
			}
			get(t, one, s, alice, r, "GET", fmt.Sprint("/slow/", took))
			if put := len(b.values) > n; put != (took < maxFlight) {
				t.Errorf("after %v: put beyond: %v", took, put)
			}
		}
	})
}

// TestLookWhileChanged: what was found beyond while a change there was not told yet is not kept.
func TestLookWhileChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: func(n int64, _ *http.Request) (int, string, string) {
			return 200, "Cache-Control: max-age=3600", fmt.Sprint(n)
		}}
		r, c, alice := &Rule{MaxBytes: 1 << 20}, New(1<<22, nil, nil), Name{Owner: "alice", Group: "g"}
		var meanwhile string
		c.With(&slow{&common{values: map[string]commonValue{}}, func() { meanwhile = get(t, c, s, alice, r, "GET", "/a") }})
		get(t, c, s, alice, r, "GET", "/a")
		u, _ := url.Parse("http://service.test/a")
		c.Changed(t.Context(), "g", u)
		if after := get(t, c, s, alice, r, "GET", "/a"); meanwhile != "shared 200 1" || after != "miss 200 2" {
			t.Errorf("meanwhile %s, after it %s", meanwhile, after)
		}
	})
}

// TestMissed: who may not have heard of a change has nothing in memory any more, of what was kept or is on its way: of one group, or of all.
func TestMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := &Rule{MaxBytes: 1 << 20}, New(1<<22, nil, nil)
		s := &service{answer: func(n int64, _ *http.Request) (int, string, string) {
			return 200, "Cache-Control: max-age=600", fmt.Sprint(n)
		}}
		want := func(group, at, want string) {
			t.Helper()
			if got := get(t, c, s, Name{Owner: "alice", Group: group}, r, "GET", at); got != want {
				t.Errorf("%s of %s: %s, want %s", at, group, got, want)
			}
		}
		want("g", "/a", "miss 200 1")
		want("g", "/b", "miss 200 2")
		want("other", "/a", "miss 200 3")
		c.Stale("g", nil)
		want("g", "/a", "miss 200 4")
		want("g", "/b", "miss 200 5")
		want("other", "/a", "hit 200 3")
		c.Missed()
		want("g", "/a", "miss 200 6")
		want("other", "/a", "miss 200 7")
		answer := s.answer
		s.answer = func(n int64, req *http.Request) (int, string, string) {
			c.Missed()
			return answer(n, req)
		}
		want("g", "/late", "miss 200 8")
		want("g", "/late", "miss 200 9")
		if _, n := c.Size(); n != 0 {
			t.Errorf("%d answers are kept", n)
		}
	})
}

// FuzzBeyond holds that whatever stands beyond, an answer is made of it that the rule allows and that is fresh, or none.
func FuzzBeyond(f *testing.F) {
	e := &entry{status: 200, header: map[string][]string{"Cache-Control": {"max-age=60"}}, body: []byte("x"), received: time.Unix(1_800_000_000, 0)}
	f.Add(e.encode())
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Add([]byte("\x00\x00\x00\x10{\"s\":200,\"a\":-1}"))
	now := time.Unix(1_800_000_010, 0)
	f.Fuzz(func(t *testing.T, text []byte) {
		r := &Rule{TTL: time.Hour, MaxBytes: 16}
		e, ok := (&flight{}).decode(text, request(t, t.Context(), "GET", "/"), r, time.Minute, now)
		if !ok {
			return
		}
		left := e.lifetime - e.age - now.Sub(e.received)
		if left <= 0 || left > time.Minute || len(e.body) > 16 || e.header["Set-Cookie"] != nil {
			t.Fatalf("%v left of %+v", left, e)
		}
		if resp := e.response(request(t, t.Context(), "GET", "/")); resp.StatusCode != e.status || resp.ContentLength != int64(len(e.body)) {
			t.Fatalf("%+v", resp)
		}
	})
}
