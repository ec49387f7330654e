package discovery

import (
	"context"
	"errors"
	"time"
)

// searchSlots limits how many documents of one provider are looked for at a time. Providers have slots of their own, so that services
// that are slow, or hang on purpose, delay no service of another provider. Within a provider a search that takes long goes on with
// slots of its own: one that answers at once waits for a few seconds at most, however many others hang.
type searchSlots struct{ first, slow chan struct{} }

// Limits of the searches of one provider.
const (
	slotsOfProvider = 16          // of each kind
	firstSearchTime = time.Second // after which a search is a slow one
)

func newSearchSlots() searchSlots {
	return searchSlots{make(chan struct{}, slotsOfProvider), make(chan struct{}, slotsOfProvider)}
}

// run looks for a document as soon as there is a slot. isFirst reports whether no search for it has failed.
func (s searchSlots) run(ctx context.Context, isFirst bool, find searchFunc) (location, by string, err error) {
	if isFirst {
		location, by, err = runIn(ctx, s.first, firstSearchTime, find)
		if !errors.Is(err, errSlow) {
			return location, by, err
		}
	}
	return runIn(ctx, s.slow, searchTime, find)
}

// searchFunc looks for a document until ctx ends.
type searchFunc func(ctx context.Context) (location, by string, err error)

// errSlow is the error of a search that took its time without a result.
var errSlow = errors.New("the service is slow")

// runIn looks for a document for so long, as soon as there is a slot.
func runIn(ctx context.Context, slots chan struct{}, most time.Duration, find searchFunc) (location, by string, err error) {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return "", "", ctx.Err()
	}
	limited, cancel := context.WithTimeoutCause(ctx, most, errSlow)
	defer cancel()
	if location, by, err = find(limited); err != nil && most < searchTime && errors.Is(context.Cause(limited), errSlow) {
		err = errSlow
	}
	return location, by, err
}
