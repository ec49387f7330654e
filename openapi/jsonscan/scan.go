package jsonscan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// Kind is the type of a JSON value. The constants are single bits, so that a set of kinds is a [Kinds].
type Kind uint8

// The six kinds of RFC 8259 section 3, true and false being one.
const (
	Null Kind = 1 << iota
	Bool
	Number
	String
	Array
	Object
)

// String returns the name that JSON Schema uses for the kind.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "boolean"
	case Number:
		return "number"
	case String:
		return "string"
	case Array:
		return "array"
	case Object:
		return "object"
	}
	return "nothing"
}

// Reason tells why a text was refused.
type Reason uint8

// Why [Scan] refuses a text.
const (
	Syntax    Reason = iota + 1 // not the grammar of RFC 8259
	TooDeep                     // nested deeper than Options.MaxDepth
	Duplicate                   // a member name stands twice in one object
	Encoding                    // not valid UTF-8
)

// Error says where and why a text was refused. Offset counts bytes from the start of the text.
type Error struct {
	Offset int
	Reason Reason
	Detail string
}

func (e *Error) Error() string {
	return fmt.Sprintf("json: %s at byte %d", e.Detail, e.Offset)
}

// DefaultMaxDepth is the nesting that Scan accepts when Options.MaxDepth is zero.
const DefaultMaxDepth = 200

// Options are the checks of one [Scan]. The zero value checks grammar, UTF-8 and depth.
type Options struct {
	MaxDepth int    // deepest nesting of arrays and objects; 0 means DefaultMaxDepth
	Unique   bool   // refuse an object with two members of the same name
	Shape    *Shape // compare the value with this shape on the way; it must have been compiled
}

// Info is what a [Scan] learned about the text.
type Info struct {
	Kind     Kind
	Spaced   bool      // there is white space outside strings
	Mismatch *Mismatch // the first place where the value leaves Options.Shape; nil if it fits
}

// Scan checks that data holds exactly one JSON text: the grammar of RFC 8259, valid UTF-8 (section 8.1),
// and what the options ask for. The error is always an [*Error]. It does not allocate unless Unique is set,
// the shape does not fit, or there is an error.
func Scan(data []byte, o Options) (Info, error) {
	s := scanner{data: data, max: o.MaxDepth, unique: o.Unique}
	if s.max <= 0 {
		s.max = DefaultMaxDepth
	}
	if o.Unique {
		s.names = make([][]byte, 0, 16) // enough for most, so that it need not grow
	}
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
	return Info{Kind: kind, Spaced: s.spaced, Mismatch: s.mismatch}, nil
}

type scanner struct {
	data     []byte
	max      int
	unique   bool
	spaced   bool
	mismatch *Mismatch
	names    [][]byte // names of the objects that are open, for unique
}

func (s *scanner) fail(i int, r Reason, detail string) error {
	return &Error{Offset: i, Reason: r, Detail: detail}
}

func (s *scanner) unexpected(i int, expected string) error {
	if i >= len(s.data) {
		return s.fail(i, Syntax, "unexpected end of the text, expected "+expected)
	}
	return s.fail(i, Syntax, fmt.Sprintf("unexpected %q, expected %s", rune(s.data[i]), expected))
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

// kinds tells the kind of a value by its first byte; 0 for a byte that starts none. It is never written to.
var kinds = [256]Kind{
	'{': Object, '[': Array, '"': String, 't': Bool, 'f': Bool, 'n': Null, '-': Number,
	'0': Number, '1': Number, '2': Number, '3': Number, '4': Number, '5': Number, '6': Number, '7': Number, '8': Number, '9': Number,
}

func kindOf(c byte) Kind { return kinds[c] }

// value scans the value that starts at i, which is inside the text and not white space, and returns the
// offset behind it. A nil shape accepts everything.
func (s *scanner) value(i, depth int, shape *Shape) (int, error) {
	start := i
	var err error
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
		i, err = s.number(i)
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
		if !shape.accepts(kind) || (kind == Number && shape.Integer && !isInteger(s.data[start:i])) {
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

func (s *scanner) digits(i int) int {
	for i < len(s.data) && s.data[i]-'0' <= 9 {
		i++
	}
	return i
}

func (s *scanner) number(i int) (int, error) {
	d := s.data
	if d[i] == '-' {
		i++
	}
	switch {
	case i < len(d) && d[i] == '0':
		i++
	default:
		j := s.digits(i)
		if j == i {
			return i, s.unexpected(i, "a digit")
		}
		i = j
	}
	if i < len(d) && d[i] == '.' {
		j := s.digits(i + 1)
		if j == i+1 {
			return i, s.unexpected(j, "a digit")
		}
		i = j
	}
	if i < len(d) && (d[i] == 'e' || d[i] == 'E') {
		i++
		if i < len(d) && (d[i] == '+' || d[i] == '-') {
			i++
		}
		j := s.digits(i)
		if j == i {
			return i, s.unexpected(i, "a digit")
		}
		i = j
	}
	return i, nil
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
	low7  = 0x7f7f7f7f7f7f7f7f
)

// special marks, in the high bit of each byte, the bytes of w that end a plain run inside a string: quote,
// backslash and control characters. The lowest mark is exact; marks above it may be false.
func special(w uint64) uint64 {
	// Flipping bit 1 moves the quote to 0x20 and keeps control characters below it, so that one comparison finds
	// both: less than 0x21.
	low := (w ^ 0x02*ones) - 0x21*ones
	slash := (w ^ '\\'*ones) - ones
	return (low | slash) &^ w & highs
}

// longRun is how many plain words make it likely that many more follow.
const longRun = 12

// plainLen returns the length of the plain ASCII at the start of b, in steps of 32 bytes.
func plainLen(b []byte) int {
	n := 0
	for n+32 <= len(b) {
		block := b[n : n+32]
		w0, w1 := binary.LittleEndian.Uint64(block), binary.LittleEndian.Uint64(block[8:])
		w2, w3 := binary.LittleEndian.Uint64(block[16:]), binary.LittleEndian.Uint64(block[24:])
		if special(w0)|special(w1)|special(w2)|special(w3)|(w0|w1|w2|w3)&highs != 0 {
			break
		}
		n += 32
	}
	return n
}

// str scans a string whose opening quote stands before i. It returns the offset behind the closing quote and
// whether there is an escape in it.
func (s *scanner) str(i int) (end int, escaped bool, err error) {
	d := s.data
	for {
		for words := 1; i+8 <= len(d); words++ {
			w := binary.LittleEndian.Uint64(d[i:])
			m := special(w) | w&highs
			if m == 0 {
				i += 8
				if words == longRun {
					i += plainLen(d[i:])
				}
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
			break
		}
		if i >= len(d) {
			return i, escaped, s.fail(i, Syntax, "unexpected end of the text inside a string")
		}
		switch c := d[i]; {
		case c == '"':
			return i + 1, escaped, nil
		case c == '\\':
			escaped = true
			n := escapeLen(d[i:])
			if n == 0 {
				return i, escaped, s.fail(i, Syntax, "invalid escape in a string")
			}
			i += n
		case c < ' ':
			return i, escaped, s.fail(i, Syntax, fmt.Sprintf("control character %#02x in a string", c))
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(d[i:])
			if r == utf8.RuneError && n <= 1 {
				return i, escaped, s.fail(i, Encoding, "invalid UTF-8 in a string")
			}
			i += n
		}
	}
}

// escapeLen returns the length of the escape sequence at the start of b, 0 if there is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if hexValue(c) < 0 {
				return 0
			}
		}
		return 6
	}
	return 0
}

func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
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
			if p := &shape.Properties[next]; p.quoted != "" && len(s.data)-i > len(p.quoted) && string(s.data[i:i+len(p.quoted)]) == p.quoted {
				var err error
				if i, err = s.member(i+len(p.quoted), depth, p.Shape); err != nil {
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
