package typescript

import (
	"strconv"
	"strings"

	"drawbridge/openapi/jsonschema"
)

// A Function is a call that is declared.
type Function struct {
	Name    string
	Comment string             // what it does; its lines are kept
	Input   *jsonschema.Schema // of its arguments, an object
	Output  *jsonschema.Schema // of its answer; nil if nothing is known of it
}

// DeclareOptions say what [Declare] declares. Fits is required.
type DeclareOptions struct {
	// Answers declares the types of answers too. Without it an answer is shown in one line, as in a signature.
	Answers bool
	// Types are the names of types to be declared instead of the functions; none for the functions with all types.
	Types []string
	// Fits reports whether a text is not too long.
	Fits func(text string) bool
}

// Declarations are the text of [Declare] and what is not in it.
type Declarations struct {
	Text      string
	Left      []string // the types that are named in the text but not declared, for want of room
	Shortened bool     // a description, pattern or list of values was cut, or members are named without their types
	Unknown   []string // those of DeclareOptions.Types that no function has
	Known     []string // the types of all functions; set if there are unknown ones
}

// Declare returns functions as declarations of TypeScript with comments. A type that occurs more than once has a name and is declared
// once, whichever functions have it. If the text is too long, it has less detail: first its comments become shorter, then optional members
// lose their types, and at last types are named without their members.
//
// The types integer and base64, if used, are those of numbers and texts.
func Declare(functions []Function, o DeclareOptions) Declarations {
	shared := shareTypes(functions, o.Answers)
	var last Declarations
	for _, d := range declarationDetails {
		w := &declarer{detail: d, options: o, shared: shared, declared: map[string]bool{}, shapes: map[*jsonschema.Schema]*shape{}}
		last = w.declare(functions)
		if !w.over && o.Fits(last.Text) {
			return last
		}
	}
	return last
}

// maxDeclared is the length in bytes beyond which a text is never counted: it is too long.
const maxDeclared = 64 << 10

// declarationDetail is how much declarations show.
type declarationDetail struct {
	comment int // characters of a description; 0: none
	values  int // of an enum
	depth   int // levels of objects that are opened in one declaration; those below have the names of their members alone
	members int // optional members of an object with their types, and required ones, but 40 at least; the others are named
	types   int // that are declared; others are named
	about   int // characters of the comment of a function
}

// declarationDetails are tried one after the other, from the most detail to the least.
var declarationDetails = []declarationDetail{
	{comment: 300, values: 40, depth: 12, members: 1000, types: 1000, about: 1200},
	{comment: 120, values: 40, depth: 12, members: 1000, types: 1000, about: 800},
	{comment: 60, values: 20, depth: 8, members: 200, types: 200, about: 400},
	{comment: 60, values: 20, depth: 4, members: 200, types: 20, about: 400},
	{comment: 60, values: 12, depth: 3, members: 200, types: 10, about: 300},
	{comment: 60, values: 12, depth: 2, members: 200, types: 6, about: 300},
	{values: 12, depth: 3, members: 100, types: 6, about: 200},
	{values: 8, depth: 2, members: 100, types: 3, about: 200},
	{values: 8, depth: 1, members: 100, about: 120},
	{values: 8, depth: 1, members: 12, about: 120},
	{values: 4, depth: 1, about: 120},
	{values: 2, about: 60},
}

// declarer writes declarations in one detail.
type declarer struct {
	detail   declarationDetail
	options  DeclareOptions
	shared   *sharedTypes
	declared map[string]bool // types that are declared or wait for it
	queue    []*sharedType
	left     []string
	shapes   map[*jsonschema.Schema]*shape
	open     []*jsonschema.Schema
	merged   int
	written  int // bytes of types
	count    int // types
	cut      bool
	over     bool // there is too much to be written
	integers bool
	encoded  bool
}

// shape returns the shape of a schema.
func (w *declarer) shape(of *jsonschema.Schema) *shape {
	if known := w.shapes[of]; known != nil {
		return known
	}
	if w.merged > maxMergedOfDeclarations {
		w.over = true
		return anything
	}
	sh := shapeOf(of)
	w.merged += sh.merged.Count() + 1
	w.shapes[of] = sh
	return sh
}

// maxMergedOfDeclarations is the number of schemas that are merged for declarations. A hostile schema has more.
const maxMergedOfDeclarations = 100_000

// declare writes all declarations.
func (w *declarer) declare(functions []Function) Declarations {
	var result Declarations
	var b strings.Builder
	if len(w.options.Types) > 0 {
		for _, name := range w.options.Types {
			if t := w.shared.byName[name]; t != nil {
				w.enqueue(t)
				continue
			}
			result.Unknown = append(result.Unknown, name)
		}
		if len(result.Unknown) > 0 {
			result.Known = w.shared.names()
		}
	} else {
		for i := range functions {
			w.function(&b, &functions[i])
		}
	}
	asked := len(w.options.Types)
	for n := 0; n < len(w.queue) && !w.over; n++ {
		t := w.queue[n]
		if n >= w.detail.types+asked {
			w.left = append(w.left, t.name)
			continue
		}
		b.WriteString("type " + t.name + " = " + w.typeOf(t.schema, 0, w.detail.depth, true) + w.commentOf(t.schema) + "\n")
	}
	if len(w.left) > 0 {
		for _, name := range w.left {
			t := w.shared.byName[name]
			b.WriteString("type " + name + " = unknown // left out: " + w.names(w.shape(t.schema)) + "\n")
		}
	}
	text := b.String()
	if w.encoded {
		text = "type base64 = string\n" + text
	}
	if w.integers {
		text = "type integer = number\n" + text
	}
	result.Text, result.Left, result.Shortened = strings.TrimSpace(text), w.left, w.cut
	return result
}

// function writes the declaration of a function.
func (w *declarer) function(b *strings.Builder, f *Function) {
	if comment := w.shorten(f.Comment, w.detail.about); comment != "" {
		b.WriteString("/** " + inComment(comment) + " */\n")
	}
	b.WriteString("declare function " + f.declaredName() + "(args: " + w.typeOf(f.Input, 0, w.detail.depth+1, true) + ")")
	switch {
	case f.Output == nil:
	case w.options.Answers:
		b.WriteString(": " + w.typeOf(f.Output, 0, w.detail.depth, true))
	default:
		if answer := Answer(f.Output, 0); answer != "" {
			b.WriteString(" // → " + answer)
		}
	}
	b.WriteString("\n\n")
}

// declaredName returns the name of the function, quoted in a comment if it is no identifier.
func (f *Function) declaredName() string {
	if isIdentifier(f.Name) {
		return f.Name
	}
	return typeName(f.Name) + " /* " + f.Name + " */ "
}

// enqueue lets a type be declared.
func (w *declarer) enqueue(t *sharedType) {
	if !w.declared[t.name] {
		w.declared[t.name] = true
		w.queue = append(w.queue, t)
	}
}

// names returns the names of the members of an object, or what else a type is.
func (w *declarer) names(sh *shape) string {
	switch {
	case len(sh.members) > 0:
		return "{" + w.nameList(ordered(sh.members)) + "}"
	case len(sh.enum) > 0:
		return strconv.Itoa(len(sh.enum)) + " values"
	case len(sh.alternatives) > 0:
		return "one of " + strconv.Itoa(len(sh.alternatives)) + " types"
	}
	return strings.Join(sh.kinds, "|")
}

// nameList returns the names of members, as far as there is room.
func (w *declarer) nameList(members []jsonschema.Member) string {
	const most = 1200
	var b strings.Builder
	for i, m := range members {
		text := memberText(m)
		if b.Len()+len(text) > most {
			w.cut = true
			b.WriteString(", …+" + strconv.Itoa(len(members)-i))
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(text)
	}
	return b.String()
}
