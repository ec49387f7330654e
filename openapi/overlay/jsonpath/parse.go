package jsonpath

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Parse parses a query. Its time and memory are proportional to the length of the text.
func Parse(text string) (*Query, error) {
	if len(text) > MaxBytes {
		return nil, errTooLong
	}
	p := parser{in: text}
	if !p.take("$") {
		return nil, p.expected("$, with which a query begins")
	}
	segments, err := p.segments()
	if err == nil && p.at < len(p.in) {
		err = p.expected("a segment, which begins with . or [")
	}
	if err != nil {
		return nil, err
	}
	return &Query{text: text, root: true, segments: segments}, nil
}

// parser parses a query once, from its beginning to its end.
type parser struct {
	in    string
	at    int
	depth int
}

// expected returns the error for an unexpected continuation of the text.
func (p *parser) expected(what string) error {
	found := "the end"
	if p.at < len(p.in) {
		r, n := utf8.DecodeRuneInString(p.in[p.at:])
		if found = strconv.QuoteRune(r); r == utf8.RuneError && n == 1 {
			found = fmt.Sprintf("the byte 0x%02x", p.in[p.at])
		}
	}
	return p.wrong("expected %s, found %s", what, found)
}

// wrong returns an error with the position.
func (p *parser) wrong(format string, args ...any) error {
	return fmt.Errorf("at character %d: %s", utf8.RuneCountInString(p.in[:min(p.at, len(p.in))])+1, fmt.Sprintf(format, args...))
}

// enter counts one more level of recursion.
func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return p.wrong("%v", ErrTooDeep)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// peek returns the next byte; 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.in) {
		return p.in[p.at]
	}
	return 0
}

// take skips a prefix of the rest and reports whether it was there.
func (p *parser) take(prefix string) bool {
	if strings.HasPrefix(p.in[p.at:], prefix) {
		p.at += len(prefix)
		return true
	}
	return false
}

// blank skips blank space.
func (p *parser) blank() {
	for p.at < len(p.in) && strings.IndexByte(" \t\n\r", p.in[p.at]) >= 0 {
		p.at++
	}
}

// segments parses the segments of a query. It leaves the blank space after the last one.
func (p *parser) segments() (out []segment, err error) {
	for {
		before := p.at
		p.blank()
		var s segment
		switch {
		case p.take(".."):
			s.descendant = true
			if p.peek() == '[' {
				s.selectors, err = p.bracketed()
			} else {
				s.selectors, err = p.shorthand()
			}
		case p.take("."):
			s.selectors, err = p.shorthand()
		case p.peek() == '[':
			s.selectors, err = p.bracketed()
		default:
			p.at = before
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
}

// shorthand reads * or a name without quotes.
func (p *parser) shorthand() ([]selector, error) {
	if p.take("*") {
		return []selector{{kind: byWildcard}}, nil
	}
	name := p.name()
	if name == "" {
		return nil, p.expected("a name or *")
	}
	return []selector{{kind: byName, name: name}}, nil
}

// name parses a name without quotes; "" if there is none.
func (p *parser) name() string {
	start := p.at
	for p.at < len(p.in) {
		r, n := utf8.DecodeRuneInString(p.in[p.at:])
		digit := r >= '0' && r <= '9'
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || digit && p.at > start || r >= utf8.RuneSelf && (r != utf8.RuneError || n > 1)) {
			break
		}
		p.at += n
	}
	return p.in[start:p.at]
}

// bracketed reads selectors in brackets.
func (p *parser) bracketed() (out []selector, err error) {
	p.at++
	for {
		p.blank()
		s, err := p.selector()
		if err != nil {
			return nil, err
		}
		out = append(out, s)
		p.blank()
		switch {
		case p.take(","):
		case p.take("]"):
			return out, nil
		default:
			return nil, p.expected(", or ]")
		}
	}
}

func (p *parser) selector() (s selector, err error) {
	switch c := p.peek(); {
	case c == '*':
		p.at++
		s.kind = byWildcard
	case c == '?':
		p.at++
		s.kind = byFilter
		s.filter, err = p.disjunction()
	case c == '\'' || c == '"':
		s.kind = byName
		s.name, err = p.quoted()
	case c == ':' || c == '-' || c >= '0' && c <= '9':
		return p.indexOrSlice()
	default:
		err = p.expected("a selector: a quoted name, an index, a slice, * or ?")
	}
	return s, err
}

func (p *parser) indexOrSlice() (s selector, err error) {
	var parts [3]*int
	for i := range parts {
		if c := p.peek(); c == '-' || c >= '0' && c <= '9' {
			n, err := p.integer()
			if err != nil {
				return s, err
			}
			parts[i] = &n
		}
		before := p.at
		p.blank()
		if i < 2 && p.take(":") {
			p.blank()
			s.kind = bySlice
			continue
		}
		p.at = before
		break
	}
	if s.kind == bySlice {
		s.slice = slice{start: parts[0], end: parts[1], step: 1}
		if parts[2] != nil {
			s.slice.step = *parts[2]
		}
		return s, nil
	}
	s.kind, s.index = byIndex, *parts[0] // there is one, since the text did not begin with a colon
	return s, nil
}

// integer reads an integer of I-JSON.
func (p *parser) integer() (int, error) {
	start := p.at
	p.take("-")
	p.digits()
	text := p.in[start:p.at]
	digits := strings.TrimPrefix(text, "-")
	n, err := strconv.ParseInt(text, 10, 64)
	if text == "-0" || digits == "" || len(digits) > 1 && digits[0] == '0' || err != nil || n > maxPathNumber || n < -maxPathNumber {
		p.at = start
		return 0, p.wrong("expected an integer between -(2^53-1) and 2^53-1 without leading zeros")
	}
	return int(n), nil
}

// digits skips digits and returns how many there were.
func (p *parser) digits() int {
	start := p.at
	for p.at < len(p.in) && p.in[p.at] >= '0' && p.in[p.at] <= '9' {
		p.at++
	}
	return p.at - start
}
