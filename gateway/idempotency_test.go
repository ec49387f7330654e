package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestBlackHole is L3, in numbers: of ten services one never answers. It gets as many calls as it may have, the queue fills,
// the rest is told so, and of the calls to the nine others none fails.
func TestBlackHole(t *testing.T) {
	release := make(chan struct{})
	entered := make(chan struct{}, 100)
	hole := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		entered <- struct{}{}
		<-release
	}))
	defer hole.Close()
	sound := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer sound.Close()
	var cfg strings.Builder
	cfg.WriteString("limits: {max_in_flight: 4, max_queued: 2, queue_timeout: 1m}\ntools: {prefix: always}\napis:\n")
	for n := range 10 {
		base := sound.URL
		if n == 0 {
			base = hole.URL
		}
		fmt.Fprintf(&cfg, "  - {spec: $SPEC, name: s%d, base_url: %q}\n", n, base)
	}
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "getOrders"), cfg.String(), "")
	call := func(api int) string {
		name := fmt.Sprintf("s%d_getOrders", api)
		_, answer := gatewaytest.Ask(t, g.Handler(), "", "tools/call", name, fmt.Sprintf(`"name":%q,"arguments":{}`, name))
		return string(answer)
	}
	const many = 20
	stuck := make(chan string, many)
	for range many {
		go func() { stuck <- call(0) }()
	}
	for range 4 {
		timebox.Wait(t, entered)
	}
	for range many - 4 - 2 {
		if answer := timebox.Receive(t, stuck); !strings.Contains(answer, `\"s0\" is busy: as many calls to it as the gateway allows are under way. Nothing was sent to it. Try again in 60 seconds.`) {
			t.Fatal(answer)
		}
	}
	if inFlight, queued := g.Clients()["s0"].Load(); inFlight != 4 || queued != 2 {
		t.Errorf("%d in flight, %d queued", inFlight, queued)
	}
	var wg sync.WaitGroup
	for api := 1; api < 10; api++ {
		for range 4 {
			wg.Go(func() {
				for range 10 {
					if answer := call(api); strings.Contains(answer, "isError") {
						t.Errorf("API %d: %s", api, answer)
					}
				}
			})
		}
	}
	timebox.Done(t, wg.Wait)
	close(release)
	for range 4 + 2 {
		if answer := timebox.Receive(t, stuck); strings.Contains(answer, "isError") {
			t.Error(answer)
		}
	}
	for api, client := range g.Clients() {
		if inFlight, queued := client.Load(); inFlight != 0 || queued != 0 {
			t.Errorf("%s: %d in flight, %d queued at the end", api, inFlight, queued)
		}
	}
}
