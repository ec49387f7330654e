package state

// Len returns the number of keys held, including those that have their whole burst again.
func (r *LocalRateCounters) Len() int {
	n := 0
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		n += len(s.keys)
		s.mu.Unlock()
	}
	return n
}

// Len returns the number of records held, including expired ones.
func (r *LocalRecords) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.order.Len()
}

// Len returns the number of names held, including expired ones.
func (t *Tombstones) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.names)
}
