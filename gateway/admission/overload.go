package admission

import (
	"math"
	"sync/atomic"

	"drawbridge/gateway/telemetry"
)

// LoadShedder sheds load: it limits the calls in flight, and refuses further ones while memory is short. The zero value is ready to
// use. It is safe for concurrent use.
type LoadShedder struct {
	calls  atomic.Int64 // in flight
	memory memoryMonitor
}

// Check returns why no further call can be admitted, or "". It admits none. memoryChecked is set if an earlier Check of the same call has
// measured the memory.
func (s *LoadShedder) Check(maxCalls int, memoryChecked bool) telemetry.RefusalReason {
	switch {
	case s.calls.Load() >= int64(maxCalls):
		return telemetry.RefusedOverload
	case memoryChecked && s.memory.short.Load(), !memoryChecked && s.memory.check():
		return telemetry.RefusedMemory
	}
	return ""
}

// Admit counts a call as in flight until [LoadShedder.Done], or returns why it can't.
func (s *LoadShedder) Admit(maxCalls int) telemetry.RefusalReason {
	if s.calls.Add(1) > int64(maxCalls) {
		s.calls.Add(-1)
		return telemetry.RefusedOverload
	}
	return ""
}

// Done no longer counts an admitted call as in flight.
func (s *LoadShedder) Done() { s.calls.Add(-1) }

// InFlight returns the number of calls that are admitted and not done.
func (s *LoadShedder) InFlight() int64 { return s.calls.Load() }

// MemoryShort reports whether the process is close to its memory limit.
func (s *LoadShedder) MemoryShort() bool { return s.memory.check() }

// PinMemory sets whether memory is short until unpin is called. It is for tests.
func (s *LoadShedder) PinMemory(short bool) (unpin func()) {
	s.memory.short.Store(short)
	s.memory.next.Store(math.MaxInt64)
	return func() { s.memory.next.Store(0) }
}
