package cache

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestForeignValidator: a 304 that names another version than the one asked about says nothing of what is kept (section 4.3.4): it is
// asked for again, without conditions.
func TestForeignValidator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ kept, said, want string }{
			{`"1"`, `"2"`, "miss 200 version 2"},
			{`W/"1"`, `W/"2"`, "miss 200 version 2"},
			{`"1"`, `W/"2"`, "miss 200 version 2"},
			{`"1"`, `"1"`, "revalidated 200 version 1"},
			{`W/"1"`, `"1"`, "revalidated 200 version 1"},
			{`"1"`, "", "revalidated 200 version 1"},
		} {
			s := &service{answer: func(n int64, req *http.Request) (int, string, string) {
				if len(req.Header["If-None-Match"]) == 0 {
					return 200, fmt.Sprintf("Cache-Control: max-age=10\nETag: %s", c.kept), fmt.Sprintf("version %d", min(n, 2))
				}
				if c.said == "" {
					return 304, "Cache-Control: max-age=10", ""
				}
				return 304, "Cache-Control: max-age=10\nETag: " + c.said, ""
			}}
			r, cache := &Rule{MaxBytes: 1 << 10}, New(1<<20, nil, nil)
			get(t, cache, s, Name{}, r, "GET", "/a")
			time.Sleep(11 * time.Second)
			if got := get(t, cache, s, Name{}, r, "GET", "/a"); got != c.want {
				t.Errorf("%s, then 304 of %s: %s, want %s", c.kept, c.said, got, c.want)
			}
			want := strings.NewReplacer("miss", "hit", "revalidated", "hit").Replace(c.want)
			if got := get(t, cache, s, Name{}, r, "GET", "/a"); got != want {
				t.Errorf("%s, then 304 of %s: %s, want %s", c.kept, c.said, got, want)
			}
		}
	})
}

// TestDatelessRevalidation: a 304 without Date came when it was received (RFC 9110 section 6.6.1): the Expires of what is kept does not count from the
// Date of what was kept then.
func TestDatelessRevalidation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
		head := "ETag: \"1\"\nDate: " + at(0) + "\nExpires: " + at(time.Minute)
		s := &service{answer: func(_ int64, req *http.Request) (int, string, string) {
			if len(req.Header["If-None-Match"]) > 0 {
				return 304, "ETag: \"1\"", ""
			}
			return 200, head, "x"
		}}
		r, cache := &Rule{MaxBytes: 1 << 10}, New(1<<20, nil, nil)
		get(t, cache, s, Name{}, r, "GET", "/a")
		time.Sleep(61 * time.Second)
		for range 2 {
			if got := get(t, cache, s, Name{}, r, "GET", "/a"); got != "revalidated 200 x" {
				t.Errorf("after it has expired: %s", got)
			}
		}
	})
}
