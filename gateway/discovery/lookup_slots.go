package discovery

import (
	"context"
	"errors"
	"time"
)

// lookupSlots limits how many documents of one provider are looked for at a time. Providers have slots of their own, so that services
// that are slow, or hang on purpose, delay no service of another provider. Within a provider a lookup that takes long goes on with
// slots of its own: one that answers at once waits for a few seconds at most, however many others hang.
type lookupSlots struct{ first, slow chan struct{} }

// Limits of the lookups of one provider.
const (
	slotsOfProvider = 16          // of each kind
	firstLookupTime = time.Second // after which a lookup is a slow one
)

func newLookupSlots() lookupSlots {
	return lookupSlots{make(chan struct{}, slotsOfProvider), make(chan struct{}, slotsOfProvider)}
}

// run looks for a document as soon as there is a slot. isFirst reports whether no lookup of it has failed.
func (s lookupSlots) run(ctx context.Context, isFirst bool, find lookupFunc) (location, by string, err error) {
	if isFirst {
		location, by, err = runIn(ctx, s.first, firstLookupTime, find)
		if !errors.Is(err, errSlow) {
			return location, by, err
		}
	}
	return runIn(ctx, s.slow, lookupTime, find)
}

// lookupFunc looks for a document until ctx ends.
type lookupFunc func(ctx context.Context) (location, by string, err error)

// errSlow is the error of a lookup that took its time without a result.
var errSlow = errors.New("the service is slow")

// runIn looks for a document for so long, as soon as there is a slot.
func runIn(ctx context.Context, slots chan struct{}, most time.Duration, find lookupFunc) (location, by string, err error) {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return "", "", ctx.Err()
	}
	limited, cancel := context.WithTimeoutCause(ctx, most, errSlow)
	defer cancel()
	if location, by, err = find(limited); err != nil && most < lookupTime && errors.Is(context.Cause(limited), errSlow) {
		err = errSlow
	}
	return location, by, err
}
