package typescript

import (
	"bytes"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// A type in one line is written for a room, which is a length in bytes. With room for nothing, an object has the names of the members that
// are required or that the query mentions; with more, those of the others, then the types of all. closed is the room of an object of which
// not even that is shown: it is {…}.
const closed = -1

// memberType returns the type of a member.
func (s *signature) memberType(m jsonschema.Member, room int) string {
	all := s.types(m.Schema, m.Name, room)
	if s.options.NullIsAbsent && !m.Required && len(all) > 1 {
		all = slices.DeleteFunc(all, func(one string) bool { return one == "null" })
	}
	return strings.Join(all, "|")
}

// types returns the types of the value of an argument or member of that name, at least one.
func (s *signature) types(schema *jsonschema.Schema, name string, room int) []string {
	schema = schema.Resolve()
	if s.written++; schema == nil || s.written > maxTypes || slices.Contains(s.open, schema) {
		return []string{"any"}
	}
	s.open = append(s.open, schema)
	defer func() { s.open = s.open[:len(s.open)-1] }()
	sh := s.shape(schema)
	switch {
	case sh.literal != nil:
		return []string{literal(sh.literal, "any")}
	case sh.enum != nil:
		if values := s.enum(sh.enum, room); values != nil {
			return values
		}
	case len(s.open) > 2*maxDepth && (sh.alternatives != nil || sh.is("array")):
		return []string{"any"}
	case sh.alternatives != nil:
		return s.union(sh.alternatives, name, room)
	}
	if len(sh.kinds) == 0 { // also of an enum that is not shown
		return []string{"any"}
	}
	all := make([]string, len(sh.kinds))
	for i, kind := range sh.kinds {
		switch kind {
		case "array":
			all[i] = arrayOf(s.types(sh.items, name, max(room-len("[]"), min(room, 0))))
		case "object":
			all[i] = s.object(sh, room)
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
func (s *signature) object(sh *shape, room int) string {
	if len(sh.members) == 0 {
		if sh.values != nil && len(s.open) <= maxDepth {
			return "{[key]: " + strings.Join(s.types(sh.values, "", max(room-len("{[key]: }"), min(room, 0))), "|") + "}"
		}
		return "object"
	}
	if s.opened++; room == closed || s.opened > maxOpened || len(s.open) > 2*maxDepth {
		return "{…}"
	}
	o := s.newObject(sh, room)
	o.showMentioned()
	o.name()
	o.fill()
	return o.String()
}

// object is the type of an object in the making.
type object struct {
	signature *signature
	shape     *shape
	members   []*part
	room      int
}

// part is a member of an object.
type part struct {
	jsonschema.Member
	text      string // "" if it is left out
	mentioned bool   // by the query, or one below it is
	typed     bool
}

func (s *signature) newObject(sh *shape, room int) *object {
	o := &object{signature: s, shape: sh, room: room - len("{}")}
	choice := s.choice
	s.choice = false
	for _, m := range ordered(sh.members) {
		p := &part{Member: m, mentioned: s.mentions(m.Name) || s.holdsMentioned(m.Schema, mentionDepth)}
		switch {
		case choice && sh.constant(m.Name) != nil: // tells the object from its alternatives
			p.text, p.typed = memberText(m)+": "+literal(sh.constant(m.Name), "any"), true
		case m.Required:
			p.text = memberText(m) + s.required(m)
		case p.mentioned, slices.ContainsFunc(sh.either, func(names []string) bool { return len(names) <= maxUnion && slices.Contains(names, m.Name) }):
			p.text = memberText(m)
		}
		if p.text != "" {
			o.room -= len(p.text) + len(", ")
		}
		o.members = append(o.members, p)
	}
	return o
}

// required returns the type of a required member if it is an object or a list of objects with required members, whose names are as
// necessary as its own; "" for any other.
func (s *signature) required(m jsonschema.Member) string {
	if len(s.open) > mentionDepth {
		return ""
	}
	if text := s.memberType(m, 0); strings.Contains(text, "{") && !strings.Contains(text, "{…}") && !strings.HasPrefix(text, "{[") {
		return ": " + text
	}
	return ""
}

// name names the members as far as there is room.
func (o *object) name() {
	for _, p := range o.members {
		if text := memberText(p.Member); p.text == "" && len(text)+len(", ") <= o.room {
			p.text = text
			o.room -= len(text) + len(", ")
		}
	}
}

// showMentioned gives the members that the query mentions their types.
func (o *object) showMentioned() {
	for _, p := range o.members {
		if p.mentioned && !p.typed {
			o.show(p, max(o.room, 0), true)
		}
	}
}

// fill gives the other members their types: first those that are no objects.
func (o *object) fill() {
	for _, p := range o.members {
		if p.text != "" && !p.typed && o.room > 0 {
			o.show(p, closed, false)
		}
	}
	left := 0
	for _, p := range o.members {
		if p.text != "" && !p.typed {
			left++
		}
	}
	for _, p := range o.members {
		if p.text != "" && !p.typed && o.room > 0 {
			o.show(p, len(p.text)-len(memberText(p.Member))+2*o.room/(left+1), false)
			left--
		}
	}
}

// leastMentioned is the length of a member that the query mentions, with its type, however little room there is.
const leastMentioned = 60

// show gives a member its type, if there is room or it must have one. Without room for its members, an object has no type.
func (o *object) show(p *part, room int, must bool) {
	text := memberText(p.Member) + ": " + o.signature.memberType(p.Member, room)
	if more := len(text) - len(p.text); (must && len(text) <= leastMentioned || more <= o.room) && !strings.Contains(text, "{…}") {
		o.room -= more
		p.text, p.typed = text, true
	}
}

// String returns the type. It is {…} if no member is shown.
func (o *object) String() string {
	var texts []string
	for _, p := range o.members {
		if p.text != "" {
			texts = append(texts, p.text)
		}
	}
	if len(texts) < len(o.members) {
		texts = append(texts, "…")
	}
	text := strings.Join(texts, ", ")
	if len(o.shape.either) > 0 {
		comment, _ := eitherText(o.shape.either)
		text += " /* " + comment + " */"
	}
	return "{" + text + "}"
}

// mentionDepth is how many levels below an argument a member is looked for that the query mentions.
const mentionDepth = 4

// mentionAt is a schema in which a member is looked for, in so many levels.
type mentionAt struct {
	schema *jsonschema.Schema
	depth  int
}

// holdsMentioned reports whether an object or a list has a member below it that the query mentions. Each schema is searched once: lists and
// alternatives are no levels, and may hold themselves.
func (s *signature) holdsMentioned(schema *jsonschema.Schema, depth int) bool {
	if schema = schema.Resolve(); len(s.query) == 0 || depth == 0 || schema == nil || slices.Contains(s.open, schema) {
		return false
	}
	at := mentionAt{schema, depth}
	holds, known := s.below[at]
	if !known {
		s.below[at] = false // also while it is searched
		holds = s.searchMentioned(schema, depth)
		s.below[at] = holds
	}
	return holds
}

func (s *signature) searchMentioned(schema *jsonschema.Schema, depth int) bool {
	sh := s.shape(schema)
	if sh.items != nil {
		return s.holdsMentioned(sh.items, depth)
	}
	if len(sh.alternatives) <= maxUnion && slices.ContainsFunc(sh.alternatives, func(a *jsonschema.Schema) bool { return s.holdsMentioned(a, depth) }) {
		return true
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

// alternative is one of several types of a value.
type alternative struct {
	schema *jsonschema.Schema
	types  []string
	text   string // the types
}

func (a *alternative) isObject() bool { return strings.Contains(a.text, "{") }

// union returns the types of a value that fits one of several schemas.
func (s *signature) union(list []*jsonschema.Schema, name string, room int) []string {
	var all []*alternative
	more := []string(nil)
	for _, schema := range list {
		a := &alternative{schema: schema}
		a.write(s, name, closed, false)
		if slices.ContainsFunc(all, func(b *alternative) bool { return a.text == b.text && (room == closed || !a.isObject()) }) {
			continue
		}
		if len(all) == maxUnion {
			more = []string{"…"}
			break
		}
		all = append(all, a)
	}
	s.openAlternatives(all, name, room)
	var types []string
	for _, a := range all {
		if len(all) == 1 {
			return a.types
		}
		if !slices.Contains(types, a.text) {
			types = append(types, a.text)
		}
	}
	return append(types, more...)
}

// openAlternatives opens the objects among alternatives.
func (s *signature) openAlternatives(all []*alternative, name string, room int) {
	if room == closed {
		return
	}
	objects := 0
	for _, a := range all {
		room -= len(a.text) + len("|")
		if a.isObject() {
			objects++
		}
	}
	several := objects > 1
	for _, a := range all {
		if !a.isObject() {
			continue
		}
		before := len(a.text)
		a.write(s, name, max(before+2*room/(objects+1), 0), several)
		room -= len(a.text) - before
		objects--
	}
}

// write writes the types for a room. several reports whether others are objects too.
func (a *alternative) write(s *signature, name string, room int, several bool) {
	s.choice = several
	a.types = s.types(a.schema, name, room)
	s.choice = false
	a.text = strings.Join(a.types, "|")
}

// enum returns the values of an enum, those that the query mentions first, as far as there is room, or nil if they are too long to be shown.
func (s *signature) enum(list [][]byte, room int) []string {
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
	all := slices.Concat(first, rest)
	shown, length := 0, 0
	for shown < min(len(all), maxEnum) && (shown == 0 || length+len(all[shown]) <= max(room, leastEnum)) {
		length += len(all[shown]) + len("|")
		shown++
	}
	if all = all[:shown]; shown < len(list) {
		all = append(all, "…")
	}
	return all
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
