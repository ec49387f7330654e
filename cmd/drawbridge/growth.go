package main

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// How far the heap may grow between two collections, in percent of what is alive.
const (
	// The kept part of a document is allocated among much garbage; the fewer collections, the further it is spread over
	// memory that then can't be returned to the system. GitHub's document takes 4 MB more with Go's default of 100.
	growthReading = 65
	// The live heap of a gateway that serves is small at most times, so that memory is cheap, and collections are what makes the
	// slowest calls slow (docs/contributing/performance.md).
	growthServing = 400
	// Where much is alive, memory is dear, and a collection looks at more: then garbage has growthBytes, in bytes, but no less than
	// growthLeast percent, so that collections don't take more than a small part of the processor. While a document is read the heap may
	// have growthPart of the limit of memory, and garbage growthSpare of it in any case: reading makes most garbage, and collections are what calls wait
	// for meanwhile.
	growthBytes = 32 << 20
	growthPart  = 0.6
	growthSpare = 0.25
	growthLeast = 40
)

// growthStep is by how much of itself the growth in use must be wrong before another is set, which stops all goroutines for a moment.
const growthStep = 0.2

// growth is the growth of a gateway that serves, with so many bytes alive; spare is the garbage that there may be in any case, in bytes.
func growth(alive, spare uint64) int {
	if alive == 0 {
		return growthServing
	}
	return min(max(int(max(growthBytes, spare)*100/alive), growthLeast), growthServing)
}

// tuneMemory sets how far the heap may grow, unless the operator has decided with GOGC.
func tuneMemory(getenv func(string) string, growth int) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(growth)
	}
}

// followMemory has the growth follow what each collection finds alive, until ctx ends, unless the operator has decided with GOGC. reading tells whether a document is read. The runtime
// counts stacks and globals as alive, too: thousands of connections are many stacks.
func followMemory(ctx context.Context, getenv func(string) string, reading func() bool) {
	if getenv("GOGC") != "" {
		return
	}
	f := growthFollower{reading: reading, limit: uint64(debug.SetMemoryLimit(-1)), set: func(percent int) { debug.SetGCPercent(percent) }}
	for {
		collected := nextCollection()
		f.follow(aliveBytes())
		select {
		case <-collected:
		case <-ctx.Done():
			return
		}
	}
}

// growthFollower sets a growth when another one is needed.
type growthFollower struct {
	reading func() bool // whether a document is read
	limit   uint64      // of memory, in bytes; [math.MaxInt64]: none
	current int         // percent; 0: none was set
	set     func(percent int)
}

// spare is the garbage that there may be beside a document that is read, and what is alive, in bytes.
func (f *growthFollower) spare(alive uint64) uint64 {
	if f.limit >= math.MaxInt64 || !f.reading() {
		return 0
	}
	return uint64(max(growthSpare*float64(f.limit), growthPart*float64(f.limit)-float64(alive)))
}

func (f *growthFollower) follow(alive uint64) {
	wanted := growth(alive, f.spare(alive))
	if math.Abs(float64(wanted-f.current)) < growthStep*float64(f.current) {
		return
	}
	f.current = wanted
	f.set(wanted)
}

// nextCollection is closed when the collector has run.
func nextCollection() <-chan struct{} {
	collected := make(chan struct{})
	garbage := new([64]byte) // large enough to be an allocation of its own
	runtime.AddCleanup(garbage, func(c chan struct{}) { close(c) }, collected)
	return collected
}

// aliveBytes is what the last collection has found alive: that of which the growth is a part.
func aliveBytes() (n uint64) {
	s := [...]metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(s[:])
	for _, part := range s {
		n += part.Value.Uint64()
	}
	return n
}
