package gateway

import (
	"fmt"
	"slices"
	"sync"

	"drawbridge/openapi"
)

// documents is the memory that what was made of all documents may take together: their operations, with the tools of these. Where memory is
// limited, a document that does not fit is refused, so that no API grows until calls of the others are. It is safe for concurrent use.
type documents struct {
	most, one int64 // bytes, of all and of one; 0: any
	least     int64 // bytes that each may have in any case, so that large ones keep no small one out
	mu        sync.Mutex
	of        map[*source][]*openapi.API // what each has; two have the same while one takes the place of the other
}

// leastDocument is documents.least: that of 300 plain tools.
const leastDocument = 1 << 20

// left is how many bytes a document of the source may have: what it replaces does not count, nor what has come to its end. 0: any.
func (d *documents) left(s *source) int64 {
	if d.most == 0 {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.leftLocked(s)
}

func (d *documents) leftLocked(s *source) int64 {
	left := d.most
	for _, bytes := range d.others(s) {
		left -= bytes
	}
	return max(min(left, d.one), d.least)
}

// others is what other sources have and this one has not. The caller has the lock.
func (d *documents) others(s *source) map[*source]int64 {
	seen := slices.Clone(d.of[s])
	all := map[*source]int64{}
	for o, apis := range d.of {
		if o == s || o.leaves.Load() {
			continue
		}
		for _, api := range apis {
			if !slices.Contains(seen, api) {
				seen = append(seen, api)
				all[o] += api.Size
			}
		}
	}
	return all
}

// take counts what was made of a document, if there is still room for it: others may have come meanwhile.
func (d *documents) take(s *source, api *openapi.API) (ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.most > 0 && api.Size > d.leftLocked(s) {
		return false
	}
	d.of[s] = []*openapi.API{api}
	return true
}

// fit tells whether a source may have all of these at the same time.
func (d *documents) fit(s *source, all ...*openapi.API) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	bytes := int64(0)
	for _, api := range all {
		bytes += api.Size
	}
	return d.most == 0 || bytes <= d.leftLocked(s)
}

// keep counts what a source has, whatever it is.
func (d *documents) keep(s *source, all ...*openapi.API) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.of[s] = all
}

// expect counts what a source had in an earlier run until it is known what it has in this one, so that none which is read sooner takes its room.
func (d *documents) expect(s *source, bytes int64) {
	if bytes > 0 {
		d.keep(s, &openapi.API{Size: min(bytes, d.one)})
	}
}

// leave forgets a source.
func (d *documents) leave(s *source) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.of, s)
}

// refuse is the error for a document of which more than most bytes would be made, which was what there was left when it was begun.
func (d *documents) refuse(s *source, most int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	most = min(most, d.leftLocked(s))
	which := "one document may take, a quarter of GOMEMLIMIT"
	if most < d.one {
		which = fmt.Sprintf("are left of the %s for all APIs, a third of GOMEMLIMIT", mebibytes(d.most))
		var largest *source
		others := d.others(s)
		for o, bytes := range others {
			if largest == nil || bytes > others[largest] || bytes == others[largest] && o.label < largest.label {
				largest = o
			}
		}
		if largest != nil {
			which += fmt.Sprintf(", of which %q has %s", largest.label, mebibytes(others[largest]))
		}
	}
	return fmt.Errorf("%w: more than the %s MiB that %s; split it, have another gateway serve it, or give this one more memory", openapi.ErrLargeAPI, mebibytes(most), which)
}

func mebibytes(bytes int64) string { return fmt.Sprintf("%.1f", float64(bytes)/(1<<20)) }

// counted tells the room what a source has. It is the runner's.
func (s *source) counted() {
	var all []*openapi.API
	if s.loaded != nil {
		all = append(all, s.loaded.api)
	}
	if s.held != nil && s.held.update != nil {
		all = append(all, s.held.update.loaded.api)
	}
	s.g.room.documents.keep(s, all...)
}
