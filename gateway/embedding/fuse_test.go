package embedding

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"drawbridge/gateway/finder"
)

func query(text string, limit int) finder.Query { return finder.Query{Text: text, Limit: limit} }

func hits(tools ...int) (all []finder.Hit) {
	for _, tool := range tools {
		all = append(all, finder.Hit{Tool: tool})
	}
	return all
}

func benchFinder(r *rand.Rand, tools, dimensions int) *Finder {
	f := &Finder{vectors: make([]atomic.Pointer[vector], tools)}
	for i := range tools {
		values := make([]float32, dimensions)
		for n := range values {
			values[n] = float32(r.NormFloat64())
		}
		v, _ := newVector(values)
		f.set(i, &v)
	}
	return f
}

// TestFuse checks that the order is by the sums of reciprocal ranks, and that a tool without a vector keeps its rank by
// words.
func TestFuse(t *testing.T) {
	for _, tt := range []struct {
		name        string
		words, near []finder.Hit
		missing     []int
		limit       int
		want        []int
	}{
		{"the same", hits(1, 2, 3), hits(1, 2, 3), nil, 3, []int{1, 2, 3}},
		{"words alone", hits(3, 1, 2), nil, nil, 3, []int{3, 1, 2}},
		{"words alone, without any vector", hits(3, 1, 2), nil, []int{1, 2, 3}, 3, []int{3, 1, 2}},
		{"vectors alone", nil, hits(3, 1, 2), nil, 2, []int{3, 1}},
		{"in both", hits(1, 2), hits(3, 2), nil, 3, []int{2, 1, 3}},
		{"words weigh more", hits(1, 2), hits(2, 1), nil, 2, []int{1, 2}},
		{"without a vector", hits(1, 2, 3), hits(3), []int{1}, 3, []int{1, 3, 2}},
		{"without a vector, behind", hits(2, 3, 1), hits(2, 3), []int{1}, 3, []int{2, 3, 1}},
		{"none", hits(1), hits(1), nil, 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []int
			for _, hit := range fuse(tt.words, tt.near, func(tool int) bool { return !slices.Contains(tt.missing, tool) })[:tt.limit] {
				got = append(got, hit.Tool)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// TestNearest checks that the nearest tools are those of a full sort of the allowed tools, for any limit.
func TestNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	f := benchFinder(r, 200, 4)
	for i := range 20 { // equal ones, and tools without a vector
		f.vectors[i+20].Store(f.vectors[0].Load())
		f.vectors[i+60].Store(nil)
	}
	to := f.vectors[5].Load()
	for _, limit := range []int{0, 1, 3, 100, 500} {
		q := query("x", limit)
		q.Allowed = func(tool int) bool { return tool%3 != 0 }
		var want []int
		for i := range f.vectors {
			if q.Allowed(i) && f.vectors[i].Load() != nil {
				want = append(want, i)
			}
		}
		slices.SortStableFunc(want, func(a, b int) int {
			x, y := to.cosine(f.vectors[a].Load()), to.cosine(f.vectors[b].Load())
			switch {
			case x > y:
				return -1
			case x < y:
				return 1
			}
			return 0
		})
		var got []int
		for _, hit := range f.nearest(to, q) {
			got = append(got, hit.Tool)
		}
		if want = want[:min(limit, len(want))]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("limit %d: %v, want %v", limit, got, want)
		}
	}
}
