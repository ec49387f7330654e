package embedding

import (
	"cmp"
	"slices"

	"drawbridge/gateway/finder"
)

const (
	// depth is the number of hits of each ranking that are fused.
	depth = 100
	// rankConstant is k of reciprocal rank fusion, with the value of the paper. A larger k makes the first ranks stand
	// out less.
	rankConstant = 60
	// vectorWeight is the weight of the ranking by vectors. The ranking by words knows the paths, methods and fields of
	// operations, and is more often correct than small models; values from 1/4 to 3/4 differ little
	// (docs/contributing/finding.md).
	vectorWeight = 0.5
)

// fuse merges two rankings by the sum of 1/(60 + rank) in both, the second with vectorWeight. A tool without a vector
// counts in the second ranking with its rank in the first. Tools that the query names stay first.
func fuse(words, near []finder.Hit, embedded func(tool int) bool) []finder.Hit {
	fused := make([]finder.Hit, 0, len(words)+len(near))
	at := make(map[int]int, len(words)+len(near)) // indices in fused
	for rank, hit := range words {
		score := 1 / float64(rankConstant+rank+1)
		if hit.Exact {
			score++
		}
		if !embedded(hit.Tool) {
			score *= 1 + vectorWeight
		}
		at[hit.Tool] = len(fused)
		fused = append(fused, finder.Hit{Tool: hit.Tool, Score: score, Exact: hit.Exact})
	}
	for rank, hit := range near {
		score := vectorWeight / float64(rankConstant+rank+1)
		if i, ok := at[hit.Tool]; ok {
			fused[i].Score += score
		} else {
			fused = append(fused, finder.Hit{Tool: hit.Tool, Score: score})
		}
	}
	// Equal scores keep the order of words, then of vectors.
	slices.SortStableFunc(fused, func(a, b finder.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return fused
}
