package typescript

import (
	"strings"
	"unicode"

	"drawbridge/openapi/jsonscan"
)

// memberName returns the name of a member, quoted unless it is an identifier.
func memberName(name string) string {
	if isIdentifier(name) {
		return name
	}
	return string(jsonscan.AppendString(nil, name))
}

func isIdentifier(name string) bool {
	for i, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_', c == '$', i > 0 && '0' <= c && c <= '9':
		default:
			return false
		}
	}
	return name != ""
}

// typeName returns a name of a definition as an identifier.
func typeName(definition string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && isIdentifier("a"+string(r)) {
			return r
		}
		return '_'
	}, definition)
	if name = strings.Trim(name, "_"); !isIdentifier(name) {
		return "T" + name
	}
	return name
}

// words returns the words of a name in lower case: those of "pageSize" and "page_size" are page and size.
func words(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = ' '
		}
		if lower && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}
