package typescript

import (
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonschema"
)

// Limits of a signature, in bytes unless they say otherwise.
const (
	// argumentsLength is the length up to which arguments get their types, and objects among them their members, unless the options have
	// another. For required ones and the names of their required members, it is requiredLength more.
	argumentsLength, requiredLength = 400, 500
	// namesLength is the length up to which optional arguments are named, hardLength that for required ones. Beyond it they are counted.
	namesLength, hardLength = 1200, 4000
	// answerLength is the length beyond which members of the answer are left out, unless another is asked for.
	answerLength = 200
	// maxEnum is the number of values of an enum that are shown, leastEnum their length however little room there is.
	maxEnum, leastEnum = 8, 70
	// maxUnion is the number of alternatives that are shown.
	maxUnion = 4
	// maxLiteral is the length of a value beyond which an enum is shown by its type alone.
	maxLiteral = 40
	// maxName is the length beyond which a name is not compared with a query.
	maxName = 200
	// maxMerged is the number of schemas that are merged for one signature. A hostile schema has more; what is left is any.
	maxMerged = 4000
	// maxOpened is the number of objects that are opened for one signature, whether or not they are shown, and maxDepth that of objects in
	// each other.
	maxOpened, maxDepth = 2000, 6
	// maxTypes is the number of types that are written for one signature or for declarations, whether or not they are shown: alternatives
	// of lists of alternatives double with each level. What is left is any.
	maxTypes = 20_000
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

// Answer returns the members of an answer, of which output is the schema, in about length bytes, or 200 if that is 0; "" if nothing is known of
// it.
func Answer(output *jsonschema.Schema, length int) string {
	if length == 0 {
		length = answerLength
	}
	return newSignature(Options{}).answer(output, length)
}

func newSignature(o Options) *signature {
	return &signature{options: o, query: queryWords(o.Query), shapes: map[*jsonschema.Schema]*shape{}, below: map[mentionAt]bool{}}
}

// signature writes the types of schemas in one line.
type signature struct {
	options Options
	query   map[string]bool // words, singular
	shapes  map[*jsonschema.Schema]*shape
	below   map[mentionAt]bool // results of holdsMentioned
	merged  int
	opened  int
	written int
	open    []*jsonschema.Schema // that the one being written is in: one may hold itself
	choice  bool                 // the one being written is one of several objects
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

// argument is one argument of the root.
type argument struct {
	jsonschema.Member
	use  use
	text string
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
	slices.SortStableFunc(all, func(a, b *argument) int {
		if a.use == mentioned && b.use == mentioned {
			return len(words(b.Name)) - len(words(a.Name)) // "flow runs" means flow_runs rather than flows
		}
		return int(a.use) - int(b.use)
	})
	all, left := s.name(all)
	s.fill(all)
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

// fill gives the arguments their types. Required ones always get one; then there is room for those that the caller is likely to need, first
// closed, then opened.
func (s *signature) fill(all []*argument) {
	room := s.options.Length
	if room == 0 {
		room = argumentsLength
	}
	for _, a := range all {
		room -= len(a.text) + len(", ")
	}
	likely := slices.IndexFunc(all, func(a *argument) bool { return a.use > mentioned })
	if likely < 0 {
		likely = len(all)
	}
	for _, a := range all[:likely] {
		text := memberText(a.Member) + ": " + s.memberType(a.Member, 0)
		if len(text)-len(a.text) > room+requiredLength {
			text = memberText(a.Member) + ": " + s.memberType(a.Member, closed)
		}
		room -= len(text) - len(a.text)
		a.text = text
	}
	half := room / 2
	room += s.grow(all[:likely], half) - half
	for _, a := range all[likely:] {
		if text := memberText(a.Member) + ": " + s.memberType(a.Member, closed); len(text)-len(a.text) <= room {
			room -= len(text) - len(a.text)
			a.text = text
		}
	}
	s.grow(all, s.grow(all[:likely], room))
}

// grow opens the arguments in their order as far as there is room, and returns the room that is left. The first of those that are equally
// likely to be needed get more of it.
func (s *signature) grow(all []*argument, room int) int {
	for i, a := range all {
		if room <= 0 {
			break
		}
		share := room
		if a.use > chooses {
			share = 2 * room / (len(all) - i + 1)
		}
		known := len(a.text) - len(memberText(a.Member)) - len(": ")
		text := memberText(a.Member) + ": " + s.memberType(a.Member, max(known, 0)+share)
		if more := len(text) - len(a.text); more > 0 && more <= room {
			room -= more
			a.text = text
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
