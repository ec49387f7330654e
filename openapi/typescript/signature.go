package typescript

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// Limits of a signature, in bytes unless they say otherwise.
const (
	// argumentsLength is the length up to which arguments get their types, and objects among them their members.
	argumentsLength = 400
	// requiredLength is the length up to which required arguments get their types, and their objects the names of members that are required.
	requiredLength = 900
	// namesLength is the length up to which optional arguments are named, hardLength that for required ones. Beyond it they are counted.
	namesLength, hardLength = 1200, 4000
	// answerLength is the length beyond which members of the answer are left out.
	answerLength = 200
	// maxEnum is the number of values of an enum that are shown, maxUnion that of alternatives.
	maxEnum, maxUnion = 8, 4
	// maxLiteral is the length of a value beyond which an enum is shown by its type alone.
	maxLiteral = 40
	// maxName is the length beyond which a name is not compared with a query.
	maxName = 200
	// maxMerged is the number of schemas that are merged for one signature. A hostile schema has more; what is left is any.
	maxMerged = 4000
)

// Signature returns a call in one line: the arguments with their types, and the members of its answer, as [Arguments] and [Answer] return
// them.
//
//	getOrder(order_no: string, expand?: ("lines"|"customer")[]) → {order_no, status, lines[]{sku, quantity}}
func Signature(name, arguments, answer string) string {
	text := name + "(" + arguments + ")"
	if answer != "" {
		text += " → " + answer
	}
	return text
}

// Arguments returns the arguments of a call, of which input is the schema. Required ones always have their types; optional ones have them in
// the order of their use while there is room, and are named without type after that. An object that is not opened is {…}, one about whose
// members nothing is known is object.
func Arguments(input *jsonschema.Schema, o Options) string { return newSignature(o).arguments(input) }

// Answer returns the members of an answer, of which output is the schema; "" if nothing is known of it. They don't depend on [Options].
func Answer(output *jsonschema.Schema) string { return newSignature(Options{}).answer(output) }

func newSignature(o Options) *signature {
	return &signature{options: o, query: queryWords(o.Query), shapes: map[*jsonschema.Schema]*shape{}}
}

// signature writes the types of schemas in one line.
type signature struct {
	options Options
	query   map[string]bool // words, singular
	shapes  map[*jsonschema.Schema]*shape
	merged  int
	open    []*jsonschema.Schema // that the one being written is in: one may hold itself
}

// shape returns the shape of a schema.
func (s *signature) shape(of *jsonschema.Schema) *shape {
	if known := s.shapes[of]; known != nil {
		return known
	}
	if s.merged > maxMerged {
		return anything
	}
	sh := shapeOf(of)
	s.merged += sh.merged.Count() + 1
	s.shapes[of] = sh
	return sh
}

// detail is how much of a type is shown.
type detail int

const (
	nameOnly     detail = iota // not even the type
	closed                     // an object is {…}
	requiredOnly               // the names of the members that are required
	namesOnly                  // the names of all members
	typed                      // all members with their types, as closed
	nested                     // objects among them with the names of what is required
	deep                       // objects among them with their members
)

// argument is one argument of the root.
type argument struct {
	jsonschema.Member
	use    use
	detail detail
	text   string
}

// arguments writes the arguments.
func (s *signature) arguments(input *jsonschema.Schema) string {
	root := *s.shape(input)
	if root.alternatives != nil {
		root.object(input, root.alternatives) // its members are arguments, whichever alternative has them
	}
	all := make([]*argument, len(root.members))
	for i, m := range root.members {
		all[i] = &argument{Member: m, use: s.useOf(m)}
	}
	slices.SortStableFunc(all, func(a, b *argument) int { return int(a.use) - int(b.use) })
	all, left := s.name(all)
	room := argumentsLength
	for _, a := range all {
		room -= len(a.text) + len(", ")
	}
	s.raise(all, requiredOnly, mentioned, room+requiredLength-argumentsLength)
	room = argumentsLength
	for _, a := range all {
		room -= len(a.text) + len(", ")
	}
	for _, step := range []struct {
		detail detail
		up     use
	}{
		{typed, mentioned}, {closed, chooses}, {namesOnly, mentioned}, {closed, shared}, {typed, shared}, {deep, mentioned}, {nested, mentioned}, {deep, shared},
	} {
		room = s.raise(all, step.detail, step.up, room)
	}
	texts := make([]string, len(all), len(all)+1)
	for i, a := range all {
		texts[i] = a.text
	}
	if left > 0 {
		texts = append(texts, "…+"+strconv.Itoa(left))
	}
	text := strings.Join(texts, ", ")
	if len(root.either) > 0 {
		comment, _ := eitherText(root.either)
		text += " /* " + comment + " */"
	}
	return text
}

// name names the arguments, and returns those for which there is room, and the number of the others.
func (s *signature) name(all []*argument) (named []*argument, left int) {
	length := 0
	for _, a := range all {
		a.text = memberText(a.Member)
		limit := namesLength
		if a.use <= mentioned {
			limit = hardLength
		}
		if length += len(a.text) + len(", "); length > limit {
			left++
			length -= len(a.text) + len(", ")
			continue
		}
		named = append(named, a)
	}
	return named, left
}

// raise shows the arguments up to a use in more detail, as far as there is room, and returns the room that is left.
func (s *signature) raise(all []*argument, d detail, up use, room int) int {
	for _, a := range all {
		if a.use > up || a.detail >= d {
			continue
		}
		text := memberText(a.Member) + ": " + s.typeOf(a.Schema, a.Name, d)
		if more := len(text) - len(a.text); more <= room {
			a.detail, a.text = d, text
			room -= more
		} else if a.detail == nameOnly && a.use <= mentioned { // however little room there is
			a.detail, a.text = closed, memberText(a.Member)+": "+s.typeOf(a.Schema, a.Name, closed)
			room -= len(a.text)
		}
	}
	return room
}

// memberText returns the name of a member with its mark.
func memberText(m jsonschema.Member) string {
	if m.Required {
		return memberName(m.Name)
	}
	return memberName(m.Name) + "?"
}

// maxEither is the length in bytes of a comment with the groups of which a value must have one.
const maxEither = 300

// eitherText returns groups of members, of which a value must have one, as the text of a comment. No name ends the comment, and cut reports
// that there is no room for all of them.
func eitherText(groups [][]string) (comment string, cut bool) {
	var b strings.Builder
	for i, names := range groups {
		separator := ", or "
		for j, name := range names {
			if i == 0 && j == 0 {
				separator = ""
			}
			if name = memberName(name); b.Len()+len(separator)+len(name) > maxEither {
				return inComment(b.String()) + separator + "…", true
			}
			b.WriteString(separator + name)
			separator = " and "
		}
	}
	return inComment(b.String()), false
}

// typeOf returns the type of the value of an argument or member of that name.
func (s *signature) typeOf(schema *jsonschema.Schema, name string, d detail) string {
	return strings.Join(s.types(schema, name, d), "|")
}

// types returns the types that [signature.typeOf] joins, at least one.
func (s *signature) types(schema *jsonschema.Schema, name string, d detail) []string {
	if schema = schema.Resolve(); schema == nil || slices.Contains(s.open, schema) {
		return []string{"any"}
	}
	s.open = append(s.open, schema)
	defer func() { s.open = s.open[:len(s.open)-1] }()
	sh := s.shape(schema)
	switch {
	case sh.literal != nil:
		return []string{literal(sh.literal, "any")}
	case sh.enum != nil:
		if values := s.enum(sh.enum); values != nil {
			return values
		}
	case sh.alternatives != nil:
		return s.union(sh.alternatives, name, d)
	}
	if len(sh.kinds) == 0 {
		return []string{"any"}
	}
	all := make([]string, len(sh.kinds))
	for i, kind := range sh.kinds {
		switch kind {
		case "array":
			all[i] = arrayOf(s.types(sh.items, name, d))
		case "object":
			all[i] = s.object(sh, d)
		case "string":
			all[i] = textType(sh, name)
		default:
			all[i] = kind
		}
	}
	return all
}

// textType returns the type of a text.
func textType(sh *shape, name string) string {
	if format := sh.format(); format != "" {
		return format
	}
	if sh.isSegment() && saysSegment(name) {
		return "string(no /)"
	}
	return "string"
}

// object returns the type of an object.
func (s *signature) object(sh *shape, d detail) string {
	if len(sh.members) == 0 {
		if sh.values != nil && d >= closed {
			return "{[key]: " + s.typeOf(sh.values, "", d-1) + "}"
		}
		return "object"
	}
	var texts []string
	left := false
	for _, m := range ordered(sh.members) {
		switch hit := s.mentions(m.Name) || d <= requiredOnly && s.holdsMentioned(m.Schema, mentionDepth); {
		case hit:
			texts = append(texts, memberText(m)+": "+s.typeOf(m.Schema, m.Name, max(closed, d-2)))
		case d <= closed, d == requiredOnly && !m.Required:
			left = true
		case d <= namesOnly:
			if inner := s.opened(m); inner != "" {
				texts = append(texts, memberText(m)+": "+inner)
			} else {
				texts = append(texts, memberText(m))
			}
		default:
			texts = append(texts, memberText(m)+": "+s.typeOf(m.Schema, m.Name, max(closed, d-3+closed)))
		}
	}
	if left {
		texts = append(texts, "…")
	}
	if len(sh.either) > 0 && d > closed {
		comment, _ := eitherText(sh.either)
		return "{" + strings.Join(texts, ", ") + " /* " + comment + " */}"
	}
	return "{" + strings.Join(texts, ", ") + "}"
}

// opened returns the type of a required member that is an object or a list of objects with required members, "" for any other: those
// names are as necessary as its own.
func (s *signature) opened(m jsonschema.Member) string {
	if !m.Required || len(s.open) > mentionDepth {
		return ""
	}
	text := s.typeOf(m.Schema, m.Name, requiredOnly)
	if strings.ContainsAny(text, "{") && !strings.Contains(text, "{…}") && !strings.HasPrefix(text, "{[") {
		return text
	}
	return ""
}

// mentionDepth is how many levels below an argument a member is looked for that the query mentions.
const mentionDepth = 4

// holdsMentioned reports whether an object or a list has a member below it that the query mentions.
func (s *signature) holdsMentioned(schema *jsonschema.Schema, depth int) bool {
	if schema = schema.Resolve(); len(s.query) == 0 || depth == 0 || schema == nil || slices.Contains(s.open, schema) {
		return false
	}
	sh := s.shape(schema)
	if sh.items != nil {
		return s.holdsMentioned(sh.items, depth)
	}
	return slices.ContainsFunc(sh.members, func(m jsonschema.Member) bool {
		return s.mentions(m.Name) || s.holdsMentioned(m.Schema, depth-1)
	})
}

// ordered returns members with the required ones first.
func ordered(members []jsonschema.Member) []jsonschema.Member {
	all := slices.Clone(members)
	slices.SortStableFunc(all, func(a, b jsonschema.Member) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}
		return 1
	})
	return all
}

// union returns the types of a value that fits one of several schemas.
func (s *signature) union(list []*jsonschema.Schema, name string, d detail) []string {
	var all, first []string
	for _, alternative := range list {
		types := s.types(alternative, name, d)
		text := strings.Join(types, "|")
		switch {
		case slices.Contains(all, text):
			continue
		case len(all) == 0:
			first = types
		case len(all) == maxUnion:
			return append(all, "…")
		}
		all = append(all, text)
	}
	if len(all) == 1 {
		return first
	}
	return all
}

// enum returns the values of an enum, those that the query mentions first, or nil if they are too long to be shown.
func (s *signature) enum(list [][]byte) []string {
	var first, rest []string
	for _, value := range list {
		text := literal(value, "")
		switch {
		case text == "":
			return nil
		case len(list) > maxEnum && jsonscan.KindOf(value) == jsonscan.String && s.mentions(string(jsonscan.Unquote(value))):
			first = append(first, text)
		case len(rest) < maxEnum:
			rest = append(rest, text)
		}
	}
	shown := slices.Concat(first, rest)
	if shown = shown[:min(len(shown), maxEnum)]; len(shown) < len(list) {
		shown = append(shown, "…")
	}
	return shown
}

// literal returns a value as JSON, or otherwise if it is long.
func literal(value []byte, otherwise string) string {
	if value = bytes.TrimSpace(value); len(value) > maxLiteral {
		return otherwise
	}
	return string(value)
}

// arrayOf returns the type of an array whose items have one of the types.
func arrayOf(types []string) string {
	if len(types) > 1 {
		return "(" + strings.Join(types, "|") + ")[]"
	}
	return types[0] + "[]"
}
