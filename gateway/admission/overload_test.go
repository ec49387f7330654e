package admission

import (
	"math"
	"runtime"
	"testing"

	"drawbridge/gateway/telemetry"
)

// TestMemory: what counts is what is alive, with room for garbage, against the limit of the process.
func TestMemory(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		use  memoryUse
		want bool
	}{
		{memoryUse{limit: math.MaxInt64, live: 1 << 40}, false},
		{memoryUse{limit: 256 * mib, live: 100 * mib, other: 20 * mib}, false},
		{memoryUse{limit: 256 * mib, live: 157 * mib, other: 20 * mib}, false},
		{memoryUse{limit: 256 * mib, live: 160 * mib, other: 20 * mib}, true},
		{memoryUse{limit: 256 * mib, live: 10 * mib, other: 210 * mib}, true},
	} {
		if got := c.use.short(); got != c.want {
			t.Errorf("%+v: %v", c.use, got)
		}
	}
	runtime.GC() // which finds out what is alive
	if u := readMemory(); u.limit == 0 || u.live == 0 || u.other == 0 || u.other > 1<<32 {
		t.Errorf("of this process: %+v", u)
	}
	var m memoryMonitor
	if m.check() {
		t.Error("without a limit there is always room")
	}
	m.short.Store(true)
	if !m.check() {
		t.Error("was looked at again at once")
	}
	m.next.Store(0)
	if m.check() {
		t.Error("was not looked at again")
	}
}

// TestAdmit: as many calls are in flight as there may be, and none is admitted while memory is short.
func TestAdmit(t *testing.T) {
	var c LoadShedder
	for range 2 {
		if because := c.Check(2, false); because != "" {
			t.Fatal(because)
		}
		if because := c.Admit(2); because != "" {
			t.Fatal(because)
		}
	}
	if check, admit := c.Check(2, false), c.Admit(2); check != telemetry.RefusedOverload || admit != telemetry.RefusedOverload || c.InFlight() != 2 {
		t.Errorf("%q and %q, %d in flight", check, admit, c.InFlight())
	}
	c.Done()
	if because := c.Admit(2); because != "" {
		t.Errorf("after one is done: %s", because)
	}
	unpin := c.PinMemory(true)
	for _, checked := range []bool{false, true} {
		if because := c.Check(3, checked); because != telemetry.RefusedMemory {
			t.Errorf("memory is short: %q", because)
		}
	}
	unpin()
	if c.Check(3, true) != telemetry.RefusedMemory {
		t.Error("the memory was measured again for the same call")
	}
	if because := c.Check(3, false); because != "" || c.MemoryShort() {
		t.Errorf("memory is there again: %q", because)
	}
}
