package ecmaregexp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLength is the most bytes that an expression may have.
const maxLength = 4096

// Expression is a regular expression in the syntaxes of two engines.
type Expression struct {
	// JavaScript is the expression in ECMA-262 with the u flag, which is how JSON Schema 2020-12 (core, section 6.4) and its
	// JavaScript validators read it.
	JavaScript string
	// RE2 is the expression for Go's regexp, "" if it has no equal there or only in a program of more than 1 MiB (L9).
	RE2 string
	// Size is how many instructions the program of RE2 has, about: what a match costs for each byte of a text.
	Size int
}

// Parse checks and translates a regular expression. Documents are written for regular expression engines of all kinds: needless
// escapes ("\-", "\_"), bare brackets, "(?P<name>…)", "\A", "\z", "(?i)" at the start, POSIX classes and slashes around
// the whole with their flags are rewritten. An error means that no JavaScript validator accepts the expression.
func Parse(text string) (Expression, error) {
	if len(text) > maxLength {
		return Expression{}, fmt.Errorf("it is longer than %d bytes", maxLength)
	}
	text, flags := undelimited(text)
	p := parser{in: text, portable: true, ignoreCase: strings.Contains(flags, "i")}
	if strings.ContainsAny(flags, "msv") {
		return Expression{}, fmt.Errorf("JSON Schema knows no flags, such as %q", flags)
	}
	p.ignoreCase = p.take("(?i)") || p.ignoreCase
	size, err := p.disjunction(0)
	if err != nil {
		return Expression{}, fmt.Errorf("at character %d: %w", utf8.RuneCountInString(text[:min(p.at, len(text))])+1, err)
	}
	if p.at < len(text) {
		return Expression{}, fmt.Errorf("at character %d: unmatched %q", utf8.RuneCountInString(text[:p.at])+1, text[p.at])
	}
	if p.reference > p.groups {
		return Expression{}, fmt.Errorf("it refers to group %d of %d", p.reference, p.groups)
	}
	if len(p.js) > maxLength { // so that the result is accepted again
		return Expression{}, fmt.Errorf("it is longer than %d bytes", maxLength)
	}
	out := Expression{JavaScript: string(p.js)}
	if p.portable && size <= maxProgram {
		out.RE2, out.Size = string(p.re2), size
	}
	return out, nil
}

// undelimited removes the slashes around an expression in the notation of JavaScript, Perl or PHP, and returns the flags that
// follow them. Slashes that may belong to the expression stay: "/[a-z]+/" may be a path.
func undelimited(text string) (expression, flags string) {
	end := strings.LastIndexByte(text, '/')
	if end <= 0 || text[0] != '/' || strings.Trim(text[end+1:], "dgimsuvy") != "" {
		return text, ""
	}
	expression, flags = text[1:end], text[end+1:]
	anchored := strings.HasPrefix(expression, "^") || strings.HasSuffix(expression, "$") // a slash outside of these never matches
	bare := strings.ReplaceAll(expression, `\/`, "")
	if anchored || flags != "" && strings.ContainsAny(bare, `\[(`) && !strings.Contains(bare, "/") {
		return expression, flags
	}
	return text, ""
}

const (
	maxProgram    = 1 << 20 / 40 // instructions of a compiled expression of 40 bytes each
	maxGroupDepth = 100
	maxRepeat     = 1000 // Go's regexp refuses more
	lineEnds      = `\n\r\x{2028}\x{2029}`

	// ecmaWhiteSpace and ecmaOther are \s and \S of ECMA-262 (22.2.2.9, CharacterClassEscape) within a class.
	ecmaWhiteSpace = `\s\v\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	ecmaOther      = `\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
		`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
)

// parser reads an expression once and writes both forms as it goes.
type parser struct {
	in         string
	at         int
	js, re2    []byte
	portable   bool // re2 has the meaning of js
	ignoreCase bool // of ASCII letters
	groups     int
	reference  int      // highest back reference
	names      []string // of groups
}

// both writes s to both forms.
func (p *parser) both(s string) {
	p.js = append(p.js, s...)
	p.re2 = append(p.re2, s...)
}

// write writes to each form its own text.
func (p *parser) write(js, re2 string) {
	p.js = append(p.js, js...)
	p.re2 = append(p.re2, re2...)
}

// take skips a prefix of the rest and reports whether it was there.
func (p *parser) take(prefix string) bool {
	if strings.HasPrefix(p.in[p.at:], prefix) {
		p.at += len(prefix)
		return true
	}
	return false
}

// disjunction reads up to the end or an unmatched ")" and returns the estimated size of its program.
func (p *parser) disjunction(depth int) (size int, err error) {
	if depth > maxGroupDepth {
		return 0, fmt.Errorf("groups are nested more than %d levels deep", maxGroupDepth)
	}
	for p.at < len(p.in) && p.in[p.at] != ')' {
		if p.take("|") {
			p.both("|")
			size++
			continue
		}
		n, err := p.term(depth)
		if err != nil {
			return 0, err
		}
		size = min(size+n, 1<<30)
	}
	return size, nil
}

// term reads an assertion, or an atom with its quantifier.
func (p *parser) term(depth int) (int, error) {
	for _, a := range []struct{ in, out string }{
		{"^", "^"}, {"$", "$"}, {`\b`, `\b`}, {`\B`, `\B`}, {`\A`, "^"}, {`\z`, "$"}, {`\Z`, "$"},
	} {
		if p.take(a.in) {
			p.both(a.out)
			return 1, p.noQuantifier()
		}
	}
	for _, open := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if p.take(open) {
			p.portable = false
			p.both(open)
			size, err := p.group(depth)
			if err != nil {
				return 0, err
			}
			return size, p.noQuantifier()
		}
	}
	size, err := p.atom(depth)
	if err != nil {
		return 0, err
	}
	return p.quantifier(size)
}

// noQuantifier returns an error if a quantifier follows.
func (p *parser) noQuantifier() error {
	if p.at < len(p.in) && strings.IndexByte("*+?", p.in[p.at]) >= 0 {
		return fmt.Errorf("nothing to repeat before %q", p.in[p.at])
	}
	if _, _, _, ok := braces(p.in[p.at:]); ok {
		return fmt.Errorf("nothing to repeat before %q", '{')
	}
	return nil
}

// group reads the rest of a group behind its opening.
func (p *parser) group(depth int) (int, error) {
	size, err := p.disjunction(depth + 1)
	if err != nil {
		return 0, err
	}
	if !p.take(")") {
		return 0, fmt.Errorf("a group is not closed")
	}
	p.both(")")
	return size, nil
}

// atom reads a character, a class, an escape or a group.
func (p *parser) atom(depth int) (int, error) {
	switch c := p.in[p.at]; c {
	case '.':
		p.at++
		p.write(".", "[^"+lineEnds+"]")
		return 1, nil
	case '[':
		return 1, p.class()
	case '\\':
		_, err := p.escape(false)
		return 1, err
	case '*', '+', '?':
		return 0, fmt.Errorf("nothing to repeat before %q", c)
	case '(':
		return p.openGroup(depth)
	case ']', '{', '}': // literal in Annex B, an error with the u flag
		p.at++
		p.both(`\` + string(c))
		return 1, nil
	}
	r, n := utf8.DecodeRuneInString(p.in[p.at:])
	p.at += n
	if other := otherCase(r); p.ignoreCase && other != r {
		p.both("[" + string(r) + string(other) + "]")
		return 1, nil
	}
	p.both(string(r))
	return 1, nil
}

// otherCase returns an ASCII letter in the other case, any other character unchanged.
func otherCase(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
		return r ^ 0x20
	}
	return r
}

// openGroup reads a group at its "(".
func (p *parser) openGroup(depth int) (int, error) {
	switch {
	case p.take("(?:"):
		p.both("(?:")
	case p.take("(?P<"), p.take("(?<"):
		end := strings.IndexByte(p.in[p.at:], '>')
		if end <= 0 {
			return 0, fmt.Errorf("a group has no name")
		}
		name := p.in[p.at : p.at+end]
		for i, r := range name {
			if r != '_' && !(r < utf8.RuneSelf && unicode.IsLetter(r)) && (i == 0 || r < '0' || r > '9') {
				return 0, fmt.Errorf("%q is not the name of a group", name)
			}
		}
		for _, other := range p.names {
			if other == name {
				return 0, fmt.Errorf("two groups are named %q", name)
			}
		}
		p.names = append(p.names, name)
		p.at += end + 1
		p.groups++
		p.write("(?<"+name+">", "(?:")
	case p.take("(?"):
		return 0, fmt.Errorf("a group of this kind does not exist in JavaScript")
	default:
		p.at++
		p.groups++
		p.write("(", "(?:")
	}
	return p.group(depth)
}

// quantifier reads the optional quantifier of an atom and returns the size of both.
func (p *parser) quantifier(size int) (int, error) {
	if p.at >= len(p.in) {
		return size, nil
	}
	switch c := p.in[p.at]; c {
	case '*', '+', '?':
		p.at++
		p.both(string(c))
		size += 2
	case '{':
		least, most, n, ok := braces(p.in[p.at:])
		if !ok {
			return size, nil // a literal, see atom
		}
		if most >= 0 && least > most {
			return 0, fmt.Errorf("the numbers of %q are out of order", p.in[p.at:p.at+n])
		}
		p.both(p.in[p.at : p.at+n])
		p.at += n
		if least > maxRepeat || most > maxRepeat {
			p.portable = false
		}
		size = min(size*max(least, most, 1)+2, 1<<30)
	default:
		return size, nil
	}
	if p.take("?") {
		p.both("?")
	}
	return size, p.noQuantifier()
}

// braces reads "{2}", "{2,}" and "{2,3}" at the start of s; most is -1 when there is no upper bound.
func braces(s string) (least, most, length int, ok bool) {
	end := strings.IndexByte(s, '}')
	if end < 0 || s[0] != '{' {
		return 0, 0, 0, false
	}
	low, high, isRange := strings.Cut(s[1:end], ",")
	number := func(s string) (int, bool) {
		if s == "" || strings.Trim(s, "0123456789") != "" {
			return 0, false
		}
		n, err := strconv.Atoi(s)
		if err != nil || n > 1<<30 {
			n = 1 << 30
		}
		return n, true
	}
	if least, ok = number(low); !ok {
		return 0, 0, 0, false
	}
	switch {
	case !isRange:
		most = least
	case high == "":
		most = -1
	default:
		if most, ok = number(high); !ok {
			return 0, 0, 0, false
		}
	}
	return least, most, end + 1, true
}
