package ecmaregexp

import (
	"fmt"
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
	case 'd', 'D', 'w', 'W':
		p.both(`\` + string(c))
		return notAChar, nil
	case 's':
		if inClass {
			p.write(`\s`, ecmaWhiteSpace)
		} else {
			p.write(`\s`, "["+ecmaWhiteSpace+"]")
		}
		return notAChar, nil
	case 'S':
		if inClass {
			p.write(`\S`, ecmaOther)
		} else {
			p.write(`\S`, "[^"+ecmaWhiteSpace+"]")
		}
		return notAChar, nil
	case 't', 'n', 'v', 'f', 'r':
		p.both(`\` + string(c))
		return map[rune]rune{'t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r'}[c], nil
	case 'b':
		if inClass {
			p.write(`\b`, `\x{8}`)
			return 8, nil
		}
	case 'c':
		if p.at < len(p.in) && unicode.IsLetter(rune(p.in[p.at])) && p.in[p.at] < utf8.RuneSelf {
			r := rune(p.in[p.at]) & 31
			p.at++
			p.char(p.in[start:p.at], r)
			return r, nil
		}
	case 'x':
		if r, ok := hexDigits(p.in[p.at:], 2); ok {
			p.at += 2
			p.char(p.in[start:p.at], r)
			return r, nil
		}
	case 'u':
		return p.unicodeEscape(start)
	case 'p', 'P':
		return notAChar, p.property(c)
	case 'k':
		if end := strings.IndexByte(p.in[p.at:], '>'); !inClass && end > 1 && p.in[p.at] == '<' {
			name := p.in[p.at+1 : p.at+end]
			for _, known := range p.names {
				if known == name {
					p.at += end + 1
					p.portable = false
					p.both(p.in[start:p.at])
					return notAChar, nil
				}
			}
		}
	case '0':
		if p.at >= len(p.in) || p.in[p.at] < '0' || p.in[p.at] > '9' {
			p.char(`\0`, 0)
			return 0, nil
		}
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if !inClass {
			for p.at < len(p.in) && p.in[p.at] >= '0' && p.in[p.at] <= '9' {
				p.at++
			}
			group, err := strconv.Atoi(p.in[start+1 : p.at])
			if err != nil {
				return 0, err
			}
			p.reference = max(p.reference, group)
			p.portable = false
			p.both(p.in[start:p.at])
			return notAChar, nil
		}
	default:
		switch {
		case strings.ContainsRune(`^$\.*+?()[]{}|/`, c), c == '-' && inClass:
			if c == '/' {
				p.write(`\/`, "/")
			} else {
				p.both(`\` + string(c))
			}
			return c, nil
		case c >= utf8.RuneSelf || c == '_' || !unicode.IsLetter(c) && !unicode.IsDigit(c):
			p.both(string(c)) // a needless escape: the same character without it
			return c, nil
		}
	}
	return 0, fmt.Errorf("JavaScript does not know the escape %q", p.in[start:p.at])
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
