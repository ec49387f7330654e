package config

import (
	"errors"
	"strings"
)

// maxPointer bounds a JSON Pointer, in bytes.
const maxPointer = 256

// Pointer is a JSON Pointer (RFC 6901) to a value within another, such as /job/state. It never points to the whole.
type Pointer string

// String returns the pointer as it was written, "" for none.
func (p Pointer) String() string { return string(p) }

func (p *Pointer) parse(text string) error {
	switch {
	case !strings.HasPrefix(text, "/"):
		return errors.New("must be a JSON Pointer, such as /items/0/name")
	case len(text) > maxPointer:
		return errors.New("is longer than 256 bytes")
	}
	for rest := text; ; {
		_, after, escaped := strings.Cut(rest, "~")
		if !escaped {
			*p = Pointer(text)
			return nil
		}
		if !strings.HasPrefix(after, "0") && !strings.HasPrefix(after, "1") {
			return errors.New("must be a JSON Pointer: ~ stands in it as ~0, / in a name as ~1")
		}
		rest = after
	}
}
