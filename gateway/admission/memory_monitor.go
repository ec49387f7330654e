package admission

import (
	"math"
	"runtime"
	rtmetrics "runtime/metrics"
	"sync/atomic"
	"time"
)

// MemoryShare returns the memory that the process needs as a fraction of its limit (GOMEMLIMIT); 0 without a limit.
func MemoryShare() float64 { return readMemory().share() }

// memoryMonitor reports whether the memory that the process needs is close to its limit (GOMEMLIMIT). Nothing runs in the background: a
// caller measures it if the last measurement is too old, and the others get the last result.
type memoryMonitor struct {
	next   atomic.Int64 // time of the next measurement, Unix time in ns
	short  atomic.Bool
	cycles uint64    // of the garbage collector, at the last measurement
	since  time.Time // when that number was new
}

const (
	memoryInterval = 50 * time.Millisecond
	// memoryThreshold is the fraction of the limit above which no further calls are admitted.
	memoryThreshold = 0.85
	// memoryStale is the time without a garbage collection after which one is forced while calls are refused. Refusals make no garbage,
	// so that otherwise none would run and find the memory free again.
	memoryStale = 250 * time.Millisecond
)

func (m *memoryMonitor) check() (short bool) {
	now := time.Now()
	next := m.next.Load()
	// During a measurement, next is in the far future.
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

// share returns the memory that the process needs as a fraction of its limit; 0 without a limit. The heap counts as a quarter more than
// the last collection found live. Its size is no measure: the collector uses all that the limit allows, so it may all be garbage.
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
