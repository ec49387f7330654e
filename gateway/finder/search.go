package finder

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// MaxQuery is the most of a query that is read, in bytes.
	MaxQuery = 2 << 10
	// maxTerms is the most different words of a query that are looked up, and maxGuesses the most words whose spelling is
	// corrected.
	maxTerms   = 64
	maxGuesses = 6
	// reranked is the number of the best tools whose pairs of words are compared.
	reranked = 200
)

// Gains of a score beyond the words.
const (
	verbGain   = 0.35 // the method fits the verb
	numberGain = 0.15 // a list is asked for and given, or one thing
	tailGain   = 0.6  // all words of the last segment of the path are in the query
	pairGain   = 0.8  // words that stand side by side, by the rarer of the two
	// repeatGain is what each repetition of a word in the query adds, up to maxRepeat.
	repeatGain, maxRepeat = 0.3, 2
	// guessWeight is the weight of a word whose spelling was corrected, and nameWeight that of "search" and "find" in a
	// query with a name that no tool has: whoever asks for the orders of Ann needs a tool that finds Ann first.
	guessWeight, nameWeight = 0.5, 0.5
	// decay is how fast words count less that come later: the first ones say what is wanted, and the last what for.
	decay = 0.04
)

// maxFactor is the most by which the method and the path raise the score of a tool.
const maxFactor = (1 + verbGain) * (1 + numberGain) * (1 + tailGain)

// Query is a search.
type Query struct {
	// Text is what is looked for. Beyond MaxQuery bytes it is ignored.
	Text string
	// Limit is the most hits that are returned.
	Limit int
	// Allowed, if not nil, reports whether a tool, by its place in the argument of [New], may be found.
	Allowed func(tool int) bool
	// View is the index as the caller sees it, nil if the caller may see all tools.
	View *View
}

// Hit is a tool that was found.
type Hit struct {
	Tool  int     // place in the argument of New
	Score float64 // comparable within one search only
}

// Search returns the tools that fit best, the best first; nil if no word of the query occurs in any.
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
	if a.Score != b.Score { // nearly always, and names need not be read
		return cmp.Compare(b.Score, a.Score)
	}
	return cmp.Or(strings.Compare(x.tools[a.Tool].name, x.tools[b.Tool].name), cmp.Compare(a.Tool, b.Tool))
}

// pairScore returns what the pairs of words of a query add to a tool's score.
func (x *Index) pairScore(t *entry, p *parsed) (score float64) {
	for _, pair := range p.pairs {
		if _, found := slices.BinarySearch(t.pairs, pairHash(pair[0], pair[1])); found {
			score += pairGain * min(x.idfIn(p, pair[0]), x.idfIn(p, pair[1]))
		}
	}
	return score
}

// idfIn returns how much a term of a query says.
func (x *Index) idfIn(p *parsed, id int32) float64 {
	for i := range p.terms {
		if p.terms[i].id == id {
			return p.terms[i].idf
		}
	}
	return 0 // the query has too many terms
}

// parsed is a query as the index sees it.
type parsed struct {
	terms  []queryTerm
	pairs  [][2]int32 // terms that stand side by side
	intent intent
}

type queryTerm struct {
	id     int32
	weight float64
	idf    float64
	said   bool // a word of the query itself
}

// parse looks up the words of a query. What the tools say that may not be found is not known: otherwise the answer would tell which
// words they have.
func (x *Index) parse(text string, s *scratch) *parsed {
	p := &parsed{}
	n, before, guesses, named := 0, int32(-1), 0, false
	for at, token := range strings.Fields(text) {
		known, spoken := false, false
		words(token, func(word string) {
			if at == 0 && questions[word] {
				p.intent.actions[read] = 1
			}
			if tooShort(word) || s.isStop(word) {
				return
			}
			spoken = true
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
				if before >= 0 {
					p.pairs = append(p.pairs, [2]int32{before, id})
				}
			}
			before = id
		})
		named = named || spoken && !known && at > 0 && capitalized(token)
	}
	p.intent.settle()
	if named {
		for _, stem := range finding {
			if id, ok := x.terms[stem]; ok && x.occurs(id, s) {
				p.add(id, nameWeight, false)
			}
		}
	}
	return p
}

// isStop reports whether a word says nothing in one of the languages of the texts.
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

// occurs reports whether a tool that may be found has a term.
func (x *Index) occurs(id int32, s *scratch) bool {
	if v := s.view; v != nil {
		return slices.ContainsFunc(x.postings[id], func(at posting) bool { return v.shown[at.tool] })
	}
	return slices.ContainsFunc(x.postings[id], func(at posting) bool { return s.isAllowed(at.tool) })
}

// guess adds the known terms that an unknown word may stand for.
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
func (p *parsed) add(id int32, weight float64, said bool) {
	for i := range p.terms {
		t := &p.terms[i]
		switch {
		case t.id != id:
		case said && t.said:
			t.weight = min(t.weight+repeatGain, maxRepeat)
			return
		default:
			t.weight, t.said = max(t.weight, weight), t.said || said
			return
		}
	}
	if len(p.terms) < maxTerms {
		p.terms = append(p.terms, queryTerm{id: id, weight: weight, said: said})
	}
}
