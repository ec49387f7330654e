package arazzo

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// Template is a text in which expressions in braces stand for their values, as in "Bearer {$inputs.token}".
type Template struct {
	texts       []string // one more than expressions
	expressions []Expression
}

// ParseTemplate parses a text with expressions in braces. Braces without a dollar sign behind them are text.
func ParseTemplate(text string) (*Template, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("the text has %d bytes; at most %d are allowed", len(text), maxText)
	}
	t := &Template{}
	for rest := text; ; {
		before, after, found := strings.Cut(rest, "{$")
		t.texts = append(t.texts, before)
		if !found {
			return t, nil
		}
		inside, behind, closed := strings.Cut(after, "}")
		if !closed {
			return nil, fmt.Errorf("the text %q has an expression without its closing brace", text)
		}
		e, err := ParseExpression("$" + inside)
		if err != nil {
			return nil, err
		}
		t.expressions, rest = append(t.expressions, e), behind
	}
}

// Expressions returns the expressions in the text. The caller must not change them.
func (t *Template) Expressions() []Expression { return t.expressions }

// Text returns the text with values: strings without their quotes, all else as JSON. The error names an expression without a value.
func (t *Template) Text(s Scope) (string, error) {
	return t.write(s, func(value json.RawMessage, _ byte) (string, error) { return plain(value), nil })
}

// JSON returns the text, which is JSON, with values that can't change its structure: within quotes a value is escaped, and elsewhere it is JSON.
// The error names an expression without a value.
func (t *Template) JSON(s Scope) (string, error) {
	return t.write(s, func(value json.RawMessage, quote byte) (string, error) {
		if quote == '"' {
			return string(jsonscan.AppendEscaped(nil, []byte(plain(value)))), nil
		}
		return string(value), nil
	})
}

// Query returns the text, a JSONPath query, with values that can't change its structure: within a text in quotes a value is escaped, and
// elsewhere it is a literal. The error names an expression without a value, or with an object or array.
func (t *Template) Query(s Scope) (string, error) {
	return t.write(s, func(value json.RawMessage, quote byte) (string, error) {
		switch kind := jsonscan.KindOf(value); {
		case kind == jsonscan.Object || kind == jsonscan.Array:
			return "", errors.New("is an object or array, which a query can't contain")
		case quote != 0:
			text := string(jsonscan.AppendEscaped(nil, []byte(plain(value))))
			// JSONPath allows an escaped quote of the other kind in neither text, but its code point in both.
			return strings.NewReplacer(`\\`, `\\`, `\"`, `\u0022`, `'`, `\u0027`).Replace(text), nil
		}
		return string(value), nil
	})
}

// write joins the texts and values. one writes a value, with the quote that it is within, or 0.
func (t *Template) write(s Scope, one func(value json.RawMessage, quote byte) (string, error)) (string, error) {
	var b strings.Builder
	b.WriteString(t.texts[0])
	quote := quoteAfter(0, t.texts[0])
	for i, e := range t.expressions {
		value, ok := e.Evaluate(s)
		if !ok {
			return "", fmt.Errorf("%s has no value", e)
		}
		text, err := one(value, quote)
		if err != nil {
			return "", fmt.Errorf("%s %w", e, err)
		}
		b.WriteString(text)
		b.WriteString(t.texts[i+1])
		if b.Len() > maxComposed {
			return "", fmt.Errorf("the text has more than %d MiB", maxComposed>>20)
		}
		quote = quoteAfter(quote, t.texts[i+1])
	}
	return b.String(), nil
}

// quoteAfter returns the quote of the text that is open after a part of a query, or 0. quote is that before the part.
func quoteAfter(quote byte, part string) byte {
	for i := 0; i < len(part); i++ {
		switch c := part[i]; {
		case quote != 0 && c == '\\':
			i++
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		}
	}
	return quote
}

// plain returns a string without its quotes, and any other value as JSON.
func plain(value json.RawMessage) string {
	if jsonscan.KindOf(value) == jsonscan.String {
		return string(jsonscan.Unquote(value))
	}
	return string(value)
}

// String returns the expression as text.
func (e Expression) String() string {
	text := "$" + string(e.Source)
	for _, part := range []string{e.ID, e.Field, e.Name} {
		if part != "" {
			text += "." + part
		}
	}
	if e.Pointer != "" {
		text += "#" + e.Pointer
	}
	return text
}
