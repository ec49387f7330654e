package finder

import (
	"hash/maphash"
	"slices"
	"sync"
)

// Index finds tools. It is immutable and safe for concurrent use.
type Index struct {
	tools     []entry
	terms     map[string]int32 // stem → index in postings
	postings  [][]posting      // of each term, ordered by tool
	idf       []float64        // inverse document frequency of each term
	byInitial map[byte][]int32 // terms by their first byte, for spelling correction
	stemmed   []string         // the stem of each term
	languages []*language      // of the texts; the first is English
	names     names            // of the tools
	apis      []string         // the names of the APIs, joined to one word each
	apiOf     []int32          // of each tool, in apis
	lengths   [][fields]int32  // of the fields of each tool, in words
	scratch   sync.Pool        // of *scratch
}

// entry is a tool in the index.
type entry struct {
	name, api string
	language  *language
	identity
	tags   []string
	action action   // of the method
	verb   action   // of the verb in the texts; noAction if there is none
	single bool     // the path names one item
	tail   []int32  // terms of the last path segment that is not a variable, or of the collection that a POST lists
	pairs  []uint32 // hashes of adjacent terms, sorted
}

// posting is the occurrence of a term in a tool.
type posting struct {
	tool   int32
	times  times
	weight float32 // weight of times if all tools are visible
}

// Parameters of BM25F (section 3.6 of the paper in doc.go).
const (
	saturation = 1.2 // k1: how fast further occurrences of a word count less
	lengthNorm = 0.6 // b: how much a word counts less in a longer field
)

// New returns the index of tools. pause, if not nil, is called after each tool, so that building yields to other work.
func New(tools []Tool, pause func()) *Index {
	b := &builder{x: &Index{terms: map[string]int32{}, byInitial: map[byte][]int32{}}, known: map[*language]map[string]int32{},
		apis: map[string]int32{}}
	b.x.names.seed = maphash.MakeSeed()
	b.detect(tools)
	for i := range tools {
		b.add(&tools[i])
		if pause != nil {
			pause()
		}
	}
	return b.finish()
}

// builder builds an index.
type builder struct {
	x       *Index
	byAPI   map[string]*language
	known   map[*language]map[string]int32 // word → term, see termOf
	lengths [][fields]int32
	sums    [fields]float64
	// frequencies holds the frequencies of each term, ordered by tool.
	frequencies [][]frequency
	pairs       []uint32         // of the tool that is being added
	apis        map[string]int32 // name → index in apis
}

// frequency is how often a term occurs in the fields of a tool.
type frequency struct {
	tool int32
	in   [fields]uint8 // at most maxFrequency
}

// maxDetected limits how much text of an API is used to detect its language, in bytes.
const maxDetected = 32 << 10

// detect determines the language of each API's texts.
func (b *builder) detect(tools []Tool) {
	b.byAPI = map[string]*language{}
	b.x.languages = languages[:1:1]
	for i := range tools {
		api := tools[i].API
		if b.byAPI[api] != nil {
			continue
		}
		l := detect(func(yield func(string)) {
			left := maxDetected
			for j := range tools[i:] {
				if t := &tools[i+j]; t.API == api && left > 0 {
					for _, text := range []string{t.Summary, prefix(t.Description, maxDescription)} {
						yield(text)
						left -= len(text)
					}
				}
			}
		})
		b.byAPI[api] = l
		if !slices.Contains(b.x.languages, l) {
			b.x.languages = append(b.x.languages, l)
		}
	}
}

// term returns the term of a stem, which it adds if it is new.
func (b *builder) term(stem string) int32 {
	id, ok := b.x.terms[stem]
	if !ok {
		id = int32(len(b.frequencies))
		b.x.terms[stem] = id
		b.frequencies = append(b.frequencies, nil)
		b.x.stemmed = append(b.x.stemmed, stem)
		b.x.byInitial[stem[0]] = append(b.x.byInitial[stem[0]], id)
	}
	return id
}

// api returns the index of an API.
func (b *builder) api(name string) int32 {
	i, found := b.apis[name]
	if !found {
		i = int32(len(b.x.apis))
		b.apis[name] = i
		b.x.apis = append(b.x.apis, joined(name))
	}
	return i
}

// termOf returns the term of a lower-case word; -1 for a stop word.
func (b *builder) termOf(l *language, known map[string]int32, word string) int32 {
	id, ok := known[word]
	if !ok {
		id = -1
		if stem := l.stemOf(word); stem != "" {
			id = b.term(stem)
		}
		known[word] = id
	}
	return id
}

func (b *builder) add(t *Tool) {
	l := b.byAPI[t.API]
	known := b.known[l]
	if known == nil {
		known = map[string]int32{}
		b.known[l] = known
	}
	n := int32(len(b.x.tools))
	e := entry{name: t.Name, api: t.API, language: l, tags: t.Tags, action: actionOf(t.Method), verb: verbOf(t, languages[0].reduce), single: t.endsInVariable()}
	b.lengths = append(b.lengths, [fields]int32{})
	length := &b.lengths[n]
	b.pairs = b.pairs[:0]
	for f := range fields {
		previous := int32(-1)
		for i, text := range t.texts(f) {
			if f != fieldPath && i > 0 {
				previous = -1
			}
			words(text, func(word string) {
				id := b.termOf(l, known, word)
				if id < 0 {
					return
				}
				b.count(id, n, f)
				length[f]++
				if previous >= 0 && pairsCount(f) {
					b.pairs = append(b.pairs, pairHash(previous, id))
					if f == fieldPath { // /users/{id}/keys are the keys of users
						b.pairs = append(b.pairs, pairHash(id, previous))
					}
				}
				previous = id
			})
		}
	}
	tail := t.collection()
	if tail != nil {
		e.action = read
	} else if fixed := t.segments(); len(fixed) > 0 {
		words(fixed[len(fixed)-1], func(word string) { tail = append(tail, word) })
	}
	for _, word := range tail {
		if id := b.termOf(l, known, word); id >= 0 {
			e.tail = append(e.tail, id)
		}
	}
	for f := range fields {
		b.sums[f] += float64(length[f])
	}
	slices.Sort(b.pairs)
	b.x.apiOf = append(b.x.apiOf, b.api(t.API))
	e.identity = identityOf(t)
	b.x.names.add(t.Name, n)
	b.x.names.add(t.ID, n)
	e.pairs = slices.Clone(slices.Compact(b.pairs))
	b.x.tools = append(b.x.tools, e)
}

// pairsCount reports whether adjacent words in a field belong together.
func pairsCount(f field) bool {
	return f == fieldName || f == fieldSummary || f == fieldDescription || f == fieldPath
}

func pairHash(a, b int32) uint32 {
	h := (uint64(uint32(a))<<32 | uint64(uint32(b))) * 0x9E3779B97F4A7C15
	return uint32(h >> 32)
}

// count counts one occurrence of a term. The tools are added one after the other.
func (b *builder) count(term, tool int32, f field) {
	list := b.frequencies[term]
	if len(list) == 0 || list[len(list)-1].tool != tool {
		list = append(list, frequency{tool: tool})
		b.frequencies[term] = list
	}
	if in := &list[len(list)-1].in; in[f] < maxFrequency {
		in[f]++
	}
}

// finish computes the values that depend on all tools.
func (b *builder) finish() *Index {
	x, n := b.x, float64(len(b.x.tools))
	slope := slopes(b.sums, n)
	x.lengths = b.lengths
	x.names.sort()
	x.postings, x.idf = make([][]posting, len(b.frequencies)), make([]float64, len(b.frequencies))
	for term, list := range b.frequencies {
		postings := make([]posting, len(list))
		for i := range list {
			var in times
			for f := range fields {
				in |= times(list[i].in[f]) << (2 * f)
			}
			postings[i] = posting{list[i].tool, in, float32(in.weight(&b.lengths[list[i].tool], &slope))}
		}
		x.postings[term] = postings
		x.idf[term] = inverseFrequency(float64(len(list)), n)
	}
	x.scratch.New = func() any { return newScratch(x) }
	return x
}
