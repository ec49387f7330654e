package mcp

import "drawbridge/openapi/jsonscan"

// idFinder finds the id of a message that is too large to hold. It takes the message in pieces, keeps at most an id's
// bytes of it and does not validate it, so in text that is not JSON it may find an id or none.
type idFinder struct {
	depth    int
	closed   bool // the outermost object has ended
	broken   bool // the message is not an object, or something follows it
	inString bool
	escaped  bool // the preceding byte was a backslash
	state    memberState

	key   []byte // name of the current member of the outermost object, as far as it may be "id"
	value []byte // of the member "id"
	count int    // number of members with that name
}

// memberState is a position within a member of the outermost object.
type memberState uint8

const (
	beforeName memberState = iota
	inName
	afterName
	inValue
)

// feed processes the next piece.
func (f *idFinder) feed(piece []byte) {
	for _, c := range piece {
		if f.inString {
			f.stringByte(c)
			continue
		}
		switch c {
		case ' ', '\t', '\r', '\n':
		case '"':
			f.inString = true
			if f.depth == 1 && f.state == beforeName {
				f.state, f.key = inName, f.key[:0]
			}
			f.remember(c)
		case '{', '[':
			if f.depth == 0 && (c == '[' || f.closed) {
				f.broken = true
			}
			f.remember(c)
			f.depth++
		case '}', ']':
			f.remember(c)
			if f.depth--; f.depth == 0 {
				f.closed = true
			}
		case ':':
			if f.depth == 1 && f.state == afterName {
				f.state = inValue
				if f.isID() {
					f.count++
				}
				continue
			}
			f.remember(c)
		case ',':
			if f.depth == 1 {
				f.state = beforeName
				continue
			}
			f.remember(c)
		default:
			f.remember(c)
		}
		f.broken = f.broken || f.depth < 0 || f.depth == 0 && !f.closed
	}
}

// stringByte processes a byte of a string.
func (f *idFinder) stringByte(c byte) {
	f.remember(c)
	switch {
	case f.escaped:
		f.escaped = false
	case c == '\\':
		f.escaped = true
	case c == '"':
		f.inString = false
		if f.depth == 1 && f.state == inName {
			f.state = afterName
		}
	}
}

func (f *idFinder) isID() bool { return string(f.key) == `"id"` }

// remember keeps a byte of a name or of an id, until it is known to be too long.
func (f *idFinder) remember(c byte) {
	switch {
	case f.depth == 0:
		f.broken = f.broken || c != '{'
	case f.depth == 1 && f.state == inName:
		if len(f.key) <= len(`"id"`) {
			f.key = append(f.key, c)
		}
	case f.state == inValue && f.isID() && len(f.value) <= maxID:
		if f.depth == 1 && !f.inString && (c == '}' || c == ']') {
			return // the end of the message, not of the value
		}
		f.value = append(f.value, c)
	}
}

// id returns the id, nil if there is none, more than one or an invalid one.
func (f *idFinder) id() []byte {
	if f.broken || !f.closed || f.count != 1 || !validID(f.value) {
		return nil
	}
	if _, err := jsonscan.Scan(f.value, jsonscan.Options{}); err != nil {
		return nil
	}
	return f.value
}
