package ecmaregexp

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// Excludes reports whether no text that the expression matches has a character from low to high. It is false where that can't be told.
func (e Expression) Excludes(low, high rune) bool {
	if e.RE2 == "" {
		return false
	}
	tree, err := syntax.Parse(e.RE2, syntax.Perl)
	return err == nil && isBound(tree, syntax.OpBeginText) && isBound(tree, syntax.OpEndText) && !matchesBetween(tree, low, high)
}

// isBound reports whether all that an expression matches begins with the assertion OpBeginText, or ends with OpEndText.
func isBound(re *syntax.Regexp, op syntax.Op) bool {
	switch re.Op {
	case op:
		return true
	case syntax.OpCapture, syntax.OpPlus:
		return isBound(re.Sub[0], op)
	case syntax.OpConcat:
		at := 0
		if op == syntax.OpEndText {
			at = len(re.Sub) - 1
		}
		return isBound(re.Sub[at], op)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !isBound(sub, op) })
	default:
		return false
	}
}

// matchesBetween reports whether some part of an expression matches a character from low to high.
func matchesBetween(re *syntax.Regexp, low, high rune) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.ContainsFunc(re.Rune, func(r rune) bool {
			for other := unicode.SimpleFold(r); re.Flags&syntax.FoldCase != 0 && other != r; other = unicode.SimpleFold(other) {
				if low <= other && other <= high {
					return true
				}
			}
			return low <= r && r <= high
		})
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i] <= high && low <= re.Rune[i+1] {
				return true
			}
		}
		return false
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	}
	return slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return matchesBetween(sub, low, high) })
}

// Names reports whether an expression asks for an ASCII character in so many words: as it is, or as a member of a class that is not
// negated. Ranges, ".", negated classes and what must not follow or precede name nothing.
func (e Expression) Names(c byte) bool {
	s := e.JavaScript
	var negative []bool // of the groups around, whether they are negative assertions or within one
	within := func() bool { return len(negative) > 0 && negative[len(negative)-1] }
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; i < len(s) && s[i] == c && !within() {
				return true
			}
		case '[':
			named, n := classNames(s[i:], c)
			if named && !within() {
				return true
			}
			i += n - 1
		case '(':
			negative = append(negative, within() || strings.HasPrefix(s[i:], "(?!") || strings.HasPrefix(s[i:], "(?<!"))
		case ')':
			negative = negative[:max(len(negative)-1, 0)]
		default:
			if s[i] == c && !within() {
				return true
			}
		}
	}
	return false
}

// classNames reports whether the class with which s begins is not negated and has the character as a member of its own, and how long it is.
func classNames(s string, c byte) (named bool, n int) {
	negated := strings.HasPrefix(s, "[^")
	for n = 1; n < len(s) && s[n] != ']'; n++ {
		if s[n] == '\\' {
			n++
		}
		if n+2 < len(s) && s[n+1] == '-' && s[n+2] != ']' { // a range
			if n += 2; s[n] == '\\' {
				n++
			}
			continue
		}
		named = named || n < len(s) && s[n] == c && !negated
	}
	return named, min(n+1, len(s))
}
