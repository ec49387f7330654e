package config

import (
	"errors"
	"iter"
	"slices"
	"strings"
)

// SensitiveFields is what leaves no answer.
type SensitiveFields struct {
	// Names at any depth, or JSON Pointers in which * matches every member and element, such as /customers/*/ssn. At
	// most 100.
	Fields []Field `yaml:"fields" required:"true" access:"joint: operation"`
	// remove deletes fields; mask replaces strings by "[hidden]" and other values by null.
	Action FieldAction `yaml:"action" default:"remove" access:"joint: operation"`

	others []*SensitiveFields // of other rules and documents
}

func (s *SensitiveFields) validate(c cursor) {
	const most = 100
	switch {
	case c.faulty(""):
	case len(s.Fields) == 0:
		c.errorf("", "is empty; name what is to be hidden")
	case len(s.Fields) > most:
		c.errorf("", "has %d fields, more than %d", len(s.Fields), most)
	}
}

// All yields the fields with what becomes of them, those of other rules and documents with them.
func (s *SensitiveFields) All() iter.Seq2[Field, FieldAction] {
	return func(yield func(Field, FieldAction) bool) {
		if s == nil {
			return
		}
		for _, of := range append([]*SensitiveFields{s}, s.others...) {
			for _, field := range of.Fields {
				if !yield(field, of.Action) {
					return
				}
			}
		}
	}
}

// with returns what both hide; each may be nil.
func (s *SensitiveFields) with(earlier *SensitiveFields) *SensitiveFields {
	switch {
	case s == nil:
		return earlier
	case earlier == nil:
		return s
	}
	joined := *s
	joined.others = slices.Concat(s.others, []*SensitiveFields{earlier}, earlier.others)
	return &joined
}

func (s *SensitiveFields) short() short { return short{value: &s.Fields} }

// Field is the name of a member, or a place that begins with /.
type Field string

// String returns it as it was written.
func (f Field) String() string { return string(f) }

// IsPlace reports whether it is a JSON Pointer.
func (f Field) IsPlace() bool { return strings.HasPrefix(string(f), "/") }

func (f *Field) parse(text string) error {
	if len(text) > maxPointer {
		return errors.New("is longer than 256 bytes")
	}
	switch {
	case strings.HasPrefix(text, "$"):
		return errors.New("must be a name or a JSON Pointer, such as /items/*/name, and not JSONPath")
	case text == "/":
		return errors.New("must be a name or a JSON Pointer, such as /items/*/name: this one leads to a member without a name")
	}
	if strings.HasPrefix(text, "/") {
		var p Pointer
		if err := p.parse(text); err != nil {
			return err
		}
	}
	*f = Field(text)
	return nil
}

// FieldAction is what becomes of a sensitive field.
type FieldAction string

// The values of [FieldAction].
const (
	FieldRemove FieldAction = "remove"
	FieldMask   FieldAction = "mask"
)

func (FieldAction) values() []string { return []string{"remove", "mask"} }
