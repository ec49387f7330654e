package elicit

import (
	"errors"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"

	"drawbridge/openapi/jsonscan"
)

// validate checks an answer to a form against the schema that was sent, which is that of [form.schema] for the same
// revision and fields. null represents a field that was left empty. The error is for the user.
func (f *form) validate(answer []byte, revision formRevision, shown func(name string) bool) error {
	for i := range f.fields {
		field := &f.fields[i]
		if !shown(field.name) && (f.configured == nil || revision == formBasic) {
			continue // it was not sent
		}
		value := jsonscan.Lookup(answer, field.name)
		if value == nil || jsonscan.KindOf(value) == jsonscan.Null {
			if field.required {
				return fmt.Errorf("%s is missing", field.name)
			}
			continue
		}
		if err := field.validate(value); err != nil {
			return fmt.Errorf("%s %w", field.name, err)
		}
	}
	return nil
}

// validate checks the value of a field.
func (f *field) validate(value []byte) error {
	kind := jsonscan.KindOf(value)
	switch {
	case f.kind == fieldText && kind == jsonscan.String:
		text := string(jsonscan.Unquote(value))
		if !hasFormat(text, f.format) {
			return fmt.Errorf("is not of the format %s", f.format)
		}
		return f.within(float64(utf8.RuneCountInString(text)), "short", "long")
	case (f.kind == fieldNumber || f.kind == fieldInteger) && kind == jsonscan.Number:
		n, err := strconv.ParseFloat(string(value), 64)
		if err != nil || f.kind == fieldInteger && n != math.Trunc(n) {
			return errors.New("is not a number of this kind")
		}
		return f.within(n, "small", "large")
	case f.kind == fieldBoolean && kind == jsonscan.Bool:
		return nil
	case f.kind == fieldChoice && kind == jsonscan.String && f.has(string(jsonscan.Unquote(value))):
		return nil
	case f.kind == fieldChoices && kind == jsonscan.Array:
		n := 0
		for item := range jsonscan.Elements(value) {
			if n++; jsonscan.KindOf(item) != jsonscan.String || !f.has(string(jsonscan.Unquote(item))) {
				return errors.New("has a value that is not one of the choices")
			}
		}
		return f.within(float64(n), "short", "long")
	}
	return errors.New("has a value that the form does not allow")
}

// within checks the bounds of a number, length or count; small and large are the words for a violation.
func (f *field) within(n float64, small, large string) error {
	if least, err := strconv.ParseFloat(f.minimum, 64); err == nil && n < least {
		return fmt.Errorf("is too %s: at least %s", small, f.minimum)
	}
	if most, err := strconv.ParseFloat(f.maximum, 64); err == nil && n > most {
		return fmt.Errorf("is too %s: at most %s", large, f.maximum)
	}
	return nil
}

// hasFormat reports whether a text has one of the formats of a form. Every text has the format "".
func hasFormat(text, format string) bool {
	var err error
	switch format {
	case "email":
		var a *mail.Address
		if a, err = mail.ParseAddress(text); err == nil {
			return a.Address == text
		}
	case "uri":
		var u *url.URL
		if u, err = url.Parse(text); err == nil {
			return u.IsAbs()
		}
	case "date":
		_, err = time.Parse(time.DateOnly, text)
	case "date-time":
		_, err = time.Parse(time.RFC3339, text)
	}
	return err == nil
}
