package authtest

import (
	"slices"
	"time"
)

// vault keeps what was handed out, by its secret name, until it expires. It is bounded: the oldest entry makes room for
// the newest. Not safe for concurrent use.
type vault[T any] struct {
	most    int
	entries map[string]kept[T]
	order   []string // by age; names that are gone may still stand here
}

type kept[T any] struct {
	value T
	until time.Time // zero: for good
}

func newVault[T any](most int) *vault[T] {
	return &vault[T]{most: most, entries: make(map[string]kept[T])}
}

func (k kept[T]) expired(now time.Time) bool { return !k.until.IsZero() && !now.Before(k.until) }

// put keeps a value under a name that was not used before.
func (v *vault[T]) put(name string, value T, until, now time.Time) {
	v.sweep(now)
	v.entries[name] = kept[T]{value, until}
	v.order = append(v.order, name)
}

// sweep makes room for one entry.
func (v *vault[T]) sweep(now time.Time) {
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

// take is get, and nobody gets it again.
func (v *vault[T]) take(name string, now time.Time) (T, bool) {
	value, ok := v.get(name, now)
	delete(v.entries, name)
	return value, ok
}
