package cache

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestStalledReader: who has begun to read an answer and stops holds up nobody who asks for the same; a service that is slow with its body does not count
// as that.
func TestStalledReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: func(n int64, _ *http.Request) (int, string, string) {
			return 200, "", strings.Repeat(fmt.Sprint(n), 100)
		}}
		r, cache := &Rule{TTL: time.Hour, MaxBytes: 1 << 10}, New(1<<20, nil, nil)
		for _, begins := range []bool{true, false} {
			n := Name{Variant: fmt.Sprint(begins)}
			resp, o, err := cache.Do(request(t, t.Context(), "GET", "/a"), n, r, s.fetch)
			if err != nil || o != Miss {
				t.Fatal(o, err)
			}
			if begins {
				_, _ = io.ReadFull(resp.Body, make([]byte, 10))
			}
			began := time.Now()
			got := get(t, cache, s, n, r, "GET", "/a")
			if took := time.Since(began); took > 2*time.Second || !strings.HasPrefix(got, "miss 200 ") {
				t.Errorf("begun: %v: %s after %v", begins, got, took)
			}
			began = time.Now()
			if got = get(t, cache, s, n, r, "GET", "/a"); time.Since(began) > 0 {
				t.Errorf("begun: %v: the next waits too: %s", begins, got)
			}
			rest, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if want := 100; begins && len(rest) != want-10 || !begins && len(rest) != want || err != nil {
				t.Errorf("begun: %v: %d bytes, %v", begins, len(rest), err)
			}
			time.Sleep(unkeptTime)
			get(t, cache, s, n, r, "GET", "/a")
			if got = get(t, cache, s, n, r, "GET", "/a"); !strings.HasPrefix(got, "hit") {
				t.Errorf("begun: %v: later: %s", begins, got)
			}
		}
		slow := func(req *http.Request) (*http.Response, error) {
			resp, err := s.fetch(req)
			resp.Body = io.NopCloser(&dripping{resp.Body})
			return resp, err
		}
		synctest.Wait()
		done := make(chan string)
		for range 2 {
			go func() {
				resp, o, err := cache.Do(request(t, t.Context(), "GET", "/slow"), Name{}, r, slow)
				if err != nil {
					done <- err.Error()
					return
				}
				_, _ = io.ReadAll(resp.Body)
				resp.Body.Close()
				done <- string(o)
			}()
			synctest.Wait()
		}
		if a, b := <-done, <-done; a+b != "misshit" && a+b != "hitmiss" {
			t.Errorf("a slow service was asked twice: %s, %s", a, b)
		}
	})
}

// dripping gives a byte every three seconds.
type dripping struct{ r io.Reader }

func (d *dripping) Read(p []byte) (int, error) {
	time.Sleep(3 * time.Second)
	return d.r.Read(p[:1])
}
