package elicit

import (
	"errors"
	"slices"

	"drawbridge/openapi/jsonscan"
)

// form is the form that a user fills in: an object of fields, each a string, a number, a boolean, or a choice
// (2025-11-25 elicitation, Requested Schema). It is immutable.
type form struct {
	fields []field
	// configured is the schema that the configuration spells out; nil if it is made of the fields.
	configured []byte
}

// field is one field of a form.
type field struct {
	name               string
	kind               fieldKind
	title, description string
	format             string // of a text
	minimum, maximum   string // of a number, of the length of a string or of the number of choices; "" if there is none
	options            []option
	defaultValue       []byte // JSON; nil if there is none
	required           bool
	password           bool // the format is password
}

// option is one choice.
type option struct{ value, title string }

// fieldKind is the kind of control that a client shows.
type fieldKind uint8

const (
	fieldText fieldKind = iota
	fieldNumber
	fieldInteger
	fieldBoolean
	fieldChoice
	fieldChoices // several of the options
)

// Limits of a form.
const (
	maxFields     = 20
	maxOptions    = 200
	maxFieldTitle = 100 // bytes
	maxFieldText  = 500
)

// formats returns the formats that a text field may have.
func formats() []string { return []string{"email", "uri", "date", "date-time"} }

// formRevision is the set of form features in a protocol revision.
type formRevision uint8

const (
	formBasic formRevision = iota // 2025-06-18: defaults of booleans only, no lists
	formFull                      // 2025-11-25 and later
)

// ErrNoLists is returned if forms of the client's revision have no lists.
var ErrNoLists = errors.New("the client's revision of the protocol has no choice of several values")

// schema returns the schema of the form with the shown fields.
func (f *form) schema(revision formRevision, shown func(name string) bool) ([]byte, error) {
	if f.configured != nil && revision == formFull {
		return f.configured, nil
	}
	var required []byte
	dst := []byte(`{"type":"object","properties":{`)
	for i := range f.fields {
		field := &f.fields[i]
		if !shown(field.name) {
			continue
		}
		if revision == formBasic && field.kind == fieldChoices {
			return nil, ErrNoLists
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(jsonscan.AppendString(dst, field.name), ':')
		dst = field.append(dst, revision)
		if field.required {
			required = append(jsonscan.AppendString(required, field.name), ',')
		}
	}
	dst = append(dst, '}')
	if len(required) > 0 {
		dst = append(append(append(dst, `,"required":[`...), required[:len(required)-1]...), ']')
	}
	return append(dst, '}'), nil
}

// append appends the schema of a field.
func (f *field) append(dst []byte, revision formRevision) []byte {
	text := func(key, value string) {
		if value != "" {
			dst = jsonscan.AppendString(append(dst, `,"`+key+`":`...), value)
		}
	}
	plain := func(key, value string) {
		if value != "" {
			dst = append(dst, `,"`+key+`":`+value...)
		}
	}
	dst = append(dst, `{"type":"`+[...]string{"string", "number", "integer", "boolean", "string", "array"}[f.kind]+`"`...)
	text("title", f.title)
	text("description", f.description)
	switch f.kind {
	case fieldText:
		text("format", f.format)
		plain("minLength", f.minimum)
		plain("maxLength", f.maximum)
	case fieldNumber, fieldInteger:
		plain("minimum", f.minimum)
		plain("maximum", f.maximum)
	case fieldChoice:
		dst = f.appendOptions(append(dst, ','), revision, "oneOf")
	case fieldChoices:
		plain("minItems", f.minimum)
		plain("maxItems", f.maximum)
		dst = append(dst, `,"items":{`...)
		if !f.titled() {
			dst = append(dst, `"type":"string",`...)
		}
		dst = append(f.appendOptions(dst, revision, "anyOf"), '}')
	case fieldBoolean:
	}
	if revision == formFull || f.kind == fieldBoolean {
		plain("default", string(f.defaultValue))
	}
	return append(dst, '}')
}

// titled reports whether an option has a title other than its value.
func (f *field) titled() bool {
	return slices.ContainsFunc(f.options, func(o option) bool { return o.title != "" })
}

// appendOptions appends the keyword that lists the options; titled is the one for options with titles.
func (f *field) appendOptions(dst []byte, revision formRevision, titled string) []byte {
	title := func(o option) string {
		if o.title != "" {
			return o.title
		}
		return o.value
	}
	list := func(key string, item func(dst []byte, o option) []byte) {
		dst = append(dst, `"`+key+`":[`...)
		for i, o := range f.options {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item(dst, o)
		}
		dst = append(dst, ']')
	}
	value := func(dst []byte, o option) []byte { return jsonscan.AppendString(dst, o.value) }
	switch {
	case !f.titled():
		list("enum", value)
	case revision == formBasic:
		list("enum", value)
		dst = append(dst, ',')
		list("enumNames", func(dst []byte, o option) []byte { return jsonscan.AppendString(dst, title(o)) })
	default:
		list(titled, func(dst []byte, o option) []byte {
			dst = jsonscan.AppendString(append(dst, `{"const":`...), o.value)
			return append(jsonscan.AppendString(append(dst, `,"title":`...), title(o)), '}')
		})
	}
	return dst
}
