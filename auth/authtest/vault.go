package authtest

import (
	"slices"
	"time"
)

// vault is a bounded map of issued secrets with expiry, which evicts the oldest entry. It is not
// safe for concurrent use.
type vault[T any] struct {
	most    int
	entries map[string]entry[T]
	order   []string // by age; may contain removed names
}

type entry[T any] struct {
	value T
	until time.Time // zero if it does not expire
}

func newVault[T any](most int) *vault[T] {
	return &vault[T]{most: most, entries: make(map[string]entry[T])}
}

func (k entry[T]) expired(now time.Time) bool { return !k.until.IsZero() && !now.Before(k.until) }

// put stores a value under a new name.
func (v *vault[T]) put(name string, value T, until, now time.Time) {
	v.evict(now)
	v.entries[name] = entry[T]{value, until}
	v.order = append(v.order, name)
}

// evict makes room for one entry.
func (v *vault[T]) evict(now time.Time) {
	for len(v.order) > 0 {
		oldest := v.order[0]
		if e, ok := v.entries[oldest]; ok && !e.expired(now) && len(v.entries) < v.most {
			break
		}
		delete(v.entries, oldest)
		v.order = v.order[1:]
	}
	if len(v.order) >= 2*v.most {
		v.order = slices.DeleteFunc(v.order, func(name string) bool { _, ok := v.entries[name]; return !ok })
	}
}

func (v *vault[T]) get(name string, now time.Time) (T, bool) {
	e, ok := v.entries[name]
	if !ok || e.expired(now) {
		var none T
		return none, false
	}
	return e.value, true
}

// take returns and removes a value.
func (v *vault[T]) take(name string, now time.Time) (T, bool) {
	value, ok := v.get(name, now)
	delete(v.entries, name)
	return value, ok
}
