package driftcount

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"drawbridge/gateway/admin"
	"drawbridge/openapi/drift"
	"drawbridge/openapi/text"
)

const (
	// MaxDifferences is the number of differences of an API that are counted one by one: half of them of arguments, and half of answers,
	// so that callers can't hide what services do.
	MaxDifferences = 200
	// maxPath is the maximum size of a path in bytes.
	maxPath = 240
)

// Recorder counts differences by API. It is safe for concurrent use. [Recorder.Add] of a nil Recorder does nothing.
type Recorder struct {
	// count is called for each difference, for a metric.
	count func(api string, kind drift.Kind)
	now   func() time.Time

	mu   sync.Mutex
	apis map[string]*counts
}

// counts are the differences of one API.
type counts struct {
	document string // digest
	since    time.Time
	rows     map[row]*times
	answers  int   // rows of answers
	total    int64 // differences that occurred, including those of more
	more     int64 // differences for which there was no row
}

// row identifies what is counted.
type row struct {
	method, path string
	drift.Difference
}

// times is how often a difference occurred.
type times struct {
	count int64
	last  time.Time
}

// New returns a recorder without counts. count is called for each difference, also of APIs that are not kept; now is the clock, time.Now if
// nil.
func New(count func(api string, kind drift.Kind), now func() time.Time) *Recorder {
	if now == nil {
		now = time.Now
	}
	return &Recorder{count: count, now: now, apis: map[string]*counts{}}
}

// Add counts a difference of an operation of an API. One of an API that [Recorder.Retain] has not named is not kept.
func (r *Recorder) Add(api, method, path string, d drift.Difference) {
	if r == nil {
		return
	}
	r.count(api, d.Kind)
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.apis[api]
	if c == nil {
		return
	}
	c.total++
	k := row{method, text.Truncate(path, maxPath), d}
	t := c.rows[k]
	if t == nil {
		if c.full(d.Kind) {
			c.more++
			return
		}
		if d.Kind.OfAnswer() {
			c.answers++
		}
		t = &times{}
		c.rows[k] = t
	}
	t.count++
	t.last = r.now()
}

// full reports whether no further row of a kind can be added.
func (c *counts) full(k drift.Kind) bool {
	if k.OfAnswer() {
		return c.answers >= MaxDifferences/2
	}
	return len(c.rows)-c.answers >= MaxDifferences/2
}

// Retain sets the APIs that are served, each with a digest of its document. Those that are gone are forgotten, and those with another
// document than before begin at zero.
func (r *Recorder) Retain(documents map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for api := range r.apis {
		if _, served := documents[api]; !served {
			delete(r.apis, api)
		}
	}
	for api, document := range documents {
		if c := r.apis[api]; c == nil || c.document != document {
			r.apis[api] = &counts{document: document, since: r.now(), rows: map[row]*times{}}
		}
	}
}

// Summary returns the counts of an API without the single differences, or nil.
func (r *Recorder) Summary(api string) *admin.Drift {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.apis[api]
	if c == nil || c.total == 0 {
		return nil
	}
	return &admin.Drift{Since: c.since, Total: c.total, Places: len(c.rows), Uncounted: c.more}
}

// Report returns the counts of an API, the most frequent differences first, or nil.
func (r *Recorder) Report(api string) *admin.Drift {
	d := r.Summary(api)
	if d == nil {
		return nil
	}
	r.mu.Lock()
	if c := r.apis[api]; c != nil {
		for k, t := range c.rows {
			d.Differences = append(d.Differences, admin.Difference{Method: k.method, Path: k.path, Difference: k.Difference, Count: t.count, Last: t.last})
		}
	}
	r.mu.Unlock()
	slices.SortFunc(d.Differences, func(a, b admin.Difference) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Pointer, b.Pointer),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Declared+" "+a.Got, b.Declared+" "+b.Got))
	})
	return d
}
