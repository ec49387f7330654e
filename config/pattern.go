package config

import (
	"regexp"
	"strings"
)

// Pattern is a compiled pattern of a [Selector].
type Pattern struct {
	text string
	re   *regexp.Regexp
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// MarshalText returns the pattern as it was written.
func (p Pattern) MarshalText() ([]byte, error) { return []byte(p.text), nil }

// UnmarshalText reads what MarshalText returns.
func (p *Pattern) UnmarshalText(text []byte) error { return p.parse(string(text)) }

func (p *Pattern) parse(text string) error {
	re, err := regexp.Compile(`(?s)\A` + globExpression(globOf(text)) + `\z`)
	if err != nil {
		return err
	}
	*p = Pattern{text: text, re: re}
	return nil
}

// upper returns the pattern in upper case.
func (p Pattern) upper() Pattern {
	var u Pattern
	_ = u.parse(strings.ToUpper(p.text)) // a pattern that compiled does so in any case
	return u
}

// globItem is a part of a pattern: a character, a wildcard, or the beginning of what may be left out.
type globItem struct {
	wildcard string // * or **
	optional int    // how many of the items that follow may be left out together
	literal  byte
}

// globOf takes a pattern apart.
func globOf(glob string) (items []globItem) {
	any, slash := globItem{wildcard: "**"}, globItem{literal: '/'}
	for i, start := 0, true; i < len(glob); {
		rest := glob[i:]
		switch {
		case rest == "/**":
			return append(items, globItem{optional: 2}, slash, any)
		case start && strings.HasPrefix(rest, "**/"):
			items = append(items, globItem{optional: 2}, any, slash)
			i += len("**/")
		case strings.HasPrefix(rest, "**"):
			items, start = append(items, any), false
			i += len("**")
		case rest[0] == '*':
			items = append(items, globItem{wildcard: "*"}) // the same segment: start stays as it is
			i++
		default:
			items, start = append(items, globItem{literal: rest[0]}), rest[0] == '/'
			i++
		}
	}
	return items
}

// globExpression returns the regular expression of the parts of a pattern, for Go's engine, which takes linear time.
func globExpression(items []globItem) string {
	var b strings.Builder
	var literal []byte
	for i := 0; i < len(items); i++ {
		if item := items[i]; item.wildcard == "" && item.optional == 0 {
			literal = append(literal, item.literal)
			continue
		}
		b.WriteString(regexp.QuoteMeta(string(literal)))
		literal = literal[:0]
		switch item := items[i]; {
		case item.optional > 0:
			b.WriteString(`(?:` + globExpression(items[i+1:i+1+item.optional]) + `)?`)
			i += item.optional
		case item.wildcard == "**":
			b.WriteString(`.*`)
		default:
			b.WriteString(`[^/]*`)
		}
	}
	b.WriteString(regexp.QuoteMeta(string(literal)))
	return b.String()
}
