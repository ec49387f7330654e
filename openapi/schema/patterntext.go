package schema

import (
	"regexp/syntax"
	"unicode"

	"drawbridge/openapi/unseen"
)

// patternTexts returns a few short texts that an expression of Go's regexp describes. Assertions inside it are passed
// over, so a text need not match.
func patternTexts(re2 string) []string {
	tree, err := syntax.Parse(re2, syntax.Perl)
	if err != nil {
		return nil
	}
	var out []string
	for _, more := range []int{0, 1, 3, 7, 15, 31} {
		w := patternWriter{more: more}
		w.write(tree)
		if len(w.out) > maxPatternText {
			break
		}
		out = append(out, string(w.out))
	}
	return out
}

const maxPatternText = 200 // bytes

// patternWriter writes a text that an expression describes.
type patternWriter struct {
	out  []rune
	more int // how often what may be repeated is repeated more than it must
}

func (w *patternWriter) write(re *syntax.Regexp) {
	if len(w.out) > maxPatternText {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		w.out = append(w.out, re.Rune...)
	case syntax.OpCharClass:
		w.out = append(w.out, runeOf(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		w.out = append(w.out, 'a')
	case syntax.OpStar:
		w.repeat(re.Sub[0], w.more)
	case syntax.OpPlus:
		w.repeat(re.Sub[0], 1+w.more)
	case syntax.OpQuest:
		w.repeat(re.Sub[0], min(w.more, 1))
	case syntax.OpRepeat:
		n := re.Min + w.more
		if re.Max >= 0 {
			n = min(n, re.Max)
		}
		w.repeat(re.Sub[0], n)
	case syntax.OpAlternate:
		w.write(re.Sub[0])
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			w.write(sub)
		}
	default: // assertions, and what matches nothing
	}
}

func (w *patternWriter) repeat(re *syntax.Regexp, n int) {
	for range n {
		if len(w.out) > maxPatternText {
			return
		}
		w.write(re)
	}
}

// runeOf returns a character of a class, given by its ranges: a plain one if it has any.
func runeOf(ranges []rune) rune {
	for _, want := range "aA0bB1-_. /" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if want >= ranges[i] && want <= ranges[i+1] {
				return want
			}
		}
	}
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1] && r < ranges[i]+200; r++ {
			if unicode.IsPrint(r) && !unseen.Is(r) {
				return r
			}
		}
	}
	return '?'
}
