package finder

// scratch is the memory of one search, which later searches reuse.
type scratch struct {
	scores  []float64 // by tool; 0 if the tool has no word of the query
	touched []int32   // tools with a score
	valued  []bool    // by tool; tools that have the verb of the query as a value of an argument
	inQuery []bool    // by term; terms of the query
	shares  []float64 // by word of the query, of one tool
	query   *parsed   // nil until the query is parsed
	has     []uint64  // by API; the words of the query, by their bits, that are in the heading of one of its tools

	view      *View // of the query; nil if the caller sees all tools
	languages []*language

	allowed  func(tool int) bool // of the query; nil if all tools may be found
	verdicts []verdict           // results of allowed, by tool
	known    []int32             // tools with a result of allowed
}

// verdict is the result of [Query.Allowed] for a tool.
type verdict uint8

const (
	undecided verdict = iota
	permitted
	denied
)

func newScratch(x *Index) *scratch {
	tools := len(x.tools)
	return &scratch{scores: make([]float64, tools), valued: make([]bool, tools), inQuery: make([]bool, len(x.stemmed)), has: make([]uint64, len(x.apis)), verdicts: make([]verdict, tools)}
}

func (s *scratch) begin(p *parsed) {
	s.query = p
	for _, t := range p.terms {
		s.inQuery[t.id] = !p.words[t.word].purpose
	}
}

// next clears the state of one wish.
func (s *scratch) next() {
	for _, t := range s.query.terms {
		s.inQuery[t.id] = false
	}
	for _, tool := range s.touched {
		s.scores[tool], s.valued[tool] = 0, false
	}
	s.touched, s.query = s.touched[:0], nil
	clear(s.has)
}

// end clears the state of the search.
func (s *scratch) end() {
	for _, tool := range s.known {
		s.verdicts[tool] = undecided
	}
	s.known, s.allowed, s.view, s.languages = s.known[:0], nil, nil, nil
}

// isAllowed reports whether a tool may be found. It calls allowed once for each tool, since the words of a query may
// occur in many of the same hidden tools.
func (s *scratch) isAllowed(tool int32) bool {
	if s.allowed == nil {
		return true
	}
	if s.verdicts[tool] == undecided {
		s.verdicts[tool] = denied
		if s.allowed(int(tool)) {
			s.verdicts[tool] = permitted
		}
		s.known = append(s.known, tool)
	}
	return s.verdicts[tool] == permitted
}

func (s *scratch) add(tool int32, score float64) {
	if s.scores[tool] == 0 {
		s.touched = append(s.touched, tool)
	}
	s.scores[tool] += score
}

// tailFactor returns the boost by the last path segment: the share of its words that are in the query.
func (s *scratch) tailFactor(t *entry) float64 {
	if len(t.tail) == 0 {
		return 1
	}
	inQuery := 0
	for _, id := range t.tail {
		if s.inQuery[id] {
			inQuery++
		}
	}
	return 1 + tailGain*float64(inQuery)/float64(len(t.tail))
}

// top keeps the best hits, as a heap with the worst of them first.
type top struct {
	x    *Index
	most int
	hits []Hit
}

func newTop(x *Index, most int) *top {
	return &top{x: x, most: most, hits: make([]Hit, 0, min(most, len(x.tools)))}
}

func (t *top) worse(a, b *Hit) bool {
	if a.Score != b.Score {
		return a.Score < b.Score
	}
	return t.x.compare(*a, *b) > 0
}

// mayTake reports whether a hit with that score, or a lower one, may be among the best.
func (t *top) mayTake(score float64) bool { return len(t.hits) < t.most || score >= t.hits[0].Score }

func (t *top) add(h Hit) {
	if len(t.hits) < t.most {
		t.hits = append(t.hits, h)
		for i := len(t.hits) - 1; i > 0; {
			parent := (i - 1) / 2
			if !t.worse(&t.hits[i], &t.hits[parent]) {
				break
			}
			t.hits[i], t.hits[parent] = t.hits[parent], t.hits[i]
			i = parent
		}
		return
	}
	if !t.worse(&t.hits[0], &h) {
		return
	}
	t.hits[0] = h
	for i := 0; ; {
		worst := i
		for _, child := range [...]int{2*i + 1, 2*i + 2} {
			if child < len(t.hits) && t.worse(&t.hits[child], &t.hits[worst]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		t.hits[i], t.hits[worst] = t.hits[worst], t.hits[i]
		i = worst
	}
}
