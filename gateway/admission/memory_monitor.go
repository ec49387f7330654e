package admission

import (
	"math"
	"runtime"
	rtmetrics "runtime/metrics"
	"sync/atomic"
	"time"
)

// MemoryShare returns the memory that the process needs as a part of its limit, or 0 if it has none.
func MemoryShare() float64 { return readMemory().share() }

// memoryMonitor reports whether the memory that the process needs comes near to its limit (GOMEMLIMIT). Nothing runs in the background:
// now and then one of those who ask measures it, and the others get the last result.
type memoryMonitor struct {
	next   atomic.Int64 // time of the next measurement, Unix time in ns
	short  atomic.Bool
	cycles uint64    // of the collector, at the last measurement
	since  time.Time // when that number was new
}

const (
	memoryInterval = 50 * time.Millisecond
	// memoryThreshold is the part of the limit from which on no further calls are admitted.
	memoryThreshold = 0.85
	// memoryStale is the time without a collection after which one is forced while calls are refused: refusing makes no garbage,
	// so nobody would find out that memory is free again.
	memoryStale = 250 * time.Millisecond
)

func (m *memoryMonitor) check() (short bool) {
	now := time.Now()
	next := m.next.Load()
	// During a measurement the time of the next one is in the far future.
	if now.UnixNano() < next || !m.next.CompareAndSwap(next, math.MaxInt64) {
		return m.short.Load()
	}
	defer func() { m.next.Store(time.Now().Add(memoryInterval).UnixNano()) }()
	u := readMemory()
	if u.cycles != m.cycles {
		m.cycles, m.since = u.cycles, now
	}
	if u.short() && now.Sub(m.since) > memoryStale {
		runtime.GC()
		u = readMemory()
		m.cycles, m.since = u.cycles, time.Now()
	}
	m.short.Store(u.short())
	return m.short.Load()
}

// memoryUse is the memory that the process uses, in bytes.
type memoryUse struct {
	limit, live, other uint64
	cycles             uint64
}

func (u memoryUse) short() bool { return u.share() > memoryThreshold }

// share is the memory that the process needs as a part of its limit, or 0 if it has none. It takes a quarter more than the last
// collection has found alive. The heap's size says nothing: the collector uses all that the limit allows, so it may all be garbage.
func (u memoryUse) share() float64 {
	if u.limit >= math.MaxInt64 {
		return 0
	}
	return (float64(u.live)*1.25 + float64(u.other)) / float64(u.limit)
}

func readMemory() memoryUse {
	s := [...]rtmetrics.Sample{
		{Name: "/gc/gomemlimit:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
	}
	rtmetrics.Read(s[:])
	other := s[3].Value.Uint64()
	for _, heap := range s[4:] {
		other -= min(other, heap.Value.Uint64())
	}
	return memoryUse{limit: s[0].Value.Uint64(), live: s[1].Value.Uint64(), cycles: s[2].Value.Uint64(), other: other}
}
