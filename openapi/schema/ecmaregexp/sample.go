package ecmaregexp

import (
	"regexp/syntax"
	"unicode"

	"drawbridge/openapi/unseen"
)

// Samples returns a few short texts that the expression describes, none if it has no form for Go. Assertions inside the
// expression are ignored, so a sample need not match.
func (e Expression) Samples() []string {
	if e.RE2 == "" {
		return nil
	}
	tree, err := syntax.Parse(e.RE2, syntax.Perl)
	if err != nil {
		return nil
	}
	var out []string
	for _, more := range []int{0, 1, 3, 7, 15, 31} {
		w := sampleWriter{more: more}
		w.write(tree)
		if len(w.out) > maxSample {
			break
		}
		out = append(out, string(w.out))
	}
	return out
}

const maxSample = 200 // characters

// sampleWriter writes a text that an expression describes.
type sampleWriter struct {
	out  []rune
	more int // repetitions beyond the required ones
}

func (w *sampleWriter) write(re *syntax.Regexp) {
	if len(w.out) > maxSample {
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
	default: // assertions, and expressions that match nothing
	}
}

func (w *sampleWriter) repeat(re *syntax.Regexp, n int) {
	for range n {
		if len(w.out) > maxSample {
			return
		}
		w.write(re)
	}
}

// runeOf returns a character of a class, given by its ranges: a common one if the class has any.
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
