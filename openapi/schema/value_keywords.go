package schema

import (
	"bytes"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema/ecmaregexp"
	"drawbridge/openapi/text"
	"drawbridge/openapi/tree"
)

func (e *emitter) refuse(v *tree.Node, keyword string) {
	e.warnf(v, CodeSchemaKeyword, "%s can't have the value %s; it is left out", keyword, excerpt(v))
}

// excerpt is the start of a value, for messages.
func excerpt(v *tree.Node) string { return text.TruncateWords(string(v.AppendJSON(nil)), 60) }

// typeKeyword writes "type".
func (e *emitter) typeKeyword(set types) {
	e.member("type")
	names := set.names()
	if len(names) == 1 {
		e.raw(`"` + names[0] + `"`)
		return
	}
	e.names(names)
}

// description writes the description of a schema: its owner's words and its own, where each says something, what its discriminator
// and its enum say, and the owner's note.
func (e *emitter) description(n *tree.Node, raw string, at place) {
	note := ""
	limit := maxDescription
	if e.cut.short {
		limit = maxShortText
	}
	raw = at.said(Prose(raw, limit))
	if x := at.extra; x != nil {
		note = x.note
		raw = text.TruncateWords(together(at.said(Prose(x.description, limit)), raw), limit)
	}
	kinds := ""
	if !at.base {
		kinds = e.c.discriminator(n)
	}
	for _, sentence := range []string{kinds, meanings(n, raw), note} {
		raw = joined(raw, sentence)
	}
	if raw != "" {
		e.member("description")
		e.out = jsonscan.AppendString(e.out, raw)
	}
}

// said returns the text of a description, "" if that only repeats the name of what it describes.
func (at place) said(text string) string {
	wire := ""
	if at.extra != nil {
		wire = at.extra.wire
	}
	if len(text) > 2*max(len(at.name), len(wire))+10 { // words, an article and signs
		return text
	}
	bare := text
	for _, article := range []string{"the ", "a ", "an "} {
		if len(bare) > len(article) && strings.EqualFold(bare[:len(article)], article) {
			bare = bare[len(article):]
		}
	}
	if sameWords(bare, at.name) || sameWords(bare, wire) {
		return ""
	}
	return text
}

// together returns what the owner of a schema says, and what it says itself, as one text.
func together(owner, own string) string {
	switch said, more := letters(owner), letters(own); {
	case own == "" || strings.Contains(said, more):
		return owner
	case owner == "" || strings.Contains(more, said):
		return own
	case strings.Contains(owner+own, "\n"):
		return owner + "\n\n" + own // lists and tables end with their line
	}
	return joined(owner, own)
}

// joined returns a text with one more sentence.
func joined(text, sentence string) string {
	switch last, _ := utf8.DecodeLastRuneInString(text); {
	case sentence == "":
		return text
	case text == "":
		return sentence
	case unicode.IsLetter(last) || unicode.IsDigit(last):
		return text + ". " + sentence
	default:
		return text + " " + sentence
	}
}

// text writes a keyword whose value is a text that nobody acts on.
func (e *emitter) text(name string, v *tree.Node, limit int) {
	if v.Kind() == tree.String {
		if s := Prose(v.Text(), limit); s != "" {
			e.member(name)
			e.out = jsonscan.AppendString(e.out, s)
		}
		return
	}
	e.refuse(v, name)
}

// sameWords reports whether a title says no more than the property's name: "Order Id" of orderId.
func sameWords(title, name string) bool {
	return name != "" && letters(title) == letters(name)
}

// letters returns the letters and digits of a text, all of them small.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// examples writes the values of "examples", and reports whether there was one that is short and clean. From one that is
// not nothing can be kept, so there is no warning: it is a matter of space. own is what the owner of the schema gives, nil
// if nothing: it comes first, and verify takes the others back if it fits.
func (e *emitter) examples(v *tree.Node, r rule, set types, own *tree.Node, x *extra) bool {
	start, shown := len(e.out), len(e.shown)
	e.member("examples")
	e.raw("[")
	count := 0
	add := func(v *tree.Node) {
		if v != nil && count < 3 && presentable(v, maxExample) {
			value, ok := x.accepts(literal(v, set))
			if !ok {
				return
			}
			if count > 0 {
				e.raw(",")
			}
			from := len(e.out)
			e.out = append(e.out, value...)
			e.shown = append(e.shown, shownValue{node: v, from: from, to: len(e.out), member: start, wins: v == own})
			count++
		}
	}
	add(own)
	if r == examplesRule {
		for _, item := range v.Items() {
			add(item)
		}
	} else {
		add(v)
	}
	if count == 0 {
		e.out = e.out[:start]
		return false
	}
	e.raw("]")
	for i := range e.shown[shown:] {
		e.shown[shown+i].end = len(e.out)
	}
	return true
}

const (
	maxExample    = 200
	maxValueDepth = 20
)

// Presentable reports whether a value of a document can be shown to a model as it is: it has no hidden characters (S8), no
// numbers that can only be meant to do harm, and takes at most limit bytes of JSON.
func Presentable(v *tree.Node, limit int) bool {
	return v.Kind() != tree.Invalid && presentable(v, limit)
}

// presentable reports whether a value from the document can be shown as it is: no hidden characters, no numbers that can
// only be meant to do harm, and at most limit bytes of JSON.
func presentable(v *tree.Node, limit int) bool {
	left := limit
	return presentableValue(v, &left, 0)
}

func presentableValue(v *tree.Node, left *int, depth int) bool {
	*left -= len(v.Text()) + len(v.Key()) + 3
	if *left < 0 || depth > maxValueDepth {
		return false
	}
	switch v.Kind() {
	case tree.String:
		return !unclean(v.Text())
	case tree.Number:
		return saneNumber(v.Text())
	case tree.Array:
		for _, item := range v.Items() {
			if !presentableValue(item, left, depth+1) {
				return false
			}
		}
	case tree.Object:
		for name, item := range v.Members() {
			if unclean(name) || !presentableValue(item, left, depth+1) {
				return false
			}
		}
	}
	return true
}

// literal returns v as JSON of one of the types, if it can be read so: documents write "10" as the default of an
// integer, and YAML makes numbers of version names and booleans of "on".
func literal(v *tree.Node, set types) []byte {
	if set == 0 || v.Kind() == tree.Null {
		return v.AppendJSON(nil)
	}
	own := typeOfValue(v)
	text := v.Text()
	switch {
	case own&set != 0, own == numberType && set&integerType != 0:
	case own&(numberType|booleanType) != 0 && set&stringType != 0:
		return jsonscan.AppendString(nil, text)
	case own == stringType && set&(numberType|integerType) != 0 && saneNumber(text):
		return []byte(text)
	case own == stringType && set&booleanType != 0 && (text == "true" || text == "false"):
		return []byte(text)
	}
	return v.AppendJSON(nil)
}

// value writes const or default.
func (e *emitter) value(name string, v *tree.Node, f *schemaFacts) {
	if !presentable(v, maxValueText) {
		e.warnf(v, CodeSchemaText, "%s holds hidden characters or is too long; it is left out", name)
		return
	}
	start := len(e.out)
	e.member(name)
	from := len(e.out)
	e.out = append(e.out, literal(v, f.types)...)
	if name == "default" {
		e.shown = append(e.shown, shownValue{node: v, from: from, to: len(e.out), member: start, end: len(e.out)})
	}
}

// longEnum is how many values of an enum make it worth keeping: thousands of operations may have it in common, and it is
// written for each of them, several times when it has to be reduced.
const longEnum = 256

// enumKey is all that the text of an enum depends on.
type enumKey struct {
	node *tree.Node
	set  types
	null bool
	none bool // null is left out
}

// values writes enum, every value once.
func (e *emitter) values(v *tree.Node, f *schemaFacts) {
	if v.Kind() != tree.Array {
		e.refuse(v, "enum")
		return
	}
	set := f.types
	if f.misplaced != nil {
		set = 0
	}
	start := len(e.out)
	e.member("enum")
	from, key := len(e.out), enumKey{v, set, f.addNull, f.noNull}
	if v.Len() > longEnum {
		if known, ok := e.c.enums.Load(key); ok {
			if text, ok := known.([]byte); ok {
				e.out = append(e.out, text...)
				return
			}
		}
	}
	e.raw("[")
	seen := make(map[string]bool, min(v.Len(), 1000))
	null := false
	add := func(value []byte) {
		key := canonical(value)
		if seen[key] {
			return
		}
		if len(seen) > 0 {
			e.raw(",")
		}
		seen[key] = true
		e.out = append(e.out, value...)
	}
	for _, item := range v.Items() {
		e.step()
		if len(e.out)-start > 2*e.c.limits.MaxBytes {
			break // it fits nowhere any more, and is not used
		}
		if !presentable(item, maxValueText) {
			e.warnf(item, CodeSchemaText, "the value holds hidden characters or is too long; it is left out of enum")
			continue
		}
		if f.noNull && item.Kind() == tree.Null {
			continue
		}
		null = null || item.Kind() == tree.Null
		add(literal(item, set))
	}
	if len(seen) == 0 {
		e.out = e.out[:start]
		return
	}
	if f.addNull && !null {
		add([]byte("null"))
	}
	e.raw("]")
	if v.Len() > longEnum {
		e.c.enums.Store(key, bytes.Clone(e.out[from:]))
	}
}

// canonical makes equal numbers equal texts, so that 1 and 1.0 count as one value. Numbers that can't be worked with are their texts.
func canonical(value []byte) string {
	if c := value[0]; (c == '-' || c >= '0' && c <= '9') && saneNumber(string(value)) {
		if r, ok := new(big.Rat).SetString(string(value)); ok {
			return r.RatString()
		}
	}
	return string(value)
}

// numeric returns the number that a keyword's value stands for.
func numeric(v *tree.Node) (string, bool) {
	text := v.Text()
	if v.Kind() != tree.Number && v.Kind() != tree.String || !saneNumber(text) {
		return "", false
	}
	return text, true
}

// number writes minimum, maximum and their like with every digit, multipleOf only if it is above zero.
func (e *emitter) number(name string, v *tree.Node, positive bool) {
	text, ok := numeric(v)
	if ok && positive {
		r, _ := new(big.Rat).SetString(text)
		ok = r.Sign() > 0
	}
	if !ok {
		e.refuse(v, name)
		return
	}
	e.member(name)
	e.raw(text)
}

// count writes minLength and its like: a whole number, however it is written.
func (e *emitter) count(name string, v *tree.Node) {
	text, ok := numeric(v)
	if ok && !isPlainCount(text) {
		r, _ := new(big.Rat).SetString(text)
		ok = r.Sign() >= 0 && r.IsInt()
		text = r.RatString()
	}
	if ok && len(text) > 15 { // more than any text or list has: as a bound from above it bounds nothing
		if strings.HasPrefix(name, "max") {
			return
		}
		ok = false
	}
	if !ok {
		e.refuse(v, name)
		return
	}
	e.member(name)
	e.raw(text)
}

// isPlainCount reports whether a number is written as nearly all are: digits, as few as there can be.
func isPlainCount(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text == "0" || text != "" && text[0] != '0'
}

// pattern writes a regular expression that JavaScript understands.
func (e *emitter) pattern(v *tree.Node) {
	raw := v.Text()
	if v.Kind() != tree.String || unclean(raw) {
		e.refuse(v, "pattern")
		return
	}
	p, err := ecmaregexp.Parse(raw)
	if err != nil {
		e.warnf(v, CodeSchemaPattern, "the regular expression %q can't be used in JavaScript: %v; it is left out", text.TruncateWords(raw, 60), err)
		return
	}
	if p.JavaScript == "" {
		return
	}
	if p.RE2 == "" {
		e.warnf(v, CodeSchemaRE2, "the regular expression %q is shown to clients but not checked here", text.TruncateWords(raw, 60))
	}
	e.member("pattern")
	e.out = jsonscan.AppendString(e.out, p.JavaScript)
}
