package schema

import (
	"regexp"
	"strings"
	"unicode"

	"drawbridge/openapi/schema/ecmaregexp"
	"drawbridge/openapi/text"
	"drawbridge/openapi/tree"
)

// A pattern that is mistyped, such as "^d{4}-" without its backslash, matches nothing that the service takes, and every call with the
// value would be refused. The values that the document itself gives tell: if the pattern matches none of them, it is left out, and
// reported (pains row 193).

// maxJudged is how many values of a document a pattern is held against.
const maxJudged = 8

// misfit reports whether a pattern matches none of the values that the document gives for the schema, and returns the first. Without
// values, or with a pattern that can't be checked, ok is false.
func (e *emitter) misfit(n, pattern *tree.Node, at place, f *schemaFacts) (value string, ok bool) {
	given := givenTexts(n, at, f)
	if len(given) == 0 {
		return "", false
	}
	p, err := ecmaregexp.Parse(pattern.Text())
	if err != nil || p.RE2 == "" {
		return "", false
	}
	re, err := regexp.Compile(p.RE2)
	if err != nil {
		return "", false
	}
	for _, text := range given {
		e.c.limits.Pace.Work(matchCost(p.Size, text) / matchedPerStep)
		if re.MatchString(text) {
			return "", false
		}
	}
	return given[0], true
}

// givenTexts returns the texts that a document gives for a schema: its values, its default and its examples, and those of its owner.
// Placeholders are left out.
func givenTexts(n *tree.Node, at place, f *schemaFacts) (texts []string) {
	add := func(v *tree.Node) {
		text := v.Text()
		switch v.Kind() {
		case tree.String:
		case tree.Number:
			if f.types&(integerType|numberType) != 0 {
				return // patterns are about texts
			}
		default:
			return
		}
		if text == "" || len(text) > maxValueText || len(texts) == maxJudged || standsForAnother(text) {
			return
		}
		texts = append(texts, text)
	}
	for _, v := range []*tree.Node{n.Get("const"), n.Get("default"), n.Get("example"), at.given} {
		add(v)
	}
	if at.extra != nil {
		add(at.extra.example)
	}
	for _, word := range []string{"enum", "examples"} {
		for _, v := range n.Get(word).Items() {
			add(v)
		}
	}
	return texts
}

// placeholders are the delimiters around a name that somebody should have replaced: "{{locale}}", "${locale}", "<locale>".
var placeholders = []struct{ open, close string }{{"{", "}"}, {"${", "}"}, {"#{", "}"}, {"<", ">"}, {"[", "]"}, {"%", "%"}}

// standsForAnother reports whether a text is no value but stands for one: the "string" of generators, a placeholder, what is cut off with an
// ellipsis, and words about the value, such as "Current date and time".
func standsForAnother(text string) bool {
	if text == "string" || strings.Contains(text, "...") || strings.Contains(text, "…") {
		return true
	}
	for _, p := range placeholders {
		if inner, ok := strings.CutPrefix(text, p.open); ok && strings.HasSuffix(inner, p.close) && len(inner) > len(p.close) {
			return true
		}
	}
	words := strings.Fields(text)
	return len(words) > 2 && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsSpace(r) })
}

// leaveOut reports whether the pattern of a schema is not published, and reports that.
func (e *emitter) leaveOut(n, pattern *tree.Node, at place, f *schemaFacts) bool {
	if f.numeric {
		return true
	}
	value, ok := e.misfit(n, pattern, at, f)
	if ok {
		e.patternless = n
		e.warnf(pattern, CodeSchemaPattern, "the regular expression %q matches none of the values that the document gives, such as %q; it is left out",
			text.TruncateWords(pattern.Text(), 60), text.TruncateWords(value, 60))
	}
	return ok
}
