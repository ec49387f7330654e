package admission

import "sync/atomic"

// RequestMemory is the memory of the large responses to all calls of one request, which one [Reservation] holds. The zero value holds
// none. It is safe for concurrent use.
type RequestMemory struct{ shared atomic.Pointer[Reservation] }

// Join returns the reservation of the request: own if there was none.
func (m *RequestMemory) Join(own *Reservation) *Reservation {
	if m.shared.CompareAndSwap(nil, own) {
		return own
	}
	return m.shared.Load()
}

// End releases the memory, when the response is sent.
func (m *RequestMemory) End() {
	if r := m.shared.Load(); r != nil {
		r.End()
	}
}
