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
	instead bool // a synonym, for APIs that don't have the word
	loose   bool // a guess, or of a meaning that may differ
}

// queryWord is a word of the query that has a meaning.
type queryWord struct {
	weight  float64
	known   bool // a tool has it
	verb    bool // it asks for an action
	purpose bool // it is in a clause of purpose
	name    bool // it looks like the name of one thing, such as Ann or 7421
	// prefixOf are the indices of the APIs whose names begin with the word: mail for mailpit.
	prefixOf []int32
}

// parse looks up the words of a query. Words of tools that the caller may not find count as unknown: otherwise the hits
// would reveal which words they have.
func (x *Index) parse(text string, s *scratch) *parsed {
	p := &parsed{verb: -1}
	n, previous, guesses := 0, int32(-1), 0
	hasName, hasPerson, afterName := false, false, false
	idioms, position := idiomsOf(text), -1
	c, before := clause{}, ""
	for at, token := range strings.Fields(text) {
		known, meaningful := false, false
		c.begin(token)
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
			c.read(word, actionOfVerb[stem] != noAction || lightVerbs[stem])
			position++
			if tooShort(word) || contracted[word] || s.isStop(word) || slices.ContainsFunc(idioms, func(i idiom) bool { return i.particle == position }) {
				return
			}
			meaningful = true
			weight := 1 / (1 + decay*float64(n))
			if at := slices.IndexFunc(idioms, func(i idiom) bool { return i.verb == position }); at >= 0 {
				x.addMeaning(p, n, idioms[at].meaning, weight, s)
				n++
				previous = -1
				return
			}
			weight *= spoken(word, stem)
			if c.purpose {
				weight *= purposeWeight
			} else {
				p.intent.read(n, stem)
			}
			n++
			prefixOf := x.prefixed(word)
			p.words = append(p.words, queryWord{weight: weight, verb: actionOfVerb[stem] != noAction, purpose: c.purpose, prefixOf: prefixOf,
				name: at > 0 && capitalized(token) || strings.ContainsAny(token, notWords) || relatives[word]})
			id := x.lookUp(p, word, weight, s)
			if id < 0 && guesses < maxGuesses {
				guesses++
				x.guess(p, stem, guessWeight*weight, s)
			}
			x.addSynonyms(p, stem, weight, s)
			if id < 0 { // nothing else says what the word means
				p.named = append(p.named, prefixOf...)
			}
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
		isName := meaningful && !known && at > 0 && capitalized(token)
		hasName, hasPerson = hasName || isName, hasPerson || isName && afterName
		afterName = isName
	}
	p.intent.settle()
	if hasName {
		x.addStems(p, lookupStems, nameWeight, s)
	}
	if hasPerson {
		x.addStems(p, personStems, personWeight, s)
	}
	return p
}

// addStems adds stems that aren't words of the query, as far as they are known.
func (x *Index) addStems(p *parsed, stems []string, weight float64, s *scratch) {
	for _, stem := range stems {
		if id, ok := x.terms[stem]; ok && x.occurs(id, s) {
			p.add(id, weight, false)
		}
	}
}

// addMeaning adds the verbs that the n-th word of a query, a phrasal verb, stands for.
func (x *Index) addMeaning(p *parsed, n int, meaning []string, weight float64, s *scratch) {
	p.words = append(p.words, queryWord{weight: weight, verb: true, known: true})
	for _, stem := range meaning {
		p.intent.read(n, stem)
	}
	x.addStems(p, meaning, phrasalWeight*weight, s)
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

// addSynonyms adds the synonyms of a word that are known. They count in the APIs that don't have the word itself.
func (x *Index) addSynonyms(p *parsed, stem string, weight float64, s *scratch) {
	for _, other := range synonymsOf[stem] {
		if id, ok := x.terms[other.stem]; ok && x.occurs(id, s) {
			p.put(queryTerm{id: id, weight: synonymWeight * weight, instead: true, loose: other.loose})
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

// add adds a term of the last word, or raises its weight if the query has it already.
func (p *parsed) add(id int32, weight float64, inQuery bool) {
	p.put(queryTerm{id: id, weight: weight, inQuery: inQuery, loose: !inQuery})
}

func (p *parsed) put(added queryTerm) {
	added.word = len(p.words) - 1
	for i := range p.terms {
		t := &p.terms[i]
		switch {
		case t.id != added.id:
		case added.inQuery && t.inQuery:
			t.weight = min(t.weight+repeatGain, maxRepeat)
			return
		default:
			if added.inQuery && !t.inQuery {
				t.word = added.word
			}
			t.weight, t.inQuery, t.instead = max(t.weight, added.weight), t.inQuery || added.inQuery, t.instead && added.instead
			t.loose = t.loose && added.loose
			return
		}
	}
	if len(p.terms) < maxTerms {
		p.terms = append(p.terms, added)
	}
}
