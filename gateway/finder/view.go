package finder

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// View is an index as seen by a caller who may not see all tools. The frequency of words and the average length of
// texts are computed over the tools that the caller may see: otherwise the ranking would reveal which words the other
// tools have. It is immutable and safe for concurrent use.
type View struct {
	x         *Index
	shown     []bool // by tool
	tools     float64
	slope     [fields]float64
	languages []*language
}

// View returns the index as a caller sees it; nil if the caller may see all tools. shown reports whether a tool, by its
// index in the argument of [New], may be seen.
func (x *Index) View(shown func(tool int) bool) *View {
	v := &View{x: x, shown: make([]bool, len(x.tools)), languages: languages[:1:1]}
	var sums [fields]float64
	for i := range x.tools {
		if !shown(i) {
			continue
		}
		v.shown[i] = true
		v.tools++
		for f := range fields {
			sums[f] += float64(x.lengths[i][f])
		}
		if l := x.tools[i].language; !slices.Contains(v.languages, l) {
			v.languages = append(v.languages, l)
		}
	}
	if int(v.tools) == len(x.tools) {
		return nil
	}
	v.slope = slopes(sums, v.tools)
	return v
}

// slopes returns, for each field, how much one more word in it reduces the weight of an occurrence; sums are the total
// lengths of the fields over a number of tools.
func slopes(sums [fields]float64, tools float64) (slope [fields]float64) {
	for f := range fields {
		slope[f] = lengthNorm / max(sums[f]/max(tools, 1), 1e-9)
	}
	return slope
}

// times holds the frequency of a term in each field of a tool, two bits for each, at most maxFrequency.
type times uint32

// of returns the frequency in a field.
func (t times) of(f field) int { return int(t >> (2 * f) & 3) }

// timesIn returns how often a term occurs in the fields of a tool.
func (x *Index) timesIn(term, tool int32) times {
	postings := x.postings[term]
	at, found := slices.BinarySearchFunc(postings, tool, func(p posting, tool int32) int { return cmp.Compare(p.tool, tool) })
	if !found {
		return 0
	}
	return postings[at].times
}

// weight returns the frequency of a term in the fields, weighted and divided by their relative length.
func (t times) weight(lengths *[fields]int32, slope *[fields]float64) float64 {
	weight := 0.0
	for left := uint32(t); left != 0; {
		f := bits.TrailingZeros32(left) / 2
		weight += weights[f] * float64(left>>(2*f)&3) / (1 - lengthNorm + slope[f]*float64(lengths[f]))
		left &^= 3 << (2 * f)
	}
	return weight
}

// inverseFrequency returns the inverse document frequency of a term that occurs in some of the tools.
func inverseFrequency(occurrences, tools float64) float64 {
	return math.Log(1 + (tools-occurrences+0.5)/(occurrences+0.5))
}

// idfOf returns the inverse document frequency of a term for the caller of a search.
func (x *Index) idfOf(term int32, v *View) float64 {
	if v == nil {
		return x.idf[term]
	}
	occurrences := 0
	for i := range x.postings[term] {
		if v.shown[x.postings[term][i].tool] {
			occurrences++
		}
	}
	return inverseFrequency(float64(occurrences), v.tools)
}

// score adds the scores of a term to the tools that have it. verb: it is the verb of the query.
func (x *Index) score(t queryTerm, verb bool, s *scratch) {
	idf, word := t.idf*t.weight, uint64(1)<<t.word
	for i := range x.postings[t.id] {
		at := &x.postings[t.id][i]
		weight := float64(at.weight)
		if v := s.view; v != nil {
			if !v.shown[at.tool] {
				continue
			}
			weight = float64(float32(at.times.weight(&x.lengths[at.tool], &v.slope)))
		}
		score := idf * weight * (1 + saturation) / (saturation + weight)
		switch api := x.apiOf[at.tool]; {
		case t.inQuery && at.times&heading != 0 && (s.view != nil || s.isAllowed(at.tool)):
			s.has[api] |= word
		case t.instead && s.has[api]&word != 0:
			score *= knownSynonymShare
		}
		s.add(at.tool, score)
		if verb && at.times.of(fieldValue) > 0 {
			s.valued[at.tool] = true
		}
	}
}
