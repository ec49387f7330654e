package upstream

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRetryWaitsOutside: who waits for what Retry-After says holds up nobody, and comes back by the queue. Who finds no place there
// gets the answer that was had.
func TestRetryWaitsOutside(t *testing.T) {
	for _, c := range []struct {
		name string
		took time.Duration // of the call that comes meanwhile
		want string        // becomes of the first
		hits []string
	}{
		{"the other has gone", 2 * time.Second, "200 \"ok\"\n", []string{"0s /first", "1s /other", "10s /first"}},
		{"the other goes while it queues", 9*time.Second + 300*time.Millisecond, "200 \"ok\"\n", []string{"0s /first", "1s /other", "10.3s /first"}},
		{"the other stays", 15 * time.Second, "503 \"ok\"\n", []string{"0s /first", "1s /other"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				var hits []string
				client := newClient(Options{Name: "orders", Timeout: time.Minute, Retries: Retries{Max: 1, Budget: 10}, Bulkhead: Bulkhead{InFlight: 1, Queued: 1},
					Wrap: service(func(r *http.Request) (*http.Response, error) {
						hits = append(hits, time.Since(begin).String()+" "+r.URL.Path)
						switch {
						case r.URL.Path == "/other":
							time.Sleep(c.took)
						case len(hits) == 1:
							return reply(503, "Retry-After", "10"), nil
						}
						return reply(200), nil
					})})
				defer client.Close()
				client.retries.jitter = func(time.Duration) time.Duration { return 0 }
				other := make(chan string)
				time.AfterFunc(time.Second, func() {
					if inFlight, queued := client.Load(); inFlight != 0 || queued != 0 {
						t.Errorf("while it waits: %d in flight, %d queued", inFlight, queued)
					}
					other <- outcome(client, get(t, parse(t, "http://orders.internal/other")))
				})
				if got := outcome(client, get(t, parse(t, "http://orders.internal/first"))); got != c.want {
					t.Errorf("the first: %s, want %s", got, c.want)
				}
				if got := <-other; got != "200 \"ok\"\n" {
					t.Errorf("the other: %s", got)
				}
				if diff := cmp.Diff(c.hits, hits); diff != "" {
					t.Error(diff)
				}
				if inFlight, queued := client.Load(); inFlight != 0 || queued != 0 {
					t.Errorf("at the end: %d in flight, %d queued", inFlight, queued)
				}
			})
		})
	}
}
