package ecmaregexp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// notAChar is the value of an escape that stands for several characters or none.
const notAChar rune = -1

// escape reads an escape at its backslash and returns its character, or notAChar.
func (p *parser) escape(inClass bool) (rune, error) {
	start := p.at
	p.at++
	if p.at >= len(p.in) {
		return 0, fmt.Errorf(`a \ stands at the end`)
	}
	c, n := utf8.DecodeRuneInString(p.in[p.at:])
	p.at += n
	switch c {
	case 'd', 'D', 'w', 'W', 's', 'S':
		p.classEscape(c, inClass)
		return notAChar, nil
	case 'p', 'P':
		return notAChar, p.property(c)
	case 'u':
		return p.unicodeEscape(start)
	case 't', 'n', 'v', 'f', 'r':
		p.both(`\` + string(c))
		return map[rune]rune{'t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r'}[c], nil
	case 'b', 'c', 'x', '0':
		if r, ok := p.codeEscape(c, start, inClass); ok {
			return r, nil
		}
	case 'k':
		if !inClass && p.namedReference(start) {
			return notAChar, nil
		}
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if !inClass {
			return notAChar, p.numberedReference(start)
		}
	default:
		if p.identityEscape(c, inClass) {
			return c, nil
		}
	}
	return 0, fmt.Errorf("JavaScript does not know the escape %q", p.in[start:p.at])
}

// classEscape writes an escape that stands for a class of characters. RE2's \s has fewer of them than JavaScript's.
func (p *parser) classEscape(c rune, inClass bool) {
	switch {
	case c == 's' && inClass:
		p.write(`\s`, ecmaWhiteSpace)
	case c == 's':
		p.write(`\s`, "["+ecmaWhiteSpace+"]")
	case c == 'S' && inClass:
		p.write(`\S`, ecmaOther)
	case c == 'S':
		p.write(`\S`, "[^"+ecmaWhiteSpace+"]")
	default:
		p.both(`\` + string(c))
	}
}

// codeEscape reads the rest of an escape that gives the code of a character: a backspace, \cA, \x41 or \0. It is false if
// the letter is followed by something else, or stands for no character here.
func (p *parser) codeEscape(c rune, start int, inClass bool) (rune, bool) {
	rest := p.in[p.at:]
	switch c {
	case 'b':
		if inClass {
			p.write(`\b`, `\x{8}`)
			return 8, true
		}
	case 'c':
		if rest != "" && unicode.IsLetter(rune(rest[0])) && rest[0] < utf8.RuneSelf {
			r := rune(rest[0]) & 31
			p.at++
			p.char(p.in[start:p.at], r)
			return r, true
		}
	case 'x':
		if r, ok := hexDigits(rest, 2); ok {
			p.at += 2
			p.char(p.in[start:p.at], r)
			return r, true
		}
	case '0':
		if rest == "" || rest[0] < '0' || rest[0] > '9' {
			p.char(`\0`, 0)
			return 0, true
		}
	}
	return 0, false
}

// namedReference reads the rest of a reference to a named group, \k<name>. It is false if no group before it has the name.
func (p *parser) namedReference(start int) bool {
	rest := p.in[p.at:]
	end := strings.IndexByte(rest, '>')
	if end <= 1 || rest[0] != '<' || !slices.Contains(p.names, rest[1:end]) {
		return false
	}
	p.at += end + 1
	p.portable = false
	p.both(p.in[start:p.at])
	return true
}

// numberedReference reads the rest of a reference to a group by its number.
func (p *parser) numberedReference(start int) error {
	for p.at < len(p.in) && p.in[p.at] >= '0' && p.in[p.at] <= '9' {
		p.at++
	}
	group, err := strconv.Atoi(p.in[start+1 : p.at])
	if err != nil {
		return err
	}
	p.reference = max(p.reference, group)
	p.portable = false
	p.both(p.in[start:p.at])
	return nil
}

// identityEscape writes an escape that stands for the escaped character itself. It is false if the character is one that
// can't be escaped.
func (p *parser) identityEscape(c rune, inClass bool) bool {
	switch {
	case c == '/':
		p.write(`\/`, "/")
	case strings.ContainsRune(`^$\.*+?()[]{}|`, c), c == '-' && inClass:
		p.both(`\` + string(c))
	case c >= utf8.RuneSelf || c == '_' || !unicode.IsLetter(c) && !unicode.IsDigit(c):
		p.both(string(c)) // a needless escape: the same character without it
	default:
		return false
	}
	return true
}

// char writes a character whose escape differs in RE2.
func (p *parser) char(js string, r rune) {
	if utf16.IsSurrogate(r) {
		p.portable = false
		r = utf8.RuneError
	}
	p.write(js, fmt.Sprintf(`\x{%x}`, r))
}

// hexDigits returns the value of n hexadecimal digits at the start of s.
func hexDigits(s string, n int) (rune, bool) {
	if len(s) < n {
		return 0, false
	}
	v, err := strconv.ParseUint(s[:n], 16, 32)
	return rune(v), err == nil && s[0] != '+' && s[0] != '-'
}

// unicodeEscape reads the digits behind \u, and a second escape if the two are a surrogate pair.
func (p *parser) unicodeEscape(start int) (rune, error) {
	rest := p.in[p.at:]
	if strings.HasPrefix(rest, "{") {
		if end := strings.IndexByte(rest, '}'); end > 1 && end < 10 {
			if r, ok := hexDigits(rest[1:], end-1); ok && r >= 0 && r <= unicode.MaxRune {
				p.at += end + 1
				p.char(p.in[start:p.at], r)
				return r, nil
			}
		}
		return 0, fmt.Errorf(`JavaScript does not know the escape "\u{"`)
	}
	r, ok := hexDigits(rest, 4)
	if !ok {
		return 0, fmt.Errorf(`"\u" is not followed by four hexadecimal digits`)
	}
	p.at += 4
	if low := p.in[p.at:]; utf16.IsSurrogate(r) && strings.HasPrefix(low, `\u`) {
		if second, ok := hexDigits(low[2:], 4); ok {
			if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
				r = pair
				p.at += 6
			}
		}
	}
	p.char(p.in[start:p.at], r)
	return r, nil
}

// property reads the name behind \p or \P, a general category or a script. Names of PCRE and Java are replaced by those of
// JavaScript.
func (p *parser) property(c rune) error {
	rest := p.in[p.at:]
	name := ""
	if end := strings.IndexByte(rest, '}'); strings.HasPrefix(rest, "{") && end > 0 {
		name = rest[1:end]
		p.at += end + 1
	} else if rest != "" && strings.IndexByte("LMNPSZC", rest[0]) >= 0 {
		name = rest[:1]
		p.at++
	}
	script := name
	for _, prefix := range []string{"Script=", "sc=", "Script_Extensions=", "scx=", "gc=", "General_Category="} {
		script = strings.TrimPrefix(script, prefix)
	}
	if script == name || strings.HasPrefix(name, "g") || strings.HasPrefix(name, "G") {
		if full, ok := map[string]string{
			"Letter": "L", "Mark": "M", "Number": "N", "Punctuation": "P", "Symbol": "S", "Separator": "Z",
			"Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Decimal_Number": "Nd", "IsL": "L",
			"IsAlphabetic": "Alphabetic", "IsLetter": "L", "IsDigit": "Nd",
		}[script]; ok {
			script = full
		}
		if _, ok := unicode.Categories[script]; ok && len(script) <= 2 && script != "LC" && script != "Cn" {
			p.both(`\` + string(c) + "{" + script + "}")
			return nil
		}
		switch script {
		case "Alphabetic", "Lowercase", "Uppercase", "White_Space", "ASCII", "Any", "Emoji":
			p.portable = false
			p.both(`\` + string(c) + "{" + script + "}")
			return nil
		}
		script = strings.TrimPrefix(script, "Is")
	}
	if _, ok := unicode.Scripts[script]; ok {
		p.write(`\`+string(c)+"{Script="+script+"}", `\`+string(c)+"{"+script+"}")
		return nil
	}
	return fmt.Errorf("JavaScript does not know the Unicode property %q", name)
}

// posix returns the content of a POSIX class, which JavaScript does not have.
func posix(name string) (string, bool) {
	class, ok := map[string]string{
		"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "xdigit": "0-9a-fA-F",
		"word": `\w`, "space": `\s`, "blank": ` \t`, "punct": "!-\\/:-@\\[-`\\{-~",
	}[name]
	return class, ok
}

// class reads a character class at its "[".
func (p *parser) class() error {
	p.at++
	negated := p.take("^")
	if p.at < len(p.in) && p.in[p.at] == ']' { // matches no character, or any
		p.at++
		if negated {
			p.write("[^]", `[\x{0}-\x{10ffff}]`)
		} else {
			p.write("[]", `[^\x{0}-\x{10ffff}]`)
		}
		return nil
	}
	p.both("[")
	if negated {
		p.both("^")
	}
	for {
		if p.at >= len(p.in) {
			return fmt.Errorf("a class is not closed")
		}
		if p.take("]") {
			p.both("]")
			return nil
		}
		low, err := p.classAtom()
		if err != nil {
			return err
		}
		if p.at+1 >= len(p.in) || p.in[p.at] != '-' || p.in[p.at+1] == ']' {
			p.foldRange(low, low)
			continue
		}
		p.at++
		if low == notAChar { // "[\w-.]": the dash is literal
			p.both(`\-`)
			continue
		}
		js, re2 := len(p.js), len(p.re2)
		p.both("-")
		high, err := p.classAtom()
		switch {
		case err != nil:
			return err
		case high == notAChar: // "[.-\w]"
			p.js = append(p.js[:js], append([]byte(`\-`), p.js[js+1:]...)...)
			p.re2 = append(p.re2[:re2], append([]byte(`\-`), p.re2[re2+1:]...)...)
			p.foldRange(low, low)
		case low > high:
			return fmt.Errorf("the range %q is out of order", string(low)+"-"+string(high))
		default:
			p.foldRange(low, high)
		}
	}
}

// foldRange adds the other case of the letters between low and high to a class.
func (p *parser) foldRange(low, high rune) {
	if !p.ignoreCase {
		return
	}
	for _, letters := range [...][2]rune{{'a', 'z'}, {'A', 'Z'}} {
		switch from, to := max(low, letters[0]), min(high, letters[1]); {
		case from == to:
			p.both(string(otherCase(from)))
		case from < to:
			p.both(string(otherCase(from)) + "-" + string(otherCase(to)))
		}
	}
}

// classAtom reads one character or escape of a class.
func (p *parser) classAtom() (rune, error) {
	if p.in[p.at] == '\\' {
		return p.escape(true)
	}
	if rest := p.in[p.at:]; strings.HasPrefix(rest, "[:") {
		if end := strings.Index(rest, ":]"); end > 1 {
			if class, ok := posix(rest[2:end]); ok {
				p.at += end + 2
				p.write(class, strings.ReplaceAll(class, `\/`, "/"))
				return notAChar, nil
			}
		}
	}
	r, n := utf8.DecodeRuneInString(p.in[p.at:])
	p.at += n
	switch r {
	case '-': // at an edge; escaped, so that neither engine reads a range
		p.both(`\-`)
	case '[', '&', '~', '^': // literal in JavaScript; RE2 reads "[:" as the start of a POSIX class
		p.write(string(r), `\`+string(r))
	default:
		p.both(string(r))
	}
	return r, nil
}
