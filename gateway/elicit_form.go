package gateway

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"drawbridge/openapi/jsonscan"
)

// form is what a user fills in: an object of fields, each a text, a number, a yes or no, or a choice (2025-11-25 elicitation,
// Requested Schema). It is immutable.
type form struct {
	fields []field
	// written is the schema as the configuration has it; nil: it is made of the fields.
	written []byte
}

// field is one field of a form.
type field struct {
	name               string
	kind               fieldKind
	title, description string
	format             string // of a text
	least, most        string // numbers, or lengths, or counts of choices; "" is no bound
	options            []option
	preset             []byte // the default as JSON; nil: none
	required           bool
	password           bool // the format says that it is a secret
}

// option is what can be chosen.
type option struct{ value, title string }

type fieldKind uint8

const (
	fieldText fieldKind = iota
	fieldNumber
	fieldInteger
	fieldBoolean
	fieldChoice
	fieldChoices // several of the options
)

// Bounds of what a user is shown.
const (
	maxFields      = 20
	maxOptions     = 200
	maxFieldTitle  = 100 // bytes
	maxFieldText   = 500
	maxFieldNested = 6 // references and compositions that stand for one schema
)

// formats are those that a text of a form may have.
func formats() []string { return []string{"email", "uri", "date", "date-time"} }

// errNoField tells that no form can ask for a value.
var errNoField = errors.New("it is not a text, a number, true or false, or a choice of texts or numbers, and a form has nothing else")

// fieldOf makes a field for values of a schema, whose references lead into the $defs of root. What a form can't say of
// values is left out: it is checked when they are there.
func fieldOf(root []byte, name string, schema []byte, required bool) (field, error) {
	f := field{name: name, required: required}
	s := keywords{root: root, values: map[string][]byte{}}
	if !s.read(schema, 0) {
		return f, errNoField
	}
	f.title, f.description = shownText(s.text("title"), maxFieldTitle), shownText(s.text("description"), maxFieldText)
	f.format = s.text("format")
	f.password = f.format == "password"
	if f.options = s.options(); f.options != nil {
		f.kind = fieldChoice
	} else if err := f.typed(&s); err != nil {
		return f, err
	}
	f.bounds(&s)
	f.preset = f.fitting(s.values["default"])
	return f, nil
}

// typed finds the kind by the type.
func (f *field) typed(s *keywords) error {
	switch s.kind() {
	case "string":
		if s.values["contentEncoding"] != nil || s.values["contentMediaType"] != nil || f.format == "binary" || f.format == "byte" {
			return errors.New("it is a file or binary, which no form can ask for")
		}
		f.kind = fieldText
	case "number":
		f.kind = fieldNumber
	case "integer":
		f.kind = fieldInteger
	case "boolean":
		f.kind = fieldBoolean
	case "array":
		items := keywords{root: s.root, values: map[string][]byte{}}
		if !items.read(s.values["items"], 0) {
			return errNoField
		}
		if f.options = items.options(); f.options == nil {
			return errors.New("it is a list of what is not chosen from texts or numbers, and a form has no other lists")
		}
		f.kind = fieldChoices
	default:
		return errNoField
	}
	return nil
}

// bounds reads those that a form can have.
func (f *field) bounds(s *keywords) {
	count := func(key string) string {
		if n, err := strconv.ParseUint(string(s.values[key]), 10, 31); err == nil {
			return strconv.FormatUint(n, 10)
		}
		return ""
	}
	number := func(key string) string {
		if jsonscan.KindOf(s.values[key]) == jsonscan.Number {
			return string(s.values[key])
		}
		return ""
	}
	if f.kind != fieldText || !slices.Contains(formats(), f.format) {
		f.format = ""
	}
	switch f.kind {
	case fieldText:
		f.least, f.most = count("minLength"), count("maxLength")
	case fieldNumber, fieldInteger:
		f.least, f.most = number("minimum"), number("maximum")
	case fieldChoices:
		f.least, f.most = count("minItems"), count("maxItems")
	case fieldBoolean, fieldChoice:
	}
}

// fitting returns a default as the field can have it, nil if it can't.
func (f *field) fitting(value []byte) []byte {
	kind := jsonscan.KindOf(value)
	switch {
	case f.kind == fieldText && kind == jsonscan.String, f.kind == fieldNumber && kind == jsonscan.Number,
		f.kind == fieldBoolean && (string(value) == "true" || string(value) == "false"):
		return value
	case f.kind == fieldInteger:
		if _, err := strconv.ParseInt(string(value), 10, 64); err == nil {
			return value
		}
	case f.kind == fieldChoice:
		if text, ok := optionText(value); ok && f.has(text) {
			return jsonscan.AppendString(nil, text)
		}
	case f.kind == fieldChoices && kind == jsonscan.Array:
		dst := []byte{'['}
		for item := range jsonscan.Elements(value) {
			text, ok := optionText(item)
			if !ok || !f.has(text) {
				return nil
			}
			if len(dst) > 1 {
				dst = append(dst, ',')
			}
			dst = jsonscan.AppendString(dst, text)
		}
		return append(dst, ']')
	}
	return nil
}

func (f *field) has(value string) bool {
	return slices.ContainsFunc(f.options, func(o option) bool { return o.value == value })
}

// keywords are those of a schema and of what it refers to and is made of, as far as that is one schema.
type keywords struct {
	root   []byte
	values map[string][]byte
}

// read takes the keywords of a schema that were not said before; false if there is more than one way to be valid.
func (s *keywords) read(schema []byte, depth int) bool {
	if jsonscan.KindOf(schema) != jsonscan.Object || depth > maxFieldNested {
		return false
	}
	for key, value := range jsonscan.Members(schema) {
		if _, said := s.values[string(key)]; !said {
			s.values[string(key)] = value
		}
	}
	if ref := jsonscan.Lookup(schema, "$ref"); ref != nil {
		name, ok := strings.CutPrefix(string(jsonscan.Unquote(ref)), "#/$defs/")
		if !ok || !s.read(jsonscan.Lookup(jsonscan.Lookup(s.root, "$defs"), name), depth+1) {
			return false
		}
	}
	for part := range jsonscan.Elements(jsonscan.Lookup(schema, "allOf")) {
		if !s.read(part, depth+1) {
			return false
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		list := jsonscan.Lookup(schema, key)
		if list == nil || isConstants(list) {
			continue
		}
		var only []byte
		for part := range jsonscan.Elements(list) {
			if string(jsonscan.Lookup(part, "type")) == `"null"` {
				continue
			}
			if only != nil {
				return false
			}
			only = part
		}
		if !s.read(only, depth+1) {
			return false
		}
	}
	return true
}

// isConstants tells a list of alternatives each of which is one value.
func isConstants(list []byte) bool {
	some := false
	for part := range jsonscan.Elements(list) {
		if jsonscan.Lookup(part, "const") == nil {
			return false
		}
		some = true
	}
	return some
}

func (s *keywords) text(key string) string {
	if value := s.values[key]; jsonscan.KindOf(value) == jsonscan.String {
		return string(jsonscan.Unquote(value))
	}
	return ""
}

// kind is the only type besides null, "" if there is none or more.
func (s *keywords) kind() (name string) {
	list := s.values["type"]
	if jsonscan.KindOf(list) == jsonscan.String {
		return s.text("type")
	}
	for item := range jsonscan.Elements(list) {
		switch text := string(jsonscan.Unquote(item)); {
		case text == "null":
		case name != "":
			return ""
		default:
			name = text
		}
	}
	return name
}

// options returns the values of an enumeration, nil if it is none, or if it has values that can't be shown as a choice.
func (s *keywords) options() (all []option) {
	add := func(value, title []byte) bool {
		text, ok := optionText(value)
		if !ok || len(all) == maxOptions {
			return string(value) == "null" && len(all) < maxOptions
		}
		o := option{value: text}
		if jsonscan.KindOf(title) == jsonscan.String {
			o.title = shownText(string(jsonscan.Unquote(title)), maxFieldTitle)
		}
		if !slices.ContainsFunc(all, func(known option) bool { return known.value == text }) {
			all = append(all, o)
		}
		return true
	}
	if constant := s.values["const"]; constant != nil {
		add(constant, nil)
		return all
	}
	for value := range jsonscan.Elements(s.values["enum"]) {
		if !add(value, nil) {
			return nil
		}
	}
	if all != nil {
		return all
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		if list := s.values[key]; isConstants(list) {
			for part := range jsonscan.Elements(list) {
				title := jsonscan.Lookup(part, "title")
				if title == nil {
					title = jsonscan.Lookup(part, "description")
				}
				if !add(jsonscan.Lookup(part, "const"), title) {
					return nil
				}
			}
			return all
		}
	}
	return nil
}

// optionText is a value of an enumeration as the form has it: a number becomes its text, and is a number again when the
// arguments are checked.
func optionText(value []byte) (string, bool) {
	kind := jsonscan.KindOf(value)
	if kind == jsonscan.String {
		return string(jsonscan.Unquote(value)), true
	}
	return string(value), kind == jsonscan.Number
}

// shownText makes a text of a document fit to be shown: one line, of what a person sees, and not too long.
func shownText(text string, limit int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || unseen(r) }), " ")
	if len(text) <= limit {
		return text
	}
	end := limit
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// formEra is what the forms of a revision can say.
type formEra uint8

const (
	formOld formEra = iota // 2025-06-18: no defaults but of true and false, no lists
	formNew                // 2025-11-25 and later
)

// errOldForm tells that a client's revision has no such forms.
var errOldForm = errors.New("the client's revision of the protocol has no choice of several values")

// schema returns the schema of the form with the fields that are wanted.
func (f *form) schema(era formEra, wanted func(name string) bool) ([]byte, error) {
	if f.written != nil && era == formNew {
		return f.written, nil
	}
	var required []byte
	dst := []byte(`{"type":"object","properties":{`)
	for i := range f.fields {
		field := &f.fields[i]
		if !wanted(field.name) {
			continue
		}
		if era == formOld && field.kind == fieldChoices {
			return nil, errOldForm
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(jsonscan.AppendString(dst, field.name), ':')
		dst = field.append(dst, era)
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
func (f *field) append(dst []byte, era formEra) []byte {
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
		plain("minLength", f.least)
		plain("maxLength", f.most)
	case fieldNumber, fieldInteger:
		plain("minimum", f.least)
		plain("maximum", f.most)
	case fieldChoice:
		dst = f.appendOptions(append(dst, ','), era, "oneOf")
	case fieldChoices:
		plain("minItems", f.least)
		plain("maxItems", f.most)
		dst = append(dst, `,"items":{`...)
		if !f.titled() {
			dst = append(dst, `"type":"string",`...)
		}
		dst = append(f.appendOptions(dst, era, "anyOf"), '}')
	case fieldBoolean:
	}
	if era == formNew || f.kind == fieldBoolean {
		plain("default", string(f.preset))
	}
	return append(dst, '}')
}

// titled tells that options are shown in other words than their values.
func (f *field) titled() bool {
	return slices.ContainsFunc(f.options, func(o option) bool { return o.title != "" })
}

// appendOptions appends the keyword that lists them.
func (f *field) appendOptions(dst []byte, era formEra, titled string) []byte {
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
	case era == formOld:
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

// secretName tells a name of a secret: a form shows what is typed, and the client and its model may keep it (mcp-E6).
func secretName(name string) bool {
	joined := " " + strings.Join(fieldWords(name), " ") + " "
	for _, word := range []string{"pwd", "secret", "token", "otp", "pin", "cvv", "cvc", "ssn"} {
		if strings.Contains(joined, " "+word+" ") {
			return true
		}
	}
	return secretWords(name)
}

// secretWords tells of words that speak of secrets wherever they stand, also within a longer one.
func secretWords(text string) bool {
	joined := strings.Join(fieldWords(text), "")
	for _, word := range []string{"password", "passwort", "passwd", "passphrase", "passcode", "contraseña", "motdepasse", "credential", "apikey", "privatekey",
		"accesskey", "secretkey", "clientsecret", "accesstoken", "refreshtoken", "authtoken", "bearertoken", "cardnumber", "creditcard", "seedphrase", "mfacode",
		"securitycode", "verificationcode"} {
		if strings.Contains(joined, word) {
			return true
		}
	}
	return false
}

// fieldWords returns the words of a name in lower case: apiKey, api_key and API-Key are two.
func fieldWords(name string) []string {
	var b bytes.Buffer
	var before rune
	for _, r := range name {
		if unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)) {
			b.WriteByte(' ')
		}
		if !unicode.IsLetter(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return strings.Fields(b.String())
}
