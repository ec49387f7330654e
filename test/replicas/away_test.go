package main

import (
	"net/http"
	"strings"
	"testing"
)

// TestAway: with a Redis that was killed every replica goes on by itself, and together with the others when it is back, though all of
// it was lost.
func TestAway(t *testing.T) {
	w := newWorld(t, setup{})
	up := func(want bool) {
		w.eventually("all replicas have noticed", func() bool {
			for _, g := range w.gateways {
				if g.Status().Shared.Up != want || !g.Status().Ready {
					return false
				}
			}
			return true
		})
	}
	look := func(replica int, header ...string) int {
		return w.modern(replica, "tools/call", "look", `"name":"look","arguments":{}`, "", header...).status
	}
	id := w.begin(0)
	if got := w.get(1, id); !strings.Contains(got, `"working"`) {
		t.Errorf("before: %s", got)
	}
	if err := w.redis.Kill(); err != nil {
		t.Fatal(err)
	}
	proof := w.proof(http.MethodPost, resource, w.token)
	for i, want := range []int{200, 200, 200, 401} {
		if status := look(i%3, "DPoP", proof); status != want {
			t.Errorf("a proof that replica %d has seen, %v: %d", i%3, i > 2, status)
		}
	}
	if got := w.get(0, id); !strings.Contains(got, `"working"`) {
		t.Errorf("a task at the replica that has begun it: %s", got)
	}
	if a := w.modern(2, "tasks/get", id, `"taskId":"`+id+`"`, tasks); a.status != http.StatusServiceUnavailable {
		t.Errorf("the task of another replica: %d", a.status)
	}
	up(false)
	if n := w.gateways[0].Status().Shared.Replicas; n != 3 {
		t.Errorf("%d replicas were last seen", n)
	}
	if err := w.redis.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	up(true)
	if got := w.get(0, id); !strings.Contains(got, `"working"`) { // which brings it back
		t.Errorf("afterwards: %s", got)
	}
	if got := w.get(2, id); !strings.Contains(got, `"working"`) {
		t.Errorf("afterwards, at another: %s", got)
	}
	proof = w.proof(http.MethodPost, resource, w.token)
	for replica, want := range []int{200, 401, 401} {
		if status := look(replica, "DPoP", proof); status != want {
			t.Errorf("afterwards, a proof at replica %d: %d", replica, status)
		}
	}
}

// TestClosed: what the operator wants to be refused without Redis is.
func TestClosed(t *testing.T) {
	w := newWorld(t, setup{closed: "replays, consents"})
	look := func() int { return w.modern(0, "tools/call", "look", `"name":"look","arguments":{}`, "").status }
	if status := look(); status != http.StatusOK {
		t.Errorf("with Redis: %d", status)
	}
	if err := w.redis.Kill(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if status := look(); status != http.StatusServiceUnavailable {
			t.Errorf("without: %d", status)
		}
	}
}
