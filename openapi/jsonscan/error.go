package jsonscan

import "fmt"

// Reason is the reason why a text was refused.
type Reason uint8

// The reasons why [Scan] refuses a text.
const (
	Syntax    Reason = iota + 1 // not the grammar of RFC 8259
	TooDeep                     // nested deeper than Options.MaxDepth
	Duplicate                   // a duplicate member name in an object
	Encoding                    // not valid UTF-8
)

// Error is the position and the reason of a refusal. Offset counts bytes from the start of the text.
type Error struct {
	Offset int
	Reason Reason
	Detail string
}

func (e *Error) Error() string {
	return fmt.Sprintf("json: %s at byte %d", e.Detail, e.Offset)
}

func (s *scanner) fail(i int, r Reason, detail string) error {
	return &Error{Offset: i, Reason: r, Detail: detail}
}

func (s *scanner) unexpected(i int, expected string) error {
	if i >= len(s.data) {
		return s.fail(i, Syntax, "unexpected end of the text, expected "+expected)
	}
	return s.fail(i, Syntax, fmt.Sprintf("unexpected %q, expected %s", rune(s.data[i]), expected))
}
