package tree

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"drawbridge/openapi/text"
)

// jsonParser parses RFC 8259 JSON directly into nodes: in one pass, without tokens, and without copies of strings that
// have no escapes. encoding/json would lose order, positions and the text of numbers, and scans every level of nesting
// twice.
type jsonParser struct {
	*reader
	src       string // valid UTF-8
	pos       int
	line      uint32
	lineStart int    // so that pos-lineStart+1 is the column in characters
	buf       []byte // scratch for strings with escapes
}

// parse parses the whole text, which must be one value.
func (p *jsonParser) parse() (*Node, error) {
	p.line = 1
	p.space()
	root := p.newRoot(p.line, p.column())
	if err := p.value(root, 0); err != nil {
		return nil, err
	}
	p.space()
	if p.pos < len(p.src) {
		return nil, p.errorf("expected nothing after the end of the document, found %s", p.found())
	}
	return root, nil
}

func (p *jsonParser) column() uint32 { return uint32(p.pos - p.lineStart + 1) }

func (p *jsonParser) position() Position {
	return Position{File: p.file, Line: int(p.line), Column: int(p.column())}
}

func (p *jsonParser) errorf(format string, args ...any) error {
	return &SyntaxError{Position: p.position(), Message: "broken JSON: " + fmt.Sprintf(format, args...)}
}

// found describes the text at the current position, for error texts.
func (p *jsonParser) found() string {
	if p.pos >= len(p.src) {
		return "the end of the file"
	}
	r, _ := utf8.DecodeRuneInString(p.src[p.pos:])
	return fmt.Sprintf("%q", r)
}

func (p *jsonParser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\r':
			p.pos++
		case '\n':
			p.pos++
			p.line++
			p.lineStart = p.pos
		default:
			return
		}
	}
}

// value parses the value at the current position into n.
func (p *jsonParser) value(n *Node, depth int) error {
	if err := p.countNode(n); err != nil {
		return err
	}
	if p.pos >= len(p.src) {
		return p.errorf("expected a value, found the end of the file")
	}
	switch c := p.src[p.pos]; c {
	case '{':
		return p.object(n, depth+1)
	case '[':
		return p.array(n, depth+1)
	case '"':
		n.kind = String
		s, err := p.string()
		n.text = s
		return err
	case 't':
		return p.word(n, Bool, "true")
	case 'f':
		return p.word(n, Bool, "false")
	case 'n':
		return p.word(n, Null, "null")
	default:
		if c == '-' || c >= '0' && c <= '9' {
			return p.number(n)
		}
		return p.errorf("expected a value, found %s", p.found())
	}
}

func (p *jsonParser) word(n *Node, kind Kind, word string) error {
	if !strings.HasPrefix(p.src[p.pos:], word) {
		return p.errorf("expected a value, found %s", p.found())
	}
	n.kind = kind
	if kind == Bool {
		n.text = word
	}
	p.pos += len(word)
	return nil
}

func (p *jsonParser) object(n *Node, depth int) error {
	if depth > p.budget.Depth {
		return p.tooDeep(n)
	}
	n.kind = Object
	p.pos++
	mark := len(p.arena.stack)
	for first := true; ; first = false {
		p.space()
		if p.pos >= len(p.src) {
			return p.errorf("the object that starts at line %d is not closed", n.line)
		}
		if first && p.src[p.pos] == '}' {
			break
		}
		if p.src[p.pos] != '"' {
			return p.errorf("expected a member name in double quotes, found %s", p.found())
		}
		kid := p.arena.node()
		kid.up, kid.line, kid.col = n, p.line, p.column()
		key, err := p.string()
		if err != nil {
			return err
		}
		kid.key = key
		if err := p.noteKey(kid); err != nil {
			return err
		}
		p.space()
		if p.pos >= len(p.src) || p.src[p.pos] != ':' {
			return p.errorf("expected \":\" after the name %s, found %s", quote(clip(key)), p.found())
		}
		p.pos++
		p.space()
		if err := p.value(kid, depth); err != nil {
			return err
		}
		p.arena.push(kid)
		p.space()
		if p.pos < len(p.src) && p.src[p.pos] == ',' {
			p.pos++
			continue
		}
		if p.pos < len(p.src) && p.src[p.pos] == '}' {
			break
		}
		return p.errorf("expected \",\" or \"}\" after the member %s, found %s", quote(clip(key)), p.found())
	}
	p.pos++
	p.arena.close(n, mark, p.warn.duplicate)
	return nil
}

func (p *jsonParser) array(n *Node, depth int) error {
	if depth > p.budget.Depth {
		return p.tooDeep(n)
	}
	n.kind = Array
	p.pos++
	mark := len(p.arena.stack)
	for first := true; ; first = false {
		p.space()
		if p.pos >= len(p.src) {
			return p.errorf("the array that starts at line %d is not closed", n.line)
		}
		if first && p.src[p.pos] == ']' {
			break
		}
		kid := p.arena.node()
		kid.up, kid.line, kid.col = n, p.line, p.column()
		kid.index = uint32(len(p.arena.stack) - mark)
		if err := p.value(kid, depth); err != nil {
			return err
		}
		p.arena.push(kid)
		p.space()
		if p.pos < len(p.src) && p.src[p.pos] == ',' {
			p.pos++
			continue
		}
		if p.pos < len(p.src) && p.src[p.pos] == ']' {
			break
		}
		return p.errorf("expected \",\" or \"]\" after an element, found %s", p.found())
	}
	p.pos++
	p.arena.close(n, mark, nil)
	return nil
}

// number parses RFC 8259 section 6 and keeps the literal.
func (p *jsonParser) number(n *Node) error {
	start := p.pos
	digits := func() bool {
		from := p.pos
		for p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
			p.pos++
		}
		return p.pos > from
	}
	at := func(set string) bool {
		return p.pos < len(p.src) && strings.IndexByte(set, p.src[p.pos]) >= 0
	}
	if at("-") {
		p.pos++
	}
	if at("0") {
		p.pos++
	} else if !digits() {
		return p.errorf("expected a digit, found %s", p.found())
	}
	if at(".") {
		p.pos++
		if !digits() {
			return p.errorf("expected a digit, found %s", p.found())
		}
	}
	if at("eE") {
		p.pos++
		if at("+-") {
			p.pos++
		}
		if !digits() {
			return p.errorf("expected a digit, found %s", p.found())
		}
	}
	n.kind = Number
	n.text = p.src[start:p.pos]
	return nil
}

// string parses the string at the current position; without escapes the result is a slice of the source.
func (p *jsonParser) string() (string, error) {
	p.pos++
	start := p.pos
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == '"':
			s := p.src[start:p.pos]
			p.pos++
			return s, nil
		case c == '\\':
			return p.escaped(start)
		case c < 0x20:
			return "", p.errorf("a string holds a control character %q; write it as an escape", c)
		case c&0xC0 == 0x80:
			p.lineStart++ // not the first byte of a character: no column of its own
		}
		p.pos++
	}
	return "", p.errorf("a string is not closed before the end of the file")
}

// escaped continues at the first backslash of a string that began at start.
func (p *jsonParser) escaped(start int) (string, error) {
	buf := append(p.buf[:0], p.src[start:p.pos]...)
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == '"':
			p.pos++
			p.buf = buf
			return string(buf), nil
		case c < 0x20:
			return "", p.errorf("a string holds a control character %q; write it as an escape", c)
		case c != '\\':
			if c&0xC0 == 0x80 {
				p.lineStart++
			}
			buf = append(buf, c)
			p.pos++
		default:
			if p.pos+1 >= len(p.src) {
				p.pos++
				continue
			}
			e := p.src[p.pos+1]
			if e == 'u' {
				r, size := p.unicode()
				if size == 0 {
					return "", p.errorf("a string holds \\u without four hexadecimal digits")
				}
				buf = utf8.AppendRune(buf, r)
				p.pos += size
				continue
			}
			i := strings.IndexByte(`"\/bfnrt`, e)
			if i < 0 {
				return "", p.errorf("a string holds the unknown escape %q", p.src[p.pos:p.pos+2])
			}
			buf = append(buf, "\"\\/\b\f\n\r\t"[i])
			p.pos += 2
		}
	}
	return "", p.errorf("a string is not closed before the end of the file")
}

// unicode decodes \uXXXX at the current position, with its second half if it is a surrogate; a lone surrogate becomes
// U+FFFD as in encoding/json.
func (p *jsonParser) unicode() (r rune, size int) {
	r, ok := hex4(p.src[p.pos:])
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := hex4(p.src[p.pos+6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 reads \uXXXX at the start of s.
func hex4(s string) (r rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for i := 2; i < 6; i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// clip shortens text from a document for an error message.
func clip(s string) string {
	const most = 120 // bytes
	return text.Truncate(s, most)
}
