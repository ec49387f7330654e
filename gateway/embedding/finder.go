package embedding

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/finder"
)

const (
	// QueryTimeout is the maximum time that a query waits for its vector.
	QueryTimeout = 150 * time.Millisecond
	// maxQueries is the maximum number of queries that wait at a time. Further ones are ranked by words alone.
	maxQueries = 16
)

// Finder finds the tools of one catalog. It is safe for concurrent use, also while its vectors are made.
type Finder struct {
	tools    []*catalog.Tool
	index    func() *finder.Index
	used     atomic.Bool // index was built
	embedder *Embedder
	model    *model                   // nil if tools are ranked by words alone
	vectors  []atomic.Pointer[vector] // by tool; nil if a tool has none
	embedded atomic.Int64             // number of vectors
}

// Index returns the index of words, which is built at its first use. [Embedder.NewFinder] uses it if that of the finder
// before was used, so that a search after a change of documents need not wait for it.
func (f *Finder) Index() *finder.Index {
	f.used.Store(true)
	return f.index()
}

// Embedded returns the number of tools that have vectors.
func (f *Finder) Embedded() int { return int(f.embedded.Load()) }

// Find returns the best tools, the best first. Without vectors they are those of [finder.Index.Search].
func (f *Finder) Find(ctx context.Context, q finder.Query) finder.Result {
	if f.model == nil {
		return f.Index().Search(q)
	}
	v := f.query(ctx, q.Text)
	if v == nil {
		return f.Index().Search(q)
	}
	deep := q
	deep.Limit = max(q.Limit, depth)
	embedded := func(tool int) bool { return f.vectors[tool].Load() != nil }
	r := f.Index().Rank(deep)
	near := f.nearest(v, deep)
	if len(r.Hits) > 0 && len(near) > 0 && r.Hits[0].Tool == near[0].Tool {
		r.Unmet, r.Weak = nil, false // both rankings agree
	}
	r.Hits = fuse(r.Hits, near, embedded)
	f.Index().Fold(&r, q)
	return r
}

// FindByVectors returns the tools whose vectors are nearest to that of a query; nil if there are no vectors.
func (f *Finder) FindByVectors(ctx context.Context, q finder.Query) []finder.Hit {
	if f.model == nil {
		return nil
	}
	v := f.query(ctx, q.Text)
	if v == nil {
		return nil
	}
	return f.nearest(v, q)
}

// query returns the vector of a text; nil if there is none in time.
func (f *Finder) query(ctx context.Context, text string) *vector {
	e, m := f.embedder, f.model
	v, o := m.query(ctx, text, f.Embedded() > 0, e.o.QueryTimeout)
	e.metrics.queries.WithLabelValues(string(o)).Inc()
	return v
}

// nearest returns the allowed tools with the nearest vectors.
func (f *Finder) nearest(to *vector, q finder.Query) []finder.Hit {
	best := make([]finder.Hit, 0, q.Limit+1)
	for i := range f.vectors {
		v := f.vectors[i].Load()
		if v == nil || len(v.values) != len(to.values) {
			continue
		}
		score := float64(to.cosine(v))
		if len(best) == q.Limit && (len(best) == 0 || score <= best[len(best)-1].Score) || q.Allowed != nil && !q.Allowed(i) {
			continue // the first of equal ones stays
		}
		at, _ := slices.BinarySearchFunc(best, score, func(h finder.Hit, score float64) int {
			if h.Score >= score {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, finder.Hit{Tool: i, Score: score})
		best = best[:min(len(best), q.Limit)]
	}
	return best
}

// once returns a function that builds the index of words at its first use.
func once(tools []*catalog.Tool, pause func()) func() *finder.Index {
	return sync.OnceValue(func() *finder.Index { return finder.OfTools(tools, pause) })
}
