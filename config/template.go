package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Template is a text with places to fill in, each written {{name}}. The text of a place is not searched
// for places again. {{{{ stands for {{ itself. The zero Template is the empty text. It is immutable.
type Template struct {
	source string
	parts  []templatePart
}

// A templatePart is a piece of text as it is, or a place.
type templatePart struct {
	text string
	name string // "": it is text
}

// maxPlaces is the most places of one template, so that what it grows to is bounded by its size and that of the values.
const maxPlaces = 500

// templateError is what is wrong with a template, and where: in bytes from its beginning.
type templateError struct {
	offset int
	reason string
}

func (e *templateError) Error() string { return e.reason }

var (
	placeName  = `[A-Za-z_][A-Za-z0-9_.-]{0,63}`
	place      = regexp.MustCompile(`\A\{\{[ \t]*(` + placeName + `)[ \t]*\}\}`)
	isPlace    = regexp.MustCompile(`\A` + placeName + `\z`)
	placeStart = "{{"
)

// ParseTemplate returns the template that a text stands for.
func ParseTemplate(text string) (Template, error) {
	t := Template{source: text}
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			t.parts = append(t.parts, templatePart{text: literal.String()})
			literal.Reset()
		}
	}
	places := 0
	for rest := text; rest != ""; {
		before, _, found := strings.Cut(rest, placeStart)
		literal.WriteString(before)
		if rest = rest[len(before):]; !found {
			break
		}
		if strings.HasPrefix(rest, placeStart+placeStart) {
			literal.WriteString(placeStart)
			rest = rest[2*len(placeStart):]
			continue
		}
		offset := len(text) - len(rest)
		m := place.FindStringSubmatch(rest)
		if m == nil {
			line, _, _ := strings.Cut(rest, "\n")
			return Template{}, &templateError{offset, fmt.Sprintf("%s is no place to fill in: write {{name}}, or {{{{ for the characters {{ themselves", quote(first(line, 40)))}
		}
		if places++; places > maxPlaces {
			return Template{}, &templateError{offset, fmt.Sprintf("has more than %d places to fill in", maxPlaces)}
		}
		flush()
		t.parts = append(t.parts, templatePart{name: m[1]})
		rest = rest[len(m[0]):]
	}
	flush()
	return t, nil
}

// first returns the beginning of a text, of no more runes than most.
func first(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}

func (t *Template) parse(text string) error {
	if i := strings.IndexFunc(text, control); i >= 0 {
		return &templateError{i, fmt.Sprintf("holds the control character %U", []rune(text[i:])[0])}
	}
	if !utf8.ValidString(text) {
		return &templateError{0, "is not valid UTF-8"}
	}
	parsed, err := ParseTemplate(text)
	if err != nil {
		return err
	}
	*t = parsed
	return nil
}

// String returns the template as it was written.
func (t Template) String() string { return t.source }

// MarshalText returns the template as it was written.
func (t Template) MarshalText() ([]byte, error) { return []byte(t.source), nil }

// IsZero reports whether the template is the empty text.
func (t Template) IsZero() bool { return t.source == "" }

// Places returns the names of the places, each once, in the order of the text.
func (t Template) Places() (names []string) {
	for _, p := range t.parts {
		if p.name != "" && !slices.Contains(names, p.name) {
			names = append(names, p.name)
		}
	}
	return names
}

// Place returns the name of the place if the whole text is one.
func (t Template) Place() (name string, ok bool) {
	if len(t.parts) == 1 && t.parts[0].name != "" {
		return t.parts[0].name, true
	}
	return "", false
}

// Fill returns the text with what value returns for each name in its places.
func (t Template) Fill(value func(name string) string) string {
	if len(t.parts) == 1 && t.parts[0].name == "" {
		return t.parts[0].text
	}
	var b strings.Builder
	b.Grow(t.Size(value))
	for _, p := range t.parts {
		if p.name != "" {
			b.WriteString(value(p.name))
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// FillURI is Fill for a URI: what fills a place is escaped, so that it stands for nothing but itself, unless the place is the
// whole text.
func (t Template) FillURI(value func(name string) string) string {
	if _, whole := t.Place(); whole {
		return t.Fill(value)
	}
	return t.Fill(func(name string) string { return escapeURI(value(name)) })
}

// checkURI refuses what can't be a URI, whatever fills its places.
func (t Template) checkURI() error {
	if _, whole := t.Place(); whole {
		return nil
	}
	if filled := t.Fill(func(string) string { return "x" }); !uriScheme.MatchString(filled) || len(t.parts) == 0 || t.parts[0].name != "" {
		return errors.New("must be a URI, which begins with a scheme, or nothing but a place: shop://orders/{{id}}")
	}
	for _, p := range t.parts {
		if err := checkURILiteral(p.text); err != nil {
			return err
		}
		if strings.Contains(p.text, "{") {
			return errors.New("holds '{', which can't stand in a URI")
		}
	}
	return nil
}

// Size returns the length of what Fill returns, in bytes.
func (t Template) Size(value func(name string) string) (n int) {
	for _, p := range t.parts {
		if p.name != "" {
			n += len(value(p.name))
		} else {
			n += len(p.text)
		}
	}
	return n
}

// appendJSON appends the text, filled in, as a JSON string.
func (t Template) appendJSON(dst []byte, value func(name string) string) []byte {
	text, err := json.Marshal(t.Fill(value))
	if err != nil { // a string always has a JSON form
		panic("config: " + err.Error())
	}
	return append(dst, text...)
}
