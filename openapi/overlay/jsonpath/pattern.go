package jsonpath

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"drawbridge/openapi/text"
)

// pattern is a compiled regular expression.
type pattern struct {
	re   *regexp.Regexp // nil if it is invalid, so that it matches nothing
	size int            // maximum number of instructions of its program
}

// cost returns the steps of a match: Go's engine takes at most one step for each instruction and byte.
func (p *pattern) cost(text string) int { return 1 + p.size*(len(text)+1)/matchPerStep }

// pattern compiles a regular expression, which is charged, and caches it for the next node.
func (e *evaluation) pattern(text string, whole bool) (*pattern, error) {
	key := text
	if whole {
		key = `\A` + text
	}
	if p := e.patterns[key]; p != nil {
		return p, nil
	}
	if err := e.work.Take(compileSteps * len(text)); err != nil {
		return nil, err
	}
	tree, size, err := parsePattern(text)
	if err != nil {
		return nil, err
	}
	p := &pattern{size: size}
	if tree != nil {
		if err := e.work.Take(compileSteps * size); err != nil {
			return nil, err
		}
		form := tree.String()
		if whole {
			form = `\A(?:` + form + `)\z`
		}
		p.re, _ = regexp.Compile(form) // an invalid expression matches nothing (RFC 9535 section 2.4.6)
	}
	if e.patterns == nil || len(e.patterns) == maxPatterns {
		e.patterns = make(map[string]*pattern)
	}
	e.patterns[key] = p
	return p, nil
}

// parsePattern parses a regular expression of RFC 9485, in which a dot matches everything but line ends, and returns
// the maximum number of instructions of its program. The tree is nil if the text is not a regular expression. The error
// is that of one beyond the limits.
func parsePattern(raw string) (tree *syntax.Regexp, size int, err error) {
	if len(raw) > maxPattern {
		return nil, 0, fmt.Errorf("the regular expression %q has %d bytes; at most %d are allowed", text.Truncate(raw, maxShownPattern), len(raw), maxPattern)
	}
	tree, err = syntax.Parse(raw, syntax.Perl|syntax.DotNL)
	if err != nil {
		return nil, 0, nil //nolint:nilerr // it matches nothing
	}
	if size = programSize(tree); size > maxProgram {
		return nil, 0, fmt.Errorf("the regular expression %q takes a program of more than %d instructions; use smaller repetitions", text.Truncate(raw, maxShownPattern), maxProgram)
	}
	excludeLineEnds(tree)
	return tree, size, nil
}

// programSize returns the maximum number of instructions that an expression compiles to, or more than maxProgram.
func programSize(re *syntax.Regexp) int {
	size := 2
	for _, sub := range re.Sub {
		size = min(size+programSize(sub), maxProgram+1)
	}
	switch re.Op { //nolint:exhaustive // the others have a fixed size
	case syntax.OpLiteral:
		size += len(re.Rune)
	case syntax.OpRepeat:
		size = min(size*max(re.Min+1, re.Max, 1), maxProgram+1)
	}
	return size
}

// excludeLineEnds makes each dot match all characters but \n and \r (RFC 9485 section 5.3).
func excludeLineEnds(re *syntax.Regexp) {
	if re.Op == syntax.OpAnyChar {
		*re = syntax.Regexp{Op: syntax.OpCharClass, Rune: []rune{0, '\n' - 1, '\n' + 1, '\r' - 1, '\r' + 1, 0x10ffff}}
		return
	}
	for _, sub := range re.Sub {
		excludeLineEnds(sub)
	}
}
