package upstream

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"
)

// TestProtectionAllocatesNothing: a call that neither waits nor is sent again
// costs what one costs of a client that protects nobody.
func TestProtectionAllocatesNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	cost := func(o Options) float64 {
		o.BaseURL = parse(t, "http://orders.internal")
		resp := reply(200)
		resp.Body = http.NoBody
		o.Wrap = service(func(*http.Request) (*http.Response, error) {
			own := *resp
			return &own, nil
		})
		client := newClient(o)
		defer client.Close()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://orders.internal/", nil)
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(200, func() {
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		})
	}
	plain := cost(Options{})
	if protected := cost(Options{Bulkhead: Bulkhead{InFlight: 64, Queued: 128}, Breaker: usual, Retries: Retries{Max: 2, Budget: 10}, ConnectionAge: 5 * time.Minute}); protected > plain {
		t.Errorf("%v allocations, %v without protection", protected, plain)
	}
}
