package main

import (
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"drawbridge/test/wire"
)

// TestAbandon: a call of which the service is told before its client has left has not been left.
func TestAbandon(t *testing.T) {
	for name, early := range map[string]bool{"told when the client leaves": false, "told before": true} {
		t.Run(name, func(t *testing.T) {
			var calls waiting
			var running atomic.Pointer[waited]
			// The gateway and the service in one.
			s, err := newService(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // the server looks for the end of the connection after it
				call := running.Load()
				if early {
					call.gone <- time.Now()
				}
				call.come <- time.Now()
				<-r.Context().Done()
				if !early {
					call.gone <- time.Now()
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			running.Store(calls.call("1"))
			took, err := abandon(t.Context(), s.host, wire.Modern, "closed", 1, calls.call("1"))
			if err != nil || (took < 0) != early {
				t.Errorf("it was told after %v, %v", took, err)
			}
			running.Store(calls.call("2"))
			lasts, err := lasts(t.Context(), s.host, wire.Modern, 2, calls.call("2"), 50*time.Millisecond)
			if err != nil || lasts == early {
				t.Errorf("it lasts: %v, %v", lasts, err)
			}
		})
	}
}
