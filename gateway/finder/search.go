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
	reranked = 200
)

// Boosts of a score beyond the words.
const (
	verbGain   = 0.35 // the method fits the verb
	numberGain = 0.15 // the query and the path agree on a list, or on one item
	tailGain   = 0.6  // all words of the last path segment are in the query
	pairGain   = 0.8  // adjacent words, by the rarer of the two
	// repeatGain is the boost for each repetition of a word in the query, up to maxRepeat.
	repeatGain, maxRepeat = 0.3, 2
	// guessWeight is the weight of a word whose spelling was corrected. nameWeight is that of "search" and "find" if
	// the query has a name that no tool has: a query for the orders of Ann needs a tool that finds Ann first.
	guessWeight, nameWeight = 0.5, 0.5
	// decay reduces the weight of later words: the first ones name the subject, and the last the purpose.
	decay = 0.04
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
}

// Search returns the best tools, the best first; nil if no word of the query occurs in any.
func (x *Index) Search(q Query) []Hit {
	s := x.scratch.Get().(*scratch) //nolint:errcheck // New puts nothing else there
	defer x.scratch.Put(s)
	s.allowed = q.Allowed
	if s.languages = x.languages; q.View != nil && q.View.x == x {
		s.view, s.languages = q.View, q.View.languages
	}
	defer s.end()
	p := x.parse(prefix(q.Text, MaxQuery), s)
	s.begin(p)
	for i := range p.terms {
		p.terms[i].idf = x.idfOf(p.terms[i].id, s.view)
		x.score(p.terms[i], s)
	}
	best := newTop(x, max(q.Limit, reranked))
	for _, tool := range s.touched {
		if !best.mayTake(s.scores[tool]*maxFactor) || q.Allowed != nil && !q.Allowed(int(tool)) {
			continue
		}
		t := &x.tools[tool]
		best.add(Hit{int(tool), s.scores[tool] * p.intent.factor(t) * s.tailFactor(t)})
	}
	hits := best.hits
	for i := range hits {
		hits[i].Score += x.pairScore(&x.tools[hits[i].Tool], p)
	}
	slices.SortFunc(hits, x.compare)
	return hits[:min(len(hits), max(q.Limit, 0))]
}

// compare orders hits, the best first.
func (x *Index) compare(a, b Hit) int {
	if a.Score != b.Score { // nearly always, so names are rarely compared
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

// parsed is a parsed query.
type parsed struct {
	terms  []queryTerm
	pairs  [][2]int32 // adjacent terms
	intent intent
}

type queryTerm struct {
	id      int32
	weight  float64
	idf     float64
	inQuery bool // a word of the query itself
}

// parse looks up the words of a query. Words of tools that the caller may not find count as unknown: otherwise the hits
// would reveal which words they have.
func (x *Index) parse(text string, s *scratch) *parsed {
	p := &parsed{}
	n, previous, guesses, hasName := 0, int32(-1), 0, false
	for at, token := range strings.Fields(text) {
		known, meaningful := false, false
		words(token, func(word string) {
			if at == 0 && questionWords[word] {
				p.intent.actions[read] = 1
			}
			if tooShort(word) || s.isStop(word) {
				return
			}
			meaningful = true
			stem := languages[0].reduce(word)
			p.intent.read(n, stem)
			weight := 1 / (1 + decay*float64(n))
			n++
			id := x.lookUp(p, word, weight, s)
			if id < 0 && guesses < maxGuesses {
				guesses++
				x.guess(p, stem, guessWeight*weight, s)
			}
			if id >= 0 {
				known = true
				if previous >= 0 {
					p.pairs = append(p.pairs, [2]int32{previous, id})
				}
			}
			previous = id
		})
		hasName = hasName || meaningful && !known && at > 0 && capitalized(token)
	}
	p.intent.settle()
	if hasName {
		for _, stem := range lookupStems {
			if id, ok := x.terms[stem]; ok && x.occurs(id, s) {
				p.add(id, nameWeight, false)
			}
		}
	}
	return p
}

// isStop reports whether a word is a stop word in one of the languages of the texts.
func (s *scratch) isStop(word string) bool {
	return slices.ContainsFunc(s.languages, func(l *language) bool { return l.stop[word] })
}

// lookUp adds the stems of a word in each language of the texts. It returns the first one that is known, or -1.
func (x *Index) lookUp(p *parsed, word string, weight float64, s *scratch) int32 {
	first := int32(-1)
	for _, l := range s.languages {
		if id, ok := x.terms[l.reduce(word)]; ok && x.occurs(id, s) {
			if first < 0 {
				first = id
				p.add(id, weight, true)
			} else if id != first {
				p.add(id, weight, false)
			}
		}
	}
	return first
}

// occurs reports whether a term occurs in a tool that may be found.
func (x *Index) occurs(id int32, s *scratch) bool {
	if v := s.view; v != nil {
		return slices.ContainsFunc(x.postings[id], func(at posting) bool { return v.shown[at.tool] })
	}
	return slices.ContainsFunc(x.postings[id], func(at posting) bool { return s.isAllowed(at.tool) })
}

// guess adds the known terms that a misspelt word may stand for.
func (x *Index) guess(p *parsed, stem string, weight float64, s *scratch) {
	if stem == "" {
		return
	}
	for _, id := range x.byInitial[stem[0]] {
		if resemble(stem, x.stemmed[id]) && x.occurs(id, s) {
			p.add(id, weight, false)
		}
	}
}

// add adds a term, or raises its weight if the query has it already.
func (p *parsed) add(id int32, weight float64, inQuery bool) {
	for i := range p.terms {
		t := &p.terms[i]
		switch {
		case t.id != id:
		case inQuery && t.inQuery:
			t.weight = min(t.weight+repeatGain, maxRepeat)
			return
		default:
			t.weight, t.inQuery = max(t.weight, weight), t.inQuery || inQuery
			return
		}
	}
	if len(p.terms) < maxTerms {
		p.terms = append(p.terms, queryTerm{id: id, weight: weight, inQuery: inQuery})
	}
}
