package embedding

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

const (
	// maxMemory limits the memory for the vectors of a model, in bytes: 10,000 tools with 4,096 dimensions fit.
	maxMemory = 64 << 20
	// overhead is the memory of a vector besides its components, in bytes.
	overhead = 160
	// unusedAge is how long an unused vector is kept, in case its document returns.
	unusedAge = 30 * 24 * time.Hour
)

// vectors are those of a model by the digests of their texts. They belong to one goroutine.
type vectors struct {
	all    map[digest]*stored
	loaded bool // the file was read
	dirty  bool // there are changes that are not on disk
}

// stored is a vector with the day on which a tool last used it, in days since 1970.
type stored struct {
	vector
	day uint32
}

func newVectors() *vectors { return &vectors{all: map[digest]*stored{}} }

func today() uint32 { return uint32(time.Now().Unix() / (24 * 60 * 60)) }

// use returns the vector of a text and marks it as used; nil if there is none.
func (s *vectors) use(d digest) *vector {
	found := s.all[d]
	if found == nil {
		return nil
	}
	if day := today(); found.day != day {
		found.day, s.dirty = day, true
	}
	return &found.vector
}

// add adds a vector that is used. It returns false if there is no memory for it.
func (s *vectors) add(d digest, v vector) bool {
	if s.all[d] == nil && (len(s.all)+1)*(len(v.values)+overhead) > maxMemory {
		if s.prune(len(s.all) * 3 / 4); (len(s.all)+1)*(len(v.values)+overhead) > maxMemory {
			return false
		}
	}
	s.all[d], s.dirty = &stored{v, today()}, true
	return true
}

// prune removes the vectors that no tool has used for unusedAge. If more than most remain, it also removes the oldest
// of those that no tool has used today.
func (s *vectors) prune(most int) {
	day := today()
	before := len(s.all)
	maps.DeleteFunc(s.all, func(_ digest, v *stored) bool { return time.Duration(day-min(v.day, day))*24*time.Hour > unusedAge })
	if len(s.all) > most {
		unused := slices.Collect(maps.Keys(s.all))
		unused = slices.DeleteFunc(unused, func(d digest) bool { return s.all[d].day >= day })
		slices.SortFunc(unused, func(a, b digest) int {
			return cmp.Or(cmp.Compare(s.all[a].day, s.all[b].day), slices.Compare(a[:], b[:]))
		})
		for _, d := range unused[:min(len(unused), len(s.all)-most)] {
			delete(s.all, d)
		}
	}
	s.dirty = s.dirty || len(s.all) != before
}
