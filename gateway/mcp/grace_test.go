package mcp

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestGraceIsRenewed: a session whose grace begins anew in the moment in which it ends has all of it.
func TestGraceIsRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(HubOptions{Watch: func(context.Context, Subscription) (func(), error) { return nil, nil }})
		id := [16]byte{1}
		w, err, _ := h.watcherOf(id, Viewer{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.watch(t.Context(), w, "test://a"); err != nil {
			t.Fatal(err)
		}
		h.asked(id, w)
		there := func() bool {
			synctest.Wait()
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.legacy[id] == w
		}
		h.mu.Lock() // which the timer waits for when both have come to their end
		time.Sleep(watchGrace)
		h.wait(id, w)
		h.mu.Unlock()
		if !there() {
			t.Fatal("the session has ended with the grace that it had before")
		}
		time.Sleep(watchGrace - time.Second)
		if !there() {
			t.Error("the session has ended within its grace")
		}
		time.Sleep(2 * time.Second)
		if there() {
			t.Error("the session is still there")
		}
	})
}
