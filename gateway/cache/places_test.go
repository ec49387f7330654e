package cache

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestPlaces: a change at a URL is one at all spellings of it, and what a service says elsewhere changed must be of its own origin.
func TestPlaces(t *testing.T) {
	s := &service{answer: func(n int64, _ *http.Request) (int, string, string) { return 200, "", fmt.Sprint(n) }}
	r := &Rule{TTL: time.Hour, MaxBytes: 64}
	for _, c := range []struct {
		kept, changed string
		stale         bool
	}{
		{"/a-b/c", "http://service.test/a%2Db/c", true},
		{"/a%2db", "http://service.test/a-b", true},
		{"/a%2Fb", "http://service.test/a%2fb", true},
		{"/a%2Fb", "http://service.test/a/b", false},
		{"/a", "http://service.test/a/x%2Fy", true},
		{"/a/x", "http://service.test/a/x%2Fy", false},
		{"/a;b", "http://service.test/a%3Bb", true},
		{"/a%0Ab", "http://service.test/a%0ab", true},
		{"/a", "HTTP://SERVICE.test:80/a", true},
		{"/a", "http://service.test:8080/a", false},
		{"/a", "https://service.test/a", false},
	} {
		cache := New(1<<20, nil, nil)
		u, err := url.Parse(c.changed)
		if err != nil {
			t.Fatal(err)
		}
		get(t, cache, s, Name{}, r, "GET", c.kept)
		cache.Forget("", u)
		if got := get(t, cache, s, Name{}, r, "GET", c.kept); strings.HasPrefix(got, "miss") != c.stale {
			t.Errorf("%s, and a change at %s: %s", c.kept, c.changed, got)
		}
		cache.Stale("", []string{placeOf("", u).String()})
		if got := get(t, cache, s, Name{}, r, "GET", c.kept); c.stale && c.kept != "/a" && !strings.HasPrefix(got, "miss") {
			t.Errorf("%s, and a change at %s elsewhere: %s", c.kept, c.changed, got)
		}
	}
}
