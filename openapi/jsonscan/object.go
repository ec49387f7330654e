package jsonscan

import (
	"bytes"
	"fmt"
)

func (s *scanner) object(i, depth int, shape *Shape) (int, error) {
	base := len(s.names)
	var seen map[string]struct{}
	next := 0 // the property that is expected next: answers mostly keep the documented order
	i = s.space(i + 1)
	if i < len(s.data) && s.data[i] == '}' {
		return i + 1, nil
	}
	for {
		if shape != nil && !s.unique && next < len(shape.Properties) {
			// The name that is expected next needs no scan: it is equal to one that is known to be good.
			if p := &shape.Properties[next]; p.begin.of(s.data[i:]) {
				var err error
				if i, err = s.member(i+len(p.begin.text), depth, p.Shape); err != nil {
					return i, err
				}
				next++
				if s.data[i] == '}' {
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
			member, next = shape.property(name, next)
		}
		i = s.space(end)
		if i >= len(s.data) || s.data[i] != ':' {
			return i, s.unexpected(i, `":"`)
		}
		if i, err = s.member(i+1, depth, member); err != nil {
			return i, err
		}
		if s.data[i] == '}' {
			s.names = s.names[:base]
			return i + 1, nil
		}
		i = s.space(i + 1)
	}
}

// member scans a member's value, whose colon stands before i, and returns the offset of the comma or brace behind it.
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

// manyNames is where comparing names pairwise starts to cost more than a map.
const manyNames = 24

func (s *scanner) remember(name []byte, base int, seen map[string]struct{}, at int) (map[string]struct{}, error) {
	if seen != nil {
		if _, dup := seen[string(name)]; dup {
			return seen, s.duplicate(name, at)
		}
		seen[string(name)] = struct{}{}
		return seen, nil
	}
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
	if len(name) > 64 {
		name = append(bytes.Clone(name[:64]), "…"...)
	}
	return s.fail(at, Duplicate, fmt.Sprintf("member name %q stands twice", name))
}
