package schema

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"drawbridge/openapi/schema/ecmaregexp"
	"drawbridge/openapi/tree"
)

// Some frameworks read numbers from texts, too, and write so of each number: ASP.NET Core 10 has "type: [integer, string]" with a pattern of
// digits, or no type at all in 3.0. Models then send texts, clients whose schemas have one type refuse the tool, and bounds do not apply. Such
// a schema is published as that of the number. A text of digits is still read as the number (pains row 192).

// maxNumericPattern is the longest pattern that is looked at; those of numbers have 50 characters.
const maxNumericPattern = 200

// onlyNumber returns the types of a schema of numbers that are also taken as texts without those of texts, and whether it is one.
func onlyNumber(n *tree.Node, set types) (types, bool) {
	pattern, format := n.Get("pattern"), numericFormats[n.Get("format").Text()]
	if pattern.Kind() != tree.String {
		return set, false
	}
	typed := set&stringType != 0 && set&(integerType|numberType) != 0
	if !typed && (set&^nullType != 0 || n.Get("type") != nil || format == 0) || !isNumericPattern(pattern.Text()) {
		return set, false
	}
	if typed && format == 0 && fitsCode(pattern.Text()) {
		return set, false
	}
	if typed {
		return set &^ stringType, true
	}
	return set | format, true
}

// fitsCode reports whether a pattern also matches texts that begin with a zero that no number has, such as the code "00501": the number would
// lose it.
func fitsCode(pattern string) bool {
	p, err := ecmaregexp.Parse(pattern)
	if err != nil {
		return true
	}
	re, err := regexp.Compile(p.RE2)
	if err != nil {
		return true
	}
	for n := 1; n < maxCode; n++ {
		if re.MatchString(strings.Repeat("0", n) + "1") {
			return true
		}
	}
	return false
}

// maxCode is the number of digits of the longest code that is tried.
const maxCode = 32

// numericFormats are the formats that frameworks write of numbers.
var numericFormats = map[string]types{
	"int8": integerType, "int16": integerType, "int32": integerType, "int64": integerType,
	"uint8": integerType, "uint16": integerType, "uint32": integerType, "uint64": integerType,
	"float": numberType, "double": numberType, "decimal": numberType,
}

// isNumericPattern reports whether a pattern matches numbers from their beginning to their end and nothing else.
func isNumericPattern(pattern string) bool {
	if len(pattern) > maxNumericPattern {
		return false
	}
	p, err := ecmaregexp.Parse(pattern)
	if err != nil || p.RE2 == "" {
		return false
	}
	re, err := syntax.Parse(p.RE2, syntax.Perl)
	if err != nil {
		return false
	}
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	if re.Op != syntax.OpConcat || len(re.Sub) < 3 || re.Sub[0].Op != syntax.OpBeginText || re.Sub[len(re.Sub)-1].Op != syntax.OpEndText {
		return false
	}
	return !slices.ContainsFunc(re.Sub[1:len(re.Sub)-1], func(sub *syntax.Regexp) bool { return !numericSigns(sub) })
}

// numericSigns reports whether an expression matches nothing but signs that numbers are written with.
func numericSigns(re *syntax.Regexp) bool {
	isSign := func(r rune) bool {
		return r >= '0' && r <= '9' || r == '-' || r == '+' || r == '.' || r == 'e' || r == 'E'
	}
	switch re.Op {
	case syntax.OpLiteral:
		return !slices.ContainsFunc(re.Rune, func(r rune) bool { return !isSign(r) })
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i+1]-re.Rune[i] > '9'-'0' {
				return false
			}
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if !isSign(r) {
					return false
				}
			}
		}
		return len(re.Rune) > 0
	case syntax.OpCapture, syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat, syntax.OpConcat, syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !numericSigns(sub) })
	case syntax.OpEmptyMatch:
		return true
	default:
		return false
	}
}
