package finder

// scratch is the memory of one search, which is used again by later ones.
type scratch struct {
	scores  []float64 // by tool; 0 if the tool has no word of the query
	touched []int32   // tools with a score
	said    []bool    // terms of the query, by term
	query   *parsed   // nil until the query is parsed

	view      *View // of the query; nil if the caller sees all tools
	languages []*language

	allowed func(tool int) bool // of the query; nil if all tools may be found
	asked   []answer            // what allowed has said, by tool
	known   []int32             // tools that allowed was asked for
}

// answer is what a query says of a tool.
type answer uint8

const (
	notAsked answer = iota
	yes
	no
)

func newScratch(tools, terms int) *scratch {
	return &scratch{scores: make([]float64, tools), said: make([]bool, terms), asked: make([]answer, tools)}
}

func (s *scratch) begin(p *parsed) {
	s.query = p
	for _, t := range p.terms {
		s.said[t.id] = true
	}
}

// end clears what the search has written.
func (s *scratch) end() {
	if s.query != nil {
		for _, t := range s.query.terms {
			s.said[t.id] = false
		}
	}
	for _, tool := range s.known {
		s.asked[tool] = notAsked
	}
	s.known, s.allowed, s.view, s.languages = s.known[:0], nil, nil, nil
	for _, tool := range s.touched {
		s.scores[tool] = 0
	}
	s.touched, s.query = s.touched[:0], nil
}

// isAllowed reports whether a tool may be found. The query is asked once for each, since the words of a query may have many
// tools in common that may not.
func (s *scratch) isAllowed(tool int32) bool {
	if s.allowed == nil {
		return true
	}
	if s.asked[tool] == notAsked {
		s.asked[tool] = no
		if s.allowed(int(tool)) {
			s.asked[tool] = yes
		}
		s.known = append(s.known, tool)
	}
	return s.asked[tool] == yes
}

func (s *scratch) add(tool int32, score float64) {
	if s.scores[tool] == 0 {
		s.touched = append(s.touched, tool)
	}
	s.scores[tool] += score
}

// tailFactor returns how far the last segment of the path raises the score: by the share of its words in the query.
func (s *scratch) tailFactor(t *entry) float64 {
	if len(t.tail) == 0 {
		return 1
	}
	said := 0
	for _, id := range t.tail {
		if s.said[id] {
			said++
		}
	}
	return 1 + tailGain*float64(said)/float64(len(t.tail))
}

// top keeps the best hits, as a heap with the worst of them first.
type top struct {
	x    *Index
	most int
	hits []Hit
}

func newTop(x *Index, most int) *top { return &top{x: x, most: most} }

func (t *top) worse(a, b Hit) bool { return t.x.compare(a, b) > 0 }

// mayTake reports whether a hit with that score, or a lower one, may be among the best.
func (t *top) mayTake(score float64) bool { return len(t.hits) < t.most || score >= t.hits[0].Score }

func (t *top) add(h Hit) {
	if len(t.hits) < t.most {
		t.hits = append(t.hits, h)
		for i := len(t.hits) - 1; i > 0; {
			parent := (i - 1) / 2
			if !t.worse(t.hits[i], t.hits[parent]) {
				break
			}
			t.hits[i], t.hits[parent] = t.hits[parent], t.hits[i]
			i = parent
		}
		return
	}
	if !t.worse(t.hits[0], h) {
		return
	}
	t.hits[0] = h
	for i := 0; ; {
		worst := i
		for _, child := range [...]int{2*i + 1, 2*i + 2} {
			if child < len(t.hits) && t.worse(t.hits[child], t.hits[worst]) {
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
