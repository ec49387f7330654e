package jsonscan

import (
	"fmt"
	"sync"
)

// DefaultMaxDepth is the nesting that Scan accepts if Options.MaxDepth is zero.
const DefaultMaxDepth = 200

// Options are the checks of one [Scan]. The zero value checks grammar, UTF-8 and depth.
type Options struct {
	MaxDepth int    // maximum nesting of arrays and objects; 0 means DefaultMaxDepth
	Unique   bool   // refuse an object with two members of the same name
	Shape    *Shape // compare the value with this shape during the scan; it must have been compiled
}

// Info holds the findings of a [Scan].
type Info struct {
	Kind     Kind
	Spaced   bool      // there is white space outside strings
	Escapes  bool      // there are escapes that [AppendUnescaped] may replace
	Mismatch *Mismatch // the first difference from Options.Shape; nil if the value matches
	Missing  *Missing  // the first required property that is missing, among the first 64 of its object; nil if there is none
	// Twice is the offset of the value of the first duplicate member; 0 if there is none. It is searched in objects
	// that have a shape, among the first 256 names of the shape and the first 24 others, which costs almost nothing.
	Twice int
}

// rooms hold the names of open objects while a text is scanned. Most texts have no more, so that the slice need not
// grow.
var rooms = sync.Pool{New: func() any { room := make([][]byte, 0, 16); return &room }}

// maxRoom limits the capacity of a slice that is kept.
const maxRoom = 64

// Scan checks that data holds exactly one JSON text: the grammar of RFC 8259, valid UTF-8 (section 8.1), and the checks
// of the options. The error is always an [*Error]. Scan does not allocate unless Unique is set and there are many
// names, the shape does not match, or there is an error.
func Scan(data []byte, o Options) (Info, error) {
	s := scanner{data: data, max: o.MaxDepth, unique: o.Unique}
	if s.max <= 0 {
		s.max = DefaultMaxDepth
	}
	defer s.leaveRoom()
	i := s.space(0)
	if i >= len(data) {
		return Info{}, s.fail(i, Syntax, "unexpected end of the text, expected a value")
	}
	kind := kindOf(data[i])
	i, err := s.value(i, 0, o.Shape)
	if err != nil {
		return Info{}, err
	}
	if i = s.space(i); i < len(data) {
		return Info{}, s.unexpected(i, "the end of the text")
	}
	if s.twice > 0 { // until here it is the offset of the name
		s.twice = skipSpace(data, skipSpace(data, skipValue(data, s.twice))+1)
	}
	return Info{Kind: kind, Spaced: s.spaced, Escapes: s.escapes, Mismatch: s.mismatch, Missing: s.missing, Twice: s.twice}, nil
}

// enterRoom reserves capacity for names.
func (s *scanner) enterRoom() {
	if s.room == nil {
		s.room = rooms.Get().(*[][]byte) //nolint:errcheck // nothing else is in it
		s.names = *s.room
	}
}

func (s *scanner) leaveRoom() {
	if s.room == nil || cap(s.names) > maxRoom {
		return
	}
	*s.room = s.names[:0]
	clear((*s.room)[:cap(*s.room)]) // they are parts of data
	rooms.Put(s.room)
}

type scanner struct {
	data     []byte
	max      int
	unique   bool
	spaced   bool
	escapes  bool
	mismatch *Mismatch
	missing  *Missing
	twice    int
	room     *[][]byte // from rooms; nil if names has none yet
	names    [][]byte  // names of the open objects: all if unique, otherwise those that are not in their shapes
}

func (s *scanner) space(i int) int {
	if i < len(s.data) && s.data[i] > ' ' {
		return i
	}
	start := i
	for i < len(s.data) {
		switch s.data[i] {
		case ' ', '\t', '\n', '\r':
			i++
			continue
		}
		break
	}
	s.spaced = s.spaced || i > start
	return i
}

// value scans the value at i, which is inside the text and not white space, and returns its end. A nil shape accepts
// everything.
func (s *scanner) value(i, depth int, shape *Shape) (int, error) {
	start := i
	var err error
	digits := false // the value is a number of digits only
	kind := kindOf(s.data[i])
	switch kind {
	case Object, Array:
		if depth >= s.max {
			return i, s.fail(i, TooDeep, fmt.Sprintf("nested more than %d levels deep", s.max))
		}
		if shape != nil && !shape.accepts(kind) {
			s.leave(start, shape, kind)
			shape = nil
		}
		if kind == Object {
			return s.object(i, depth+1, shape)
		}
		return s.array(i, depth+1, shape)
	case String:
		i, _, err = s.str(i + 1)
	case Number:
		i, digits, err = s.number(i)
	case Bool:
		if s.data[i] == 't' {
			i, err = s.literal(i, "true")
		} else {
			i, err = s.literal(i, "false")
		}
	case Null:
		i, err = s.literal(i, "null")
	default:
		return i, s.unexpected(i, "a value")
	}
	if err == nil && shape != nil {
		if !shape.accepts(kind) || (kind == Number && shape.Integer && !digits && !isInteger(s.data[start:i])) {
			s.leave(start, shape, kind)
		}
	}
	return i, err
}

func (s *scanner) leave(offset int, shape *Shape, got Kind) {
	if s.mismatch == nil {
		s.mismatch = &Mismatch{Offset: offset, Want: shape.Kinds, Integer: shape.Integer, Got: got}
	}
}

func (s *scanner) literal(i int, word string) (int, error) {
	for j := 0; j < len(word); j++ {
		if i+j >= len(s.data) || s.data[i+j] != word[j] {
			return i, s.unexpected(i+j, word)
		}
	}
	return i + len(word), nil
}

func (s *scanner) array(i, depth int, shape *Shape) (int, error) {
	var items *Shape
	if shape != nil {
		items = shape.Items
	}
	i = s.space(i + 1)
	if i < len(s.data) && s.data[i] == ']' {
		return i + 1, nil
	}
	for {
		if i >= len(s.data) {
			return i, s.unexpected(i, "a value")
		}
		var err error
		if i, err = s.value(i, depth, items); err != nil {
			return i, err
		}
		i = s.space(i)
		switch {
		case i < len(s.data) && s.data[i] == ',':
			i = s.space(i + 1)
		case i < len(s.data) && s.data[i] == ']':
			return i + 1, nil
		default:
			return i, s.unexpected(i, `"," or "]"`)
		}
	}
}
