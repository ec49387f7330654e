package generate

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// matching makes a text that matches a regular expression and has a length within the bounds. Assertions that Go does
// not know (lookahead) are left out of the expression: what is made then may miss them.
func (m *maker) matching(pattern string, least, most int) (string, error) {
	known := withoutLookaround(pattern)
	re, err := syntax.Parse(known, syntax.Perl|syntax.UnicodeGroups)
	if err != nil {
		return "", fmt.Errorf("%w: the pattern %q: %w", errUnfit, pattern, err)
	}
	check, err := regexp.Compile(known)
	if err != nil {
		return "", fmt.Errorf("%w: the pattern %q: %w", errUnfit, pattern, err)
	}
	re = re.Simplify()
	for try := range 40 {
		w := matcher{m: m, repeat: []int{1, 3, 8, max(least, 12)}[try%4]}
		w.write(re)
		text := w.b.String()
		if n := utf8.RuneCountInString(text); n < least && !strings.HasSuffix(known, "$") {
			text += m.word(least - n)
		}
		if n := utf8.RuneCountInString(text); n >= least && n <= most && check.MatchString(text) {
			return text, nil
		}
	}
	return "", fmt.Errorf("%w: no text was found for the pattern %q", errUnfit, pattern)
}

// withoutLookaround takes "(?=…)" and its like out of an expression.
func withoutLookaround(pattern string) string {
	for _, open := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		for {
			start := strings.Index(pattern, open)
			if start < 0 {
				break
			}
			depth, end := 0, -1
			for i := start; i < len(pattern) && end < 0; i++ {
				switch pattern[i] {
				case '\\':
					i++
				case '(':
					depth++
				case ')':
					if depth--; depth == 0 {
						end = i + 1
					}
				}
			}
			if end < 0 {
				return pattern
			}
			pattern = pattern[:start] + pattern[end:]
		}
	}
	return pattern
}

// matcher writes one text that an expression matches.
type matcher struct {
	m      *maker
	b      strings.Builder
	repeat int // the most that something without an end is repeated beyond what it must be
}

func (w *matcher) write(re *syntax.Regexp) {
	if w.b.Len() > 200_000 {
		return
	}
	times := func(least, most int) {
		n := least
		if most < 0 {
			most = least + w.repeat
		}
		if most > least {
			n += w.m.r.IntN(most - least + 1)
		}
		for range n {
			w.write(re.Sub[0])
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			w.b.WriteRune(r)
		}
	case syntax.OpCharClass:
		w.b.WriteRune(w.class(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		w.b.WriteByte(letters[w.m.r.IntN(len(letters))])
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			w.write(sub)
		}
	case syntax.OpAlternate:
		w.write(re.Sub[w.m.r.IntN(len(re.Sub))])
	case syntax.OpStar:
		times(0, -1)
	case syntax.OpPlus:
		times(1, -1)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpRepeat:
		times(re.Min, re.Max)
	default: // anchors, word boundaries and what matches nothing: the caller looks at the result
	}
}

// class takes a character of a class, given in pairs of its ranges: one that can be read where there is one.
func (w *matcher) class(ranges []rune) rune {
	var readable []rune
	for _, r := range letters {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= r && r <= ranges[i+1] {
				readable = append(readable, r)
				break
			}
		}
	}
	odd := !w.m.o.Plain && w.m.r.IntN(4) == 0
	if len(readable) > 0 && !odd || len(ranges) == 0 {
		if len(readable) == 0 {
			return 'x'
		}
		return readable[w.m.r.IntN(len(readable))]
	}
	for range 20 {
		i := w.m.r.IntN(len(ranges)/2) * 2
		low, high := ranges[i], min(ranges[i+1], ranges[i]+100)
		r := low + rune(w.m.r.IntN(int(high-low)+1))
		if unicode.IsPrint(r) {
			return r
		}
	}
	return ranges[0]
}
