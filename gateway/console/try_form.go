package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/unseen"
)

// tryForm is a form made from the schema of a tool's arguments: the required ones first, each group in the order of the schema.
type tryForm struct{ fields []tryField }

// tryField is a field of the form, for one argument.
type tryField struct {
	Name        string
	Input       string // name of the input
	ID          string
	Description string
	Kind        fieldKind
	Options     []tryOption // of a choice
	Placeholder string
	Required    bool
	Value       string // as it was entered
	Problem     string // why Value can't be used
}

// tryOption is a value of a choice.
type tryOption struct{ Value, Label string }

// fieldKind is how a field is entered.
type fieldKind string

// The values of [fieldKind].
const (
	fieldText    fieldKind = "text"
	fieldNumber  fieldKind = "number"
	fieldInteger fieldKind = "integer"
	fieldChoice  fieldKind = "choice" // values are JSON texts
	fieldJSON    fieldKind = "json"
)

// maxOptions is the most values that are offered as a choice.
const maxOptions = 500

// newTryForm returns the form of a schema. A schema that can't be read yields a form without fields: the arguments can still be
// entered as JSON.
func newTryForm(schema json.RawMessage) *tryForm {
	f := &tryForm{}
	if !json.Valid(schema) {
		return f
	}
	for _, m := range jsonschema.Parse(schema).Members() {
		f.fields = append(f.fields, newTryField(m.Name, m.Schema, m.Required))
	}
	slices.SortStableFunc(f.fields, func(a, b tryField) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}
		return 1
	})
	for i := range f.fields {
		f.fields[i].ID = fmt.Sprintf("argument-%d", i)
	}
	return f
}

// member is a member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// members returns the members of a JSON object in their order; none if it is no object.
func members(object json.RawMessage) (all []member) {
	d := json.NewDecoder(bytes.NewReader(object))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil
		}
		m := member{name: fmt.Sprint(name)}
		if d.Decode(&m.value) != nil {
			return nil
		}
		all = append(all, m)
	}
	return all
}

func newTryField(name string, s *jsonschema.Schema, required bool) tryField {
	f := tryField{Name: name, Input: "arg." + name, Required: required, Kind: fieldJSON}
	f.Description = cmp.Or(keyword(s, "description").Text(), keyword(s, "title").Text())
	enum := elements(keyword(s, "enum"))
	switch kind := singleType(keyword(s, "type").Texts()); {
	case keyword(s, "const").Value != nil:
		f.choose([]json.RawMessage{keyword(s, "const").Value})
	case len(enum) > 0 && len(enum) <= maxOptions:
		f.choose(enum)
	case kind == "boolean":
		f.choose([]json.RawMessage{json.RawMessage("true"), json.RawMessage("false")})
	case kind == "string":
		f.Kind = fieldText
	case kind == "integer":
		f.Kind = fieldInteger
	case kind == "number":
		f.Kind = fieldNumber
	}
	hint := json.RawMessage(keyword(s, "default").Value)
	if examples := elements(keyword(s, "examples")); hint == nil && len(examples) > 0 {
		hint = examples[0]
	}
	if f.Placeholder = f.entered(hint); f.Placeholder == "" {
		f.Placeholder = keyword(s, "format").Text()
	}
	return f
}

// keyword returns the first keyword of that name among the schemas that a value must match, behind references and in allOf, too.
func keyword(s *jsonschema.Schema, name string) jsonschema.Keyword {
	for part, role := range s.Applied() {
		if k := part.Keyword(name); role == jsonschema.Always && k.Name != "" {
			return k
		}
	}
	return jsonschema.Keyword{}
}

// elements returns the elements of a keyword whose value is a list.
func elements(k jsonschema.Keyword) (all []json.RawMessage) {
	_ = json.Unmarshal(k.Value, &all) // none if it is no list
	return all
}

// hint returns the id of the element that describes the field; "" if there is none.
func (f tryField) hint() string {
	if f.Description == "" && f.Problem == "" {
		return ""
	}
	return f.ID + "-hint"
}

// choose makes the field a choice of JSON values.
func (f *tryField) choose(values []json.RawMessage) {
	f.Kind = fieldChoice
	for _, value := range values {
		o := tryOption{Value: compact(value)}
		if json.Unmarshal(value, &o.Label) != nil || o.Label == "" {
			o.Label = o.Value
		}
		f.Options = append(f.Options, o)
	}
}

// singleType returns the only one of some types besides null; "" if there are several, or none.
func singleType(types []string) string {
	types = slices.DeleteFunc(slices.Clone(types), func(t string) bool { return t == "null" })
	if len(types) != 1 {
		return ""
	}
	return types[0]
}

// entered returns a JSON value as it is entered in the field.
func (f *tryField) entered(value json.RawMessage) string {
	if value == nil {
		return ""
	}
	var text string
	if f.Kind == fieldText && json.Unmarshal(value, &text) == nil {
		return text
	}
	return compact(value)
}

func compact(value json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return string(value)
	}
	return b.String()
}

// fill returns the fields with the values of arguments.
func (f *tryForm) fill(args json.RawMessage) []tryField {
	fields := slices.Clone(f.fields)
	given := members(args)
	for i := range fields {
		for _, m := range given {
			if m.name == fields[i].Name {
				fields[i].Value = fields[i].entered(m.value)
			}
		}
	}
	return fields
}

// arguments returns the arguments that a form was sent with, and the fields as they were entered. With the field "use" of the
// value "json" they are the text of the field "arguments", else those of the fields that are not empty.
func (f *tryForm) arguments(r *http.Request) (args json.RawMessage, fields []tryField, err error) {
	if r.PostFormValue("use") == "json" {
		text := cmp.Or(strings.TrimSpace(r.PostFormValue("arguments")), "{}")
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &object); err != nil || object == nil {
			return visible([]byte(text)), f.fill(nil), fmt.Errorf("The arguments must be a JSON object: %w", cmp.Or(err, errors.New("they are null"))) //nolint:staticcheck // a sentence of a page
		}
		return visible([]byte(text)), f.fill(json.RawMessage(text)), nil
	}
	fields = slices.Clone(f.fields)
	b := []byte{'{'}
	wrong := 0
	for i := range fields {
		field := &fields[i]
		field.Value = strings.ReplaceAll(r.PostFormValue(field.Input), "\r\n", "\n")
		if field.Value == "" {
			continue
		}
		value, problem := field.parse()
		if field.Problem = problem; problem != "" {
			wrong++
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(field.Name)
		b = append(append(append(b, name...), ':'), value...)
	}
	b = append(b, '}')
	if wrong > 0 {
		return visible(b), fields, errors.New("Nothing was sent: correct the marked fields.") //nolint:staticcheck // a sentence of a page
	}
	return visible(b), fields, nil
}

// visible returns a JSON text with escapes for characters that nobody sees. Pages are cleaned of these: the operator sees what is
// sent, and a form that repeats the arguments has all of them.
func visible(text []byte) json.RawMessage {
	seen := make([]byte, 0, len(text))
	for _, r := range string(text) {
		if r < ' ' || !unseen.Is(r) { // control characters are white space, or an error
			seen = utf8.AppendRune(seen, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			seen = fmt.Appendf(seen, `\u%04x`, unit)
		}
	}
	return seen
}

// jsonNumber is the grammar of numbers of RFC 8259.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// parse returns the JSON value that was entered, or what is wrong with it. Whether it fits the schema is for the call to say.
func (f *tryField) parse() (value json.RawMessage, problem string) {
	switch f.Kind {
	case fieldText:
		value, _ = json.Marshal(f.Value)
		return value, ""
	case fieldNumber, fieldInteger:
		text := strings.TrimSpace(f.Value)
		if !jsonNumber.MatchString(text) {
			return nil, "This is not a number."
		}
		return json.RawMessage(text), ""
	case fieldChoice:
		if !slices.ContainsFunc(f.Options, func(o tryOption) bool { return o.Value == f.Value }) {
			return nil, "This is none of the values."
		}
		return json.RawMessage(f.Value), ""
	case fieldJSON:
	}
	if !json.Valid([]byte(f.Value)) {
		return nil, `This is not JSON. A text is written in quotes: "text".`
	}
	return json.RawMessage(f.Value), ""
}
