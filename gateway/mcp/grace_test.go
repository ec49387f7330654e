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
		b := NewBroker(BrokerOptions{SubscribeResource: func(context.Context, Subscription) (func(), error) { return nil, nil }})
		id := [16]byte{1}
		subs, err, _ := b.findOrAddSession(id, Subscriber{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.subscribe(t.Context(), subs, "test://a"); err != nil {
			t.Fatal(err)
		}
		b.subscribeDone(id, subs)
		there := func() bool {
			synctest.Wait()
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.sessions[id] == subs
		}
		b.mu.Lock() // which the timer waits for when both have come to their end
		time.Sleep(sessionGrace)
		b.startGrace(id, subs)
		b.mu.Unlock()
		if !there() {
			t.Fatal("the session has ended with the grace that it had before")
		}
		time.Sleep(sessionGrace - time.Second)
		if !there() {
			t.Error("the session has ended within its grace")
		}
		time.Sleep(2 * time.Second)
		if there() {
			t.Error("the session is still there")
		}
	})
}
