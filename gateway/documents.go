package gateway

import (
	"fmt"
	"sync"

	"drawbridge/openapi"
)

// documents is the memory that what was made of all documents may take together: their operations, with the tools of these. Where memory is
// limited, a document that does not fit is refused, so that no API grows until calls of the others are. It is safe for concurrent use.
type documents struct {
	most, one int64 // bytes, of all and of one; 0: any
	least     int64 // bytes that each may have in any case, so that large ones keep no small one out
	mu        sync.Mutex
	of        map[*source]int64 // what each has, in bytes
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
	for o, n := range d.of {
		if o != s && !o.leaves.Load() {
			left -= n
		}
	}
	return max(min(left, d.one), d.least)
}

// take counts what was made of a document, if there is still room for it: others may have come meanwhile.
func (d *documents) take(s *source, bytes int64) (ok bool) {
	if d.most == 0 {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if bytes > d.leftLocked(s) {
		return false
	}
	d.of[s] = bytes
	return true
}

// keep counts what a source has, whatever it is.
func (d *documents) keep(s *source, bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.of[s] = bytes
}

// leave forgets a source.
func (d *documents) leave(s *source) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.of, s)
}

// refuse is the error for a document of which more would be made than there was left.
func (d *documents) refuse(left int64) error {
	which := fmt.Sprintf("are left of the %.1f for all APIs, a third of GOMEMLIMIT", float64(d.most)/(1<<20))
	if left == d.one {
		which = "one document may take, a quarter of GOMEMLIMIT"
	}
	return fmt.Errorf("%w: more than the %.1f MiB that %s; split it, have another gateway serve it, or give this one more memory", openapi.ErrLargeAPI, float64(left)/(1<<20), which)
}

// counted tells the room what a source has. It is the runner's.
func (s *source) counted() {
	var bytes int64
	if s.loaded != nil {
		bytes = s.loaded.api.Size
	}
	if s.held != nil {
		bytes += s.held.update.loaded.api.Size
	}
	s.g.room.documents.keep(s, bytes)
}
