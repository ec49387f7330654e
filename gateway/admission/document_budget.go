package admission

import (
	"fmt"
	"slices"
	"sync"

	"drawbridge/openapi"
)

// DocumentOwner is an owner of compiled documents, such as a source. It is comparable.
type DocumentOwner interface {
	// Label names the owner to operators.
	Label() string
	// Leaving reports whether the owner is being closed, so that its documents don't count against others.
	Leaving() bool
}

// DocumentBudget is the memory that compiled documents may take together: their operations, with the tools made of these. A document
// that doesn't fit is refused, so that no API grows until calls of the others are refused. It is safe for concurrent use.
type DocumentBudget struct {
	total, each int64
	floor       int64 // granted to every document, so that large documents don't exclude small ones
	mu          sync.Mutex
	of          map[DocumentOwner][]*openapi.API // an owner's old and new document may be the same as those of its successor
}

// NewDocumentBudget returns a budget of total bytes, of which one document may take each, and may take floor in any case. It is
// unlimited if total is 0.
func NewDocumentBudget(total, each, floor int64) *DocumentBudget {
	return &DocumentBudget{total: total, each: each, floor: floor, of: make(map[DocumentOwner][]*openapi.API)}
}

// Total returns the size of the budget in bytes, or 0 if it is unlimited.
func (b *DocumentBudget) Total() int64 { return b.total }

// Usage returns how many owners have documents, and their size in bytes. One that two owners have counts twice.
func (b *DocumentBudget) Usage() (owners int, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, apis := range b.of {
		bytes += size(apis)
	}
	return len(b.of), bytes
}

// Left returns the maximum size in bytes of the owner's next document, or 0 if it is unlimited. The document that it replaces doesn't
// count.
func (b *DocumentBudget) Left(o DocumentOwner) int64 {
	if b.total == 0 {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.leftLocked(o)
}

func (b *DocumentBudget) leftLocked(o DocumentOwner) int64 {
	left := b.total
	for _, bytes := range b.othersLocked(o) {
		left -= bytes
	}
	return max(min(left, b.each), b.floor)
}

// othersLocked returns the bytes that other owners have and this one doesn't.
func (b *DocumentBudget) othersLocked(o DocumentOwner) map[DocumentOwner]int64 {
	seen := slices.Clone(b.of[o])
	all := map[DocumentOwner]int64{}
	for other, apis := range b.of {
		if other == o || other.Leaving() {
			continue
		}
		for _, api := range apis {
			if !slices.Contains(seen, api) {
				seen = append(seen, api)
				all[other] += api.Size
			}
		}
	}
	return all
}

// Take makes a compiled document the only one of its owner, if it still fits: others may have come since [DocumentBudget.Left].
func (b *DocumentBudget) Take(o DocumentOwner, api *openapi.API) (ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.total > 0 && api.Size > b.leftLocked(o) {
		return false
	}
	b.of[o] = []*openapi.API{api}
	return true
}

// Fits reports whether an owner may have all of these at the same time.
func (b *DocumentBudget) Fits(o DocumentOwner, all ...*openapi.API) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total == 0 || size(all) <= b.leftLocked(o)
}

// Set counts these as the owner's documents, whether they fit or not.
func (b *DocumentBudget) Set(o DocumentOwner, all ...*openapi.API) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of[o] = all
}

// Expect counts the bytes that the document of an owner took in an earlier run until it is read, so that documents that are read sooner
// don't take its memory.
func (b *DocumentBudget) Expect(o DocumentOwner, bytes int64) {
	if bytes > 0 {
		b.Set(o, &openapi.API{Size: min(bytes, b.each)})
	}
}

// Remove forgets an owner and its documents.
func (b *DocumentBudget) Remove(o DocumentOwner) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of, o)
}

// TooLarge returns the error for a document of more than limit bytes, which is what [DocumentBudget.Left] returned before it was
// compiled.
func (b *DocumentBudget) TooLarge(o DocumentOwner, limit int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	limit = min(limit, b.leftLocked(o))
	which := "one document may take, a quarter of GOMEMLIMIT"
	if limit < b.each {
		which = fmt.Sprintf("are left of the %s for all APIs, a third of GOMEMLIMIT", mebibytes(b.total))
		var largest DocumentOwner
		others := b.othersLocked(o)
		for other, bytes := range others {
			if largest == nil || bytes > others[largest] || bytes == others[largest] && other.Label() < largest.Label() {
				largest = other
			}
		}
		if largest != nil {
			which += fmt.Sprintf(", of which %q has %s", largest.Label(), mebibytes(others[largest]))
		}
	}
	return fmt.Errorf("%w: more than the %s MiB that %s; split it, have another gateway serve it, or give this one more memory", openapi.ErrLargeAPI, mebibytes(limit), which)
}

func size(all []*openapi.API) (bytes int64) {
	for _, api := range all {
		bytes += api.Size
	}
	return bytes
}

func mebibytes(bytes int64) string { return fmt.Sprintf("%.1f", float64(bytes)/(1<<20)) }
