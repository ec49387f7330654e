package redact

import (
	"bytes"
	"maps"
	"strings"
	"unicode/utf8"

	"drawbridge/config"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// Sensitive hides the fields that must not appear in the responses of a tool (sensitive_fields). It is immutable once it is in use; the zero
// value hides nothing.
type Sensitive struct {
	filter jsonscan.Filter
	names  map[string]bool // names of members at any depth
}

// NewSensitive returns nil if no field is hidden.
func NewSensitive(set *config.SensitiveFields) *Sensitive {
	if set == nil {
		return nil
	}
	s := &Sensitive{names: map[string]bool{}}
	for field, action := range set.All() {
		fate := jsonscan.Drop
		if action == config.FieldMask {
			fate = jsonscan.Mask
		}
		if field.IsPlace() {
			s.filter.Pointer(field.String(), fate)
		} else {
			s.filter.Name(field.String(), fate)
			s.names[field.String()] = true
		}
	}
	return s
}

// Add makes s hide the names that another one hides, at any depth. It must not be called once s is in use, and neither must [Sensitive.AddAt].
func (s *Sensitive) Add(other *Sensitive) {
	if other == nil {
		return
	}
	s.filter.Add(&other.filter)
	if s.names == nil {
		s.names = map[string]bool{}
	}
	maps.Copy(s.names, other.names)
}

// AddAt makes s hide, of the values at the JSON Pointer to, what another one hides of a value at the path from, which is made of unescaped
// tokens. It reports whether that is anything.
func (s *Sensitive) AddAt(to string, other *Sensitive, from []string) (hides bool) {
	return other != nil && s.filter.AddAt(to, &other.filter, from)
}

// Drop makes s hide the values at a JSON Pointer.
func (s *Sensitive) Drop(pointer string) { s.filter.Pointer(pointer, jsonscan.Drop) }

// IsEmpty reports whether nothing is hidden.
func (s *Sensitive) IsEmpty() bool { return s.filter.IsEmpty() }

// JSON returns a JSON text without the sensitive fields.
func (s *Sensitive) JSON(text []byte) []byte { return s.filter.Apply(text) }

// Mentions reports whether a text names a sensitive field; false if s is nil.
func (s *Sensitive) Mentions(text string) bool { return s != nil && s.filter.Mentions([]byte(text)) }

// HasHeader reports whether a sensitive field has the name of a header, ignoring case; false if s is nil.
func (s *Sensitive) HasHeader(name string) bool {
	if s == nil {
		return false
	}
	for field := range s.names {
		if strings.EqualFold(field, name) {
			return true
		}
	}
	return false
}

// withheld replaces a text that can't be parsed.
const withheld = "[withheld by the gateway: this part of the answer is not JSON, and may hold what is hidden of it]"

// Part hides the sensitive fields of a part of a response. Fields can't be removed from a text or bytes that aren't
// JSON: these are withheld if they are labelled as JSON or mention a sensitive field, and so is a single event that is
// a text. Images and audio stay, unless they are text.
func (s *Sensitive) Part(p *answer.Part) {
	if s.names[p.Field] && p.Field != "" {
		p.Kind, p.MediaType, p.Data = answer.Text, "text/plain", []byte("[hidden]")
		return
	}
	switch p.Kind {
	case answer.JSON:
		p.Data = s.filter.Apply(p.Data)
		withheldBefore := false
		p.ReplaceTexts(func(text []byte) []byte {
			if !s.filter.Mentions(text) {
				return text
			}
			if withheldBefore { // in full for one event: thousands of short ones would make a response twelve times as large
				return []byte("[hidden]")
			}
			withheldBefore = true
			return []byte(withheld)
		})
		return
	case answer.Text, answer.Binary:
	case answer.Image, answer.Audio:
		if !utf8.Valid(p.Data) || bytes.IndexByte(p.Data, 0) >= 0 {
			return
		} // a text that begins like an image
	}
	if _, err := jsonscan.Scan(p.Data, jsonscan.Options{}); err == nil {
		p.Data = s.filter.Apply(p.Data)
		return
	}
	if strings.Contains(p.MediaType, "json") || s.filter.Mentions(p.Data) {
		p.Kind, p.MediaType, p.Data = answer.Text, "text/plain", []byte(withheld)
	}
}

// Event returns one event of a stream without the sensitive fields. It is treated as an element of an array; the result
// is empty if the whole event is hidden.
func (s *Sensitive) Event(event []byte) []byte {
	array := append(append(append(make([]byte, 0, len(event)+2), '['), event...), ']')
	array = s.filter.Apply(array)
	return array[1 : len(array)-1]
}
