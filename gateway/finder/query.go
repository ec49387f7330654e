package finder

import (
	"slices"
	"strings"
)

// parsed is a parsed query.
type parsed struct {
	terms  []queryTerm
	words  []queryWord
	pairs  [][2]int32 // adjacent terms
	intent intent
	verb   int32   // term of the verb that the query begins with; -1 if it is none or no tool has it
	named  []int32 // indices of the APIs that the query names
}

// queryTerm is a term that the query is scored by.
type queryTerm struct {
	id      int32
	word    int // index in words of the word that it stands for
	weight  float64
	idf     float64
	inQuery bool // a word of the query itself
}

// queryWord is a word of the query that has a meaning.
type queryWord struct {
	weight  float64
	known   bool // a tool has it
	verb    bool // it asks for an action
	purpose bool // it is in a clause of purpose
	name    bool // it looks like the name of one thing, such as Ann or 7421
}

// parse looks up the words of a query. Words of tools that the caller may not find count as unknown: otherwise the hits
// would reveal which words they have.
func (x *Index) parse(text string, s *scratch) *parsed {
	p := &parsed{verb: -1}
	n, previous, guesses, hasName := 0, int32(-1), 0, false
	c, before := clause{}, ""
	for at, token := range strings.Fields(text) {
		known, meaningful := false, false
		words(token, func(word string) {
			if at == 0 && questionWords[word] {
				p.intent.actions[read] = 1
			}
			stem := languages[0].reduce(word)
			x.readAPI(p, before, word)
			if at == 1 {
				p.intent.readFirst(before, word)
			}
			before = word
			c.read(word, actionOfVerb[stem] != noAction)
			if tooShort(word) || s.isStop(word) {
				return
			}
			meaningful = true
			weight := 1 / (1 + decay*float64(n))
			if c.purpose {
				weight *= purposeWeight
			} else {
				p.intent.read(n, stem)
			}
			n++
			p.words = append(p.words, queryWord{weight: weight, verb: actionOfVerb[stem] != noAction, purpose: c.purpose, name: at > 0 && capitalized(token) || strings.ContainsAny(token, notWords)})
			id := x.lookUp(p, word, weight, s)
			if id < 0 && guesses < maxGuesses {
				guesses++
				x.guess(p, stem, guessWeight*weight, s)
			}
			of := synonymWeight
			if id >= 0 {
				of = knownSynonymWeight
			}
			x.addSynonyms(p, stem, of*weight, s)
			if id >= 0 {
				if n == 1 && actionOfVerb[stem] != noAction {
					p.verb = id
				}
				known = true
				p.words[len(p.words)-1].known = true
				if previous >= 0 {
					p.pairs = append(p.pairs, [2]int32{previous, id})
				}
			}
			previous = id
		})
		c.end(token)
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

// notWords are characters of tokens that name one thing: octocat/hello-world, #general, 7421, "Titanic".
const notWords = `"'/#@0123456789`

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

// addSynonyms adds the synonyms of a word that are known, with a weight.
func (x *Index) addSynonyms(p *parsed, stem string, weight float64, s *scratch) {
	for _, other := range synonymsOf[stem] {
		if id, ok := x.terms[other]; ok && x.occurs(id, s) {
			p.add(id, weight, false)
		}
	}
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
			if inQuery && !t.inQuery {
				t.word = len(p.words) - 1
			}
			t.weight, t.inQuery = max(t.weight, weight), t.inQuery || inQuery
			return
		}
	}
	if len(p.terms) < maxTerms {
		p.terms = append(p.terms, queryTerm{id: id, word: len(p.words) - 1, weight: weight, inQuery: inQuery})
	}
}
