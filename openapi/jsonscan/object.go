package jsonscan

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"

	"drawbridge/openapi/text"
)

func (s *scanner) object(i, depth int, shape *Shape) (int, error) {
	base := len(s.names)
	var seen map[string]struct{}
	var were properties
	var others uint64 // filter of the names that are not properties
	next := 0         // the property that is expected next: responses mostly keep the documented order
	begin := i
	i = s.space(i + 1)
	if i < len(s.data) && s.data[i] == '}' {
		s.complete(shape, 0, begin)
		return i + 1, nil
	}
	for {
		if shape != nil && !s.unique && next < len(shape.Properties) {
			// The expected name needs no scan: it is equal to one that is known to be valid.
			if p := &shape.Properties[next]; p.begin.of(s.data[i:]) {
				if next < were.end && were.has(next) {
					s.again(i)
				}
				var err error
				if i, err = s.member(i+len(p.begin.text), depth, p.Shape); err != nil {
					return i, err
				}
				next++
				if s.data[i] == '}' {
					s.complete(shape, were.first(next), begin)
					s.names = s.names[:base]
					return i + 1, nil
				}
				i = s.space(i + 1)
				continue
			}
		}
		if i >= len(s.data) || s.data[i] != '"' {
			return i, s.unexpected(i, "a member name")
		}
		start := i
		end, escaped, err := s.str(i + 1)
		if err != nil {
			return end, err
		}
		name := s.data[start+1 : end-1]
		if escaped && (s.unique || shape != nil) {
			name = Unquote(s.data[start:end])
		}
		if s.unique {
			if seen, err = s.remember(name, base, seen, start); err != nil {
				return start, err
			}
		}
		var member *Shape
		if shape != nil {
			if at := shape.property(name, next); at < 0 {
				others = s.other(name, base, others, start)
			} else {
				if were.add(next); were.has(at) {
					s.again(start)
				}
				were.begin = at
				member, next = shape.Properties[at].Shape, at+1
			}
		}
		i = s.space(end)
		if i >= len(s.data) || s.data[i] != ':' {
			return i, s.unexpected(i, `":"`)
		}
		if i, err = s.member(i+1, depth, member); err != nil {
			return i, err
		}
		if s.data[i] == '}' {
			s.complete(shape, were.first(next), begin)
			s.names = s.names[:base]
			return i + 1, nil
		}
		i = s.space(i + 1)
	}
}

// member scans a member's value, whose colon precedes i, and returns the offset of the comma or brace after it.
func (s *scanner) member(i, depth int, shape *Shape) (int, error) {
	i = s.space(i)
	if i >= len(s.data) {
		return i, s.unexpected(i, "a value")
	}
	i, err := s.value(i, depth, shape)
	if err != nil {
		return i, err
	}
	i = s.space(i)
	if i >= len(s.data) || s.data[i] != ',' && s.data[i] != '}' {
		return i, s.unexpected(i, `"," or "}"`)
	}
	return i, nil
}

// maxKnown limits the properties of a shape that are checked for duplicates.
const maxKnown = 256

// properties are the properties of a shape that an object has had. Most objects have them in order, which costs
// nothing: consecutive ones from begin on are only added when the run ends.
type properties struct {
	set   [maxKnown / 64]uint64
	end   int // end of the last run in set
	begin int
}

func (p *properties) has(i int) bool { return i < maxKnown && p.set[i/64]&(1<<(i%64)) != 0 }

// first returns the set of those among the first 64, the run from begin up to next included.
func (p *properties) first(next int) uint64 {
	return p.set[0] | (1<<uint(next)-1)&^(1<<uint(p.begin)-1)
}

// add adds the properties from begin up to next.
func (p *properties) add(next int) {
	for i := p.begin; i < min(next, maxKnown); i++ {
		p.set[i/64] |= 1 << (i % 64)
	}
	p.end = max(p.end, next)
}

// complete records the first required property that an object has not had. had are those that it had, of the first 64; the object begins at
// the offset. It is small enough to be inlined, since it is called for each object.
func (s *scanner) complete(shape *Shape, had uint64, offset int) {
	if shape != nil && shape.required&^had != 0 {
		s.lack(shape, had, offset)
	}
}

func (s *scanner) lack(shape *Shape, had uint64, offset int) {
	if s.missing == nil {
		s.missing = &Missing{offset, shape.Properties[bits.TrailingZeros64(shape.required&^had)].Name}
	}
}

// again records the first member with a duplicate name.
func (s *scanner) again(at int) {
	if s.twice == 0 {
		s.twice = at
	}
}

// other searches for a name that is not in the shape among those before it. seen is a filter of these, which usually
// shows that it is new.
func (s *scanner) other(name []byte, base int, seen uint64, at int) uint64 {
	if s.unique || len(s.names)-base >= manyNames {
		return seen
	}
	if s.room == nil {
		s.enterRoom()
	}
	var b byte
	if n := len(name); n > 0 {
		b = name[0] ^ name[n-1]<<2 ^ name[n/2]<<1 ^ byte(n)
	}
	bit := uint64(1) << (b & 63)
	if seen&bit != 0 && slices.ContainsFunc(s.names[base:], func(other []byte) bool { return bytes.Equal(other, name) }) {
		s.again(at)
		return seen
	}
	s.names = append(s.names, name)
	return seen | bit
}

// manyNames is the number of names from which a map is cheaper than pairwise comparison.
const manyNames = 24

func (s *scanner) remember(name []byte, base int, seen map[string]struct{}, at int) (map[string]struct{}, error) {
	if seen != nil {
		if _, dup := seen[string(name)]; dup {
			return seen, s.duplicate(name, at)
		}
		seen[string(name)] = struct{}{}
		return seen, nil
	}
	s.enterRoom()
	for _, other := range s.names[base:] {
		if bytes.Equal(other, name) {
			return nil, s.duplicate(name, at)
		}
	}
	s.names = append(s.names, name)
	if len(s.names)-base > manyNames {
		seen = make(map[string]struct{}, 4*manyNames)
		for _, other := range s.names[base:] {
			seen[string(other)] = struct{}{}
		}
	}
	return seen, nil
}

func (s *scanner) duplicate(name []byte, at int) error {
	return s.fail(at, Duplicate, fmt.Sprintf("member name %q stands twice", text.Truncate(string(name), 64)))
}
