package finder

import "slices"

const (
	// judged is the number of the best hits of which one must fit well.
	judged = 5
	// enough is the share of a query's words that a tool must have to fit well.
	enough = 0.65
	// maxWanted is the number of words, by their weights, of which a share is wanted: a tool has few words of a long query.
	maxWanted = 2
	// complete is the number of words from which a tool fits well that has all of them, no matter where: it is no accident
	// that the arguments of one tool are a mail and an attachment, and the tool sends.
	complete = 3
	// verbShare is what a verb counts: every API has tools that create, list and delete.
	verbShare = 0.15
	// purposeShare is what a word of a clause of purpose counts.
	purposeShare = 0.5
	// Shares that a word counts which occurs in the description of a tool, or only in its arguments and answer, where
	// words of all kinds occur by accident. One in its name, summary, path or tags counts whole, and a property of the
	// answer like the description if the query asks to read something: a birthday is in the details of a person.
	descriptionShare, detailShare = 0.5, 0.25
	// synonymShare is the share of a synonym, looseShare that of one of everyday speech and of a guess.
	synonymShare, looseShare = 0.8, 0.45
	// contextShare is the share of a word that is in the heading of another tool of the API: "swarm" in "list all nodes in
	// the swarm".
	contextShare = 0.4
)

// heading are the fields that say in few words what a tool does.
const heading = times(3<<(2*fieldName) | 3<<(2*fieldSummary) | 3<<(2*fieldPath) | 3<<(2*fieldTag) | 3<<(2*fieldAPI))

// fits reports whether one of the best hits fits a query well: it has enough of the words, or all of several. Scores say nothing of that,
// since they are high for any tool with a rare word. Rarity doesn't count here: "movie" is frequent in an API of movies,
// and its absence elsewhere is what tells that a query about movies is not answered. Names of single things, such as Ann,
// are in no document.
func (x *Index) fits(hits []Hit, p *parsed, s *scratch) bool {
	if len(hits) > 0 && hits[0].Exact {
		return true
	}
	for _, hit := range hits[:min(judged, len(hits))] {
		shares := x.shares(p, int32(hit.Tool), s)
		complete := len(p.words) >= complete
		for i := range shares {
			complete = complete && (shares[i] > 0 || p.words[i].importance() == 0)
			if s.has[x.apiOf[hit.Tool]]>>i&1 != 0 {
				shares[i] = max(shares[i], contextShare)
			}
		}
		if complete || p.enoughOf(shares, false) || p.enoughOf(shares, true) {
			return true
		}
	}
	return false
}

// enoughOf reports whether a tool that has the words of a query to these shares has enough of them, or of those of its
// main clause.
func (p *parsed) enoughOf(shares []float64, main bool) bool {
	has, all := p.covered(shares, main)
	return has > 0 && has >= enough*min(all, maxWanted)
}

// covered returns how much the words of a query count that a tool has to these shares, and how much all of them; main: only those of
// the main clause.
func (p *parsed) covered(shares []float64, main bool) (has, all float64) {
	for i := range p.words {
		if main && p.words[i].purpose {
			continue
		}
		importance := p.words[i].importance()
		has += importance * shares[i]
		all += importance
	}
	return has, all
}

// importance returns what a word counts.
func (w *queryWord) importance() float64 {
	switch {
	case w.verb:
		return verbShare * w.weight
	case w.name && !w.known:
		return 0
	case w.purpose:
		return purposeShare * w.weight
	}
	return w.weight
}

// shares returns, for each word of a query, the degree to which a tool has it. They are valid until the next call.
func (x *Index) shares(p *parsed, tool int32, s *scratch) []float64 {
	s.shares = slices.Grow(s.shares[:0], len(p.words))[:len(p.words)]
	clear(s.shares)
	for _, t := range p.terms {
		of := 1.0
		switch {
		case t.loose:
			of = looseShare
		case !t.inQuery:
			of = synonymShare
		}
		if of <= s.shares[t.word] {
			continue
		}
		in := x.timesIn(t.id, tool)
		if in == 0 {
			continue
		}
		switch {
		case in&heading != 0:
		case in.of(fieldDescription) != 0 || in.of(fieldProperty) != 0 && p.intent.actions[read] > 0:
			of *= descriptionShare
		default:
			of *= detailShare
		}
		s.shares[t.word] = max(s.shares[t.word], of)
	}
	for i := range p.words {
		if slices.Contains(p.words[i].prefixOf, x.apiOf[tool]) {
			of := 1.0
			if p.words[i].known {
				of = contextShare
			}
			s.shares[i] = max(s.shares[i], of)
		}
	}
	return s.shares
}
