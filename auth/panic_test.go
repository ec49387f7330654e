package auth

import (
	"strings"
	"testing"
	"time"
)

// TestPanicWhileKeysAreFetched: keys are fetched by a goroutine that has no request around it.
func TestPanicWhileKeysAreFetched(t *testing.T) {
	broken := false
	h := newHouse(t, func(o *Options) {
		now := o.Now
		o.Now = func() time.Time {
			if broken {
				panic("injected")
			}
			return now()
		}
	})
	i := h.guard.issuers[h.a.url]
	broken = true
	if err := i.refreshRecovering(t.Context()); err == nil || err.Error() != "panic: injected" {
		t.Errorf("tryRefresh = %v", err)
	}
	if log := h.log.String(); !strings.Contains(log, "keys or metadata of issuer not fetched") || !strings.Contains(log, "issuer.go") {
		t.Errorf("log: %s", log)
	}
	broken = false
	if err := i.refreshRecovering(t.Context()); err != nil {
		t.Errorf("after the panic: %v", err)
	}
}
