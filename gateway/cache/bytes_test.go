package cache

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

// TestBytes: what is counted is no less than what the memory holds, also of many answers that are small, of which nothing is kept, and of many owners and
// hosts with long names.
func TestBytes(t *testing.T) {
	for _, c := range []struct {
		name         string
		owner, place func(i int) string
		header, body string
	}{
		{"small", func(int) string { return "" }, func(i int) string { return fmt.Sprint("/", i) }, "Cache-Control: max-age=60", "x"},
		{"none", func(int) string { return "" }, func(i int) string { return fmt.Sprint("/", i) }, "Cache-Control: no-store", "x"},
		{"owners", func(i int) string { return fmt.Sprint(i) }, func(i int) string { return fmt.Sprint("/", i) }, "Cache-Control: max-age=60", "x"},
		{"paths", func(int) string { return "" }, func(i int) string { return fmt.Sprint("/", i, strings.Repeat("a", 2000)) }, "Cache-Control: max-age=60", "x"},
		{"queries", func(int) string { return "" }, func(i int) string { return fmt.Sprint("/?", i) }, "Cache-Control: no-store", "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			const n = 3_000
			s := func(req *http.Request) (*http.Response, error) {
				h := http.Header{}
				name, value, _ := strings.Cut(c.header, ": ")
				h.Set(name, strings.Clone(value))
				return &http.Response{StatusCode: 200, Header: h, ContentLength: int64(len(c.body)), Body: io.NopCloser(strings.NewReader(c.body)), Request: req}, nil
			}
			cache := New(1<<30, nil, nil)
			heap := func() uint64 {
				runtime.GC()
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			before := heap()
			for i := range n {
				resp, _, err := cache.Do(request(t, t.Context(), "GET", c.place(i)), Name{Owner: c.owner(i)}, &Rule{MaxBytes: 1 << 10}, s)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.ReadAll(resp.Body)
				resp.Body.Close()
			}
			held := int64(heap() - before)
			counted, kept := cache.Size()
			t.Logf("%d answers: %d bytes each, counted as %d", kept, held/n, counted/n)
			if held > counted*5/4 {
				t.Errorf("%d bytes are counted as %d", held, counted)
			}
			runtime.KeepAlive(cache)
		})
	}
}
