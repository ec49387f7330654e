package finder

const (
	// judged is the number of the best hits of which one must fit well.
	judged = 5
	// enough is the share of a query's words that a tool must have to fit well.
	enough = 0.6
	// maxWanted is the number of words, by their weights, of which a share is wanted: a tool has few words of a long query.
	maxWanted = 2
	// complete is the number of words from which a tool fits well that has all of them, no matter where: it is no accident
	// that the arguments of one tool are a mail and an attachment, and the tool sends.
	complete = 3
	// verbShare is what a verb counts: every API has tools that create, list and delete.
	verbShare = 0.15
	// Shares that a word counts which occurs in the description of a tool, or only in its arguments and answer, where
	// words of all kinds occur by accident. One in its name, summary, path or tags counts whole.
	descriptionShare, detailShare = 0.5, 0.25
	// otherShare is the share of a synonym, or of a word whose spelling was corrected.
	otherShare = 0.8
)

// heading are the fields that say in few words what a tool does.
const heading = times(3<<(2*fieldName) | 3<<(2*fieldSummary) | 3<<(2*fieldPath) | 3<<(2*fieldTag) | 3<<(2*fieldAPI))

// fits reports whether one of the best hits fits a query well: it has enough of the words, or all of several. Scores say nothing of that,
// since they are high for any tool with a rare word. Rarity doesn't count here: "movie" is frequent in an API of movies,
// and its absence elsewhere is what tells that a query about movies is not answered. Names of single things, such as Ann,
// are in no document.
func (x *Index) fits(hits []Hit, p *parsed) bool {
	if len(hits) > 0 && hits[0].Exact {
		return true
	}
	wanted := 0.0
	for i := range p.words {
		wanted += p.words[i].importance()
	}
	wanted = enough * min(wanted, maxWanted)
	for _, hit := range hits[:min(judged, len(hits))] {
		has, all := 0.0, len(p.words) >= complete
		for i := range p.words {
			share := x.shareOf(i, p, int32(hit.Tool))
			has += p.words[i].importance() * share
			all = all && (share > 0 || p.words[i].importance() == 0)
		}
		if has > 0 && (has >= wanted || all) {
			return true
		}
	}
	return false
}

// importance returns what a word counts.
func (w *queryWord) importance() float64 {
	switch {
	case w.verb:
		return verbShare * w.weight
	case w.name && !w.known:
		return 0
	}
	return w.weight
}

// shareOf returns the degree to which a tool has a word of a query.
func (x *Index) shareOf(word int, p *parsed, tool int32) (share float64) {
	for _, t := range p.terms {
		if t.word != word {
			continue
		}
		in := x.timesIn(t.id, tool)
		if in == 0 {
			continue
		}
		of := 1.0
		if !t.inQuery {
			of = otherShare
		}
		switch {
		case in&heading != 0:
		case in.of(fieldDescription) != 0:
			of *= descriptionShare
		default:
			of *= detailShare
		}
		share = max(share, of)
	}
	return share
}
