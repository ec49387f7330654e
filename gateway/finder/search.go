package finder

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// MaxQuery is the maximum length of a query in bytes; the rest is ignored.
	MaxQuery = 2 << 10
	// maxTerms limits the different words of a query that are looked up, and maxGuesses the words whose spelling is
	// corrected.
	maxTerms   = 64
	maxGuesses = 6
	// reranked is the number of the best tools whose adjacent words are compared.
	reranked = 100
)

// Boosts of a score beyond the words.
const (
	verbGain = 0.35 // the method fits the verb
	// methodShare is the share of verbGain if the method fits, but not the tool's verb.
	methodShare = 0.5
	// oppositeFactor is the factor of a tool that does the opposite of what the query begins with.
	oppositeFactor = 0.7
	numberGain     = 0.15 // the query and the path agree on a list, or on one item
	tailGain       = 0.6  // all words of the last path segment are in the query
	pairGain       = 0.8  // adjacent words, by the rarer of the two
	// repeatGain is the boost for each repetition of a word in the query, up to maxRepeat.
	repeatGain, maxRepeat = 0.3, 2
	// guessWeight is the weight of a word whose spelling was corrected. nameWeight is that of "search" and "find" if
	// the query has a name that no tool has: a query for the orders of Ann needs a tool that finds Ann first.
	guessWeight, nameWeight = 0.3, 0.5
	// personWeight is the weight of "person" if the query has two such names in a row: Sofia Coppola.
	personWeight = 0.5
	// coverGain is the share of a score that a tool gets in proportion to the words of the query that it has.
	coverGain = 0.5
	// decay reduces the weight of later words: the first ones name the subject, and the last the purpose.
	decay = 0.04
	// purposeWeight is the weight of the words of a clause of purpose.
	purposeWeight = 0.6
	// apiFactor is the factor of the tools of an API that the query names.
	apiFactor = 2
	// synonymWeight is the weight of the synonyms of a word. In APIs that have the word itself in the heading of a tool
	// they have only a share of it.
	synonymWeight, knownSynonymShare = 0.4, 0.125
)

// maxFactor is the maximum boost by the method and the path.
const maxFactor = (1 + verbGain) * (1 + numberGain) * (1 + tailGain)

// Query is a search.
type Query struct {
	// Text is the query. Bytes beyond MaxQuery are ignored.
	Text string
	// Limit is the maximum number of hits.
	Limit int
	// Allowed, if not nil, reports whether a tool, by its index in the argument of [New], may be found.
	Allowed func(tool int) bool
	// View is the index as the caller sees it; nil if the caller may see all tools.
	View *View
}

// Hit is a tool that was found.
type Hit struct {
	Tool  int     // index in the argument of New
	Score float64 // comparable within one search only
	// Exact reports whether the query has the name of the tool. Such hits come first.
	Exact bool
}

// Result is what was found.
type Result struct {
	// Hits are the best tools, the best first; nil if no word of the query occurs in any.
	Hits []Hit
	// Twins are the tools that do the same as a hit in other versions of the API, by the hit's tool; nil if there are none.
	Twins map[int][]int
	// Unmet are the wishes of the query that no tool fits well, as in the query. Hits has the nearest tools even so.
	Unmet []string
	// Weak reports whether no wish of the query is met.
	Weak bool
}

// Search returns the best tools. A query with several wishes, such as "delete a flow; list the runs", gets hits for each
// in turn.
func (x *Index) Search(q Query) Result {
	r := x.Rank(q)
	x.Fold(&r, q)
	return r
}

// Rank is [Index.Search] without folding: each version of a tool is a hit.
func (x *Index) Rank(q Query) Result {
	s := x.scratch.Get().(*scratch) //nolint:errcheck // New puts nothing else there
	defer x.scratch.Put(s)
	s.allowed = q.Allowed
	if s.languages = x.languages; q.View != nil && q.View.x == x {
		s.view, s.languages = q.View, q.View.languages
	}
	defer s.end()
	var r Result
	var rankings [][]Hit
	all := wishes(prefix(q.Text, MaxQuery))
	for _, wish := range all {
		hits, fits := x.rank(wish, q, s)
		if rankings = append(rankings, hits); !fits {
			r.Unmet = append(r.Unmet, wish)
		}
	}
	r.Hits, r.Weak = interleave(rankings), len(r.Unmet) == len(all)
	return r
}

// rank returns the tools for one wish, the best first, and whether one of them fits well.
func (x *Index) rank(text string, q Query, s *scratch) (hits []Hit, fits bool) {
	p := x.parse(text, s)
	s.begin(p)
	defer s.next()
	for i := range p.terms {
		p.terms[i].idf = x.idfOf(p.terms[i].id, s.view)
		if !p.terms[i].instead {
			x.score(p.terms[i], p.terms[i].id == p.verb, s)
		}
	}
	for _, t := range p.terms {
		if t.instead {
			x.score(t, false, s)
		}
	}
	best, most := newTop(x, max(q.Limit, reranked)), maxFactor
	if len(p.named) > 0 {
		most *= apiFactor
	}
	for _, tool := range s.touched {
		if !best.mayTake(s.scores[tool]*most) || !s.isAllowed(tool) {
			continue
		}
		t := &x.tools[tool]
		score := s.scores[tool] * p.intent.factor(t, s.valued[tool]) * p.apiFactor(x.apiOf[tool])
		if best.mayTake(score * (1 + tailGain)) {
			best.add(Hit{Tool: int(tool), Score: score * s.tailFactor(t)})
		}
	}
	hits = best.hits
	for i := range hits {
		hit := &hits[i]
		has, all := p.covered(x.shares(p, int32(hit.Tool), s), false)
		hit.Score = (hit.Score + x.pairScore(&x.tools[hit.Tool], p)) * (1 - coverGain + coverGain*has/max(all, 1e-9))
	}
	hits = x.addNamed(hits, text, s)
	slices.SortFunc(hits, x.compare)
	return hits, x.fits(hits, p, s)
}

// interleave returns the hits of several rankings in turn, each tool once.
func interleave(rankings [][]Hit) []Hit {
	if len(rankings) == 1 {
		return rankings[0]
	}
	var all []Hit
	seen := map[int]bool{}
	for rank, more := 0, true; more; rank++ {
		more = false
		for _, hits := range rankings {
			if rank < len(hits) {
				more = true
				if hit := hits[rank]; !seen[hit.Tool] {
					seen[hit.Tool] = true
					all = append(all, hit)
				}
			}
		}
	}
	return all
}

// compare orders hits, the best first.
func (x *Index) compare(a, b Hit) int {
	switch {
	case a.Exact != b.Exact && a.Exact:
		return -1
	case a.Exact != b.Exact:
		return 1
	case a.Score != b.Score: // nearly always, so names are rarely compared
		return cmp.Compare(b.Score, a.Score)
	}
	return cmp.Or(strings.Compare(x.tools[a.Tool].name, x.tools[b.Tool].name), cmp.Compare(a.Tool, b.Tool))
}

// pairScore returns the boost of a tool's score by adjacent words of the query.
func (x *Index) pairScore(t *entry, p *parsed) (score float64) {
	for _, pair := range p.pairs {
		if _, found := slices.BinarySearch(t.pairs, pairHash(pair[0], pair[1])); found {
			score += pairGain * min(x.idfIn(p, pair[0]), x.idfIn(p, pair[1]))
		}
	}
	return score
}

// idfIn returns the inverse document frequency of a term of a query.
func (x *Index) idfIn(p *parsed, id int32) float64 {
	for i := range p.terms {
		if p.terms[i].id == id {
			return p.terms[i].idf
		}
	}
	return 0 // the query has too many terms
}
