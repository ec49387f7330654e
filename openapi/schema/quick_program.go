package schema

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/schema/ecmaregexp"
)

// check is a schema compiled for [quickValidator]: it takes a tenth of the memory of the library's form, so that the validators of a
// thousand tools can stay in memory.
type check struct {
	types  types // 0: any; as in typeName
	opaque bool  // there are keywords that only the library knows
	never  bool  // the schema false
	ref    *check
	values []any // enum, or the one value of const
	listed bool  // values are given

	object *objectCheck
	array  *arrayCheck
	text   *textCheck
	number *numberCheck
	parts  *partsCheck
}

type objectCheck struct {
	names       []string // of properties, sorted
	properties  []*check // beside names
	required    []string
	additional  *check // of members that are not declared; nil: anything
	unevaluated bool   // unevaluatedProperties is false
	least, most int
}

type arrayCheck struct {
	prefix      []*check
	items       *check // nil: anything
	unique      bool
	least, most int
}

type textCheck struct {
	least, most int
	pattern     *lazyPattern
}

// numberCheck holds bounds that are whole numbers; with any others the library is asked.
type numberCheck struct {
	least, most int64 // inclusive
	hard        bool  // there are keywords that the quick check can't do
	format      *integerFormat
}

// partsCheck is composition.
type partsCheck struct {
	all, any, one          []*check
	not, cond, then, other *check
}

// whole reads a limit; one that is no whole number is left to the library.
func (c *check) whole(value []byte, to *int) {
	n, err := strconv.Atoi(string(value))
	if err != nil {
		c.opaque = true
		return
	}
	*to = n
}

func (c *check) ofObjects() *objectCheck {
	if c.object == nil {
		c.object = &objectCheck{most: math.MaxInt}
	}
	return c.object
}

func (c *check) ofArrays() *arrayCheck {
	if c.array == nil {
		c.array = &arrayCheck{most: math.MaxInt}
	}
	return c.array
}

func (c *check) ofTexts() *textCheck {
	if c.text == nil {
		c.text = &textCheck{most: math.MaxInt}
	}
	return c.text
}

func (c *check) ofNumbers() *numberCheck {
	if c.number == nil {
		c.number = &numberCheck{least: math.MinInt64, most: math.MaxInt64}
	}
	return c.number
}

func (c *check) ofParts() *partsCheck {
	if c.parts == nil {
		c.parts = &partsCheck{}
	}
	return c.parts
}

// none reports whether there is no composition.
func (p *partsCheck) none() bool {
	return p.all == nil && p.any == nil && p.one == nil && p.not == nil && p.cond == nil
}

// programmer translates a schema. All that it does not know becomes opaque, so it has no errors.
type programmer struct {
	named map[string]*check // by the names of definitions
	plain map[types]*check  // checks of nothing but a type, shared
}

func newProgrammer() *programmer {
	return &programmer{named: map[string]*check{}, plain: map[types]*check{}}
}

func (p *programmer) check(s *jsonschema.Schema) *check {
	c := &check{}
	switch {
	case s.IsObject():
	case jsonscan.KindOf(s.Source()) == jsonscan.Bool:
		c.never = s.Never()
		return c
	default:
		c.opaque = true
		return c
	}
	p.fill(c, s)
	if bare := (check{types: c.types}); c.types != 0 && c.same(&bare) {
		if known := p.plain[c.types]; known != nil {
			return known
		}
		p.plain[c.types] = c
	}
	return c
}

// same reports whether a check is about the type only, like other.
func (c *check) same(other *check) bool {
	return c.types == other.types && !c.opaque && !c.never && c.ref == nil && !c.listed && c.object == nil && c.array == nil &&
		c.text == nil && c.number == nil && c.parts == nil
}

// anything reports whether every value passes.
func (c *check) anything() bool { return c.same(&check{}) }

// typesIn returns the types that a value of "type" allows; a number may be an integer. Words that are no types are left out.
func typesIn(k jsonschema.Keyword) types { return typesNamed(k.Texts()) }

func typesNamed(words []string) (set types) {
	for _, word := range words {
		kind, _ := typeName(word)
		if set |= kind; kind == numberType {
			set |= integerType
		}
	}
	return set
}

// allows reads the types.
func (c *check) allows(k jsonschema.Keyword) {
	c.types = typesIn(k)
	c.opaque = c.opaque || slices.ContainsFunc(k.Texts(), func(word string) bool { kind, _ := typeName(word); return kind == 0 })
}

// list sets the values that are allowed; with both enum and const the library is asked.
func (c *check) list(keyword string, value []byte) {
	c.opaque = c.opaque || c.listed
	c.listed = true
	if keyword == "const" {
		c.values = []any{decode(value)}
		return
	}
	for item := range jsonscan.Elements(value) {
		c.values = append(c.values, decode(item))
	}
}

// composite stands for an array or object among allowed values: the library compares those.
type composite struct{}

func decode(value []byte) any {
	switch jsonscan.KindOf(value) {
	case jsonscan.Null:
		return nil
	case jsonscan.Bool:
		return bytes.TrimSpace(value)[0] == 't'
	case jsonscan.Number:
		return json.Number(bytes.TrimSpace(value))
	case jsonscan.String:
		return string(jsonscan.Unquote(bytes.TrimSpace(value)))
	}
	return composite{}
}

func (p *programmer) ref(c *check, s *jsonschema.Schema) *check {
	name, target := s.Reference(), s.Target()
	if known := p.named[name]; known != nil {
		return known
	}
	if name == "" || !target.IsObject() {
		c.opaque = true
		return nil
	}
	to := &check{}
	p.named[name] = to // before it is filled: it may refer to itself
	p.fill(to, target)
	return to
}

func (p *programmer) list(parts []jsonschema.Part) []*check {
	var out []*check
	for _, part := range parts {
		out = append(out, p.check(part.Schema))
	}
	return out
}

func (p *programmer) properties(o *objectCheck, parts []jsonschema.Part) {
	for _, part := range parts {
		i, found := slices.BinarySearch(o.names, part.Name)
		if found {
			continue
		}
		o.names = slices.Insert(o.names, i, part.Name)
		o.properties = slices.Insert(o.properties, i, p.check(part.Schema))
	}
}

// bound takes in one bound; exclusive ones become inclusive, which for whole numbers is the same.
func (n *numberCheck) bound(keyword string, value []byte) {
	v, err := strconv.ParseInt(string(value), 10, 64)
	switch {
	case err != nil:
		n.hard = true
	case keyword == "minimum":
		n.least = max(n.least, v)
	case keyword == "maximum":
		n.most = min(n.most, v)
	case keyword == "exclusiveMinimum" && v < math.MaxInt64:
		n.least = max(n.least, v+1)
	case keyword == "exclusiveMaximum" && v > math.MinInt64:
		n.most = min(n.most, v-1)
	default:
		n.hard = true
	}
}

// fill adds the keywords of a schema to its check. A keyword that none of the groups knows makes the check opaque.
func (p *programmer) fill(c *check, s *jsonschema.Schema) {
	for _, k := range s.Keywords() {
		_ = p.basic(c, s, k) || p.objectKeyword(c, k) || p.arrayKeyword(c, k) || c.textKeyword(k.Name, k.Value) ||
			c.numberKeyword(k.Name, k.Value) || p.composition(c, k) || c.annotation(k.Name, k.Value) || c.unknown()
	}
	if c.parts != nil && c.parts.none() {
		c.parts = nil // then and else mean nothing without if
	}
}

func (p *programmer) basic(c *check, s *jsonschema.Schema, k jsonschema.Keyword) bool {
	switch k.Name {
	case "type":
		c.allows(k)
	case "enum", "const":
		c.list(k.Name, k.Value)
	case "$ref":
		c.ref = p.ref(c, s)
	default:
		return false
	}
	return true
}

func (p *programmer) objectKeyword(c *check, k jsonschema.Keyword) bool {
	switch k.Name {
	case "properties":
		p.properties(c.ofObjects(), k.Parts)
	case "required":
		object := c.ofObjects()
		object.required = append(object.required, k.Texts()...)
	case "additionalProperties":
		if additional := p.check(k.Schema()); !additional.anything() {
			c.ofObjects().additional = additional
		}
	case "unevaluatedProperties":
		switch string(k.Value) {
		case "false":
			c.ofObjects().unevaluated = true
		case "true":
		default:
			c.opaque = true
		}
	case "minProperties":
		c.whole(k.Value, &c.ofObjects().least)
	case "maxProperties":
		c.whole(k.Value, &c.ofObjects().most)
	default:
		return false
	}
	return true
}

func (p *programmer) arrayKeyword(c *check, k jsonschema.Keyword) bool {
	switch k.Name {
	case "items":
		if items := p.check(k.Schema()); !items.anything() {
			c.ofArrays().items = items
		}
	case "prefixItems":
		c.ofArrays().prefix = p.list(k.Parts)
	case "uniqueItems":
		c.ofArrays().unique = string(k.Value) == "true"
	case "minItems":
		c.whole(k.Value, &c.ofArrays().least)
	case "maxItems":
		c.whole(k.Value, &c.ofArrays().most)
	default:
		return false
	}
	return true
}

func (c *check) textKeyword(keyword string, value []byte) bool {
	switch keyword {
	case "minLength":
		c.whole(value, &c.ofTexts().least)
	case "maxLength":
		c.whole(value, &c.ofTexts().most)
	case "pattern":
		c.ofTexts().pattern = &lazyPattern{source: string(jsonscan.Unquote(value))}
	default:
		return false
	}
	return true
}

func (c *check) numberKeyword(keyword string, value []byte) bool {
	switch keyword {
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		c.ofNumbers().bound(keyword, value)
	case "multipleOf":
		c.ofNumbers().hard = true
	case "format":
		if f := formatNamed(string(jsonscan.Unquote(value))); f != nil {
			c.ofNumbers().format = f
		}
	default:
		return false
	}
	return true
}

func (p *programmer) composition(c *check, k jsonschema.Keyword) bool {
	switch k.Name {
	case "allOf":
		c.ofParts().all = p.list(k.Parts)
	case "anyOf":
		c.ofParts().any = p.list(k.Parts)
	case "oneOf":
		c.ofParts().one = p.list(k.Parts)
	case "not":
		c.ofParts().not = p.check(k.Schema())
	case "if":
		c.ofParts().cond = p.check(k.Schema())
	case "then":
		c.ofParts().then = p.check(k.Schema())
	case "else":
		c.ofParts().other = p.check(k.Schema())
	default:
		return false
	}
	return true
}

// lazyPattern is a regular expression that is compiled when it is needed: a document has thousands.
type lazyPattern struct {
	source string
	once   sync.Once
	re     *regexp.Regexp // nil: not checked
	size   int            // of its program; 0 if it is one of the gateway's own
}

// compile compiles the expression once.
func (p *lazyPattern) compile() {
	p.once.Do(func() {
		if p.re = ownPatterns[p.source]; p.re != nil {
			return
		}
		if parsed, err := ecmaregexp.Parse(p.source); err == nil && parsed.RE2 != "" {
			p.re, _ = regexp.Compile(parsed.RE2)
			p.size = parsed.Size
		}
	})
}

// cost returns how many steps a match takes.
func (p *lazyPattern) cost(s string) int {
	p.compile()
	return matchCost(p.size, s) / matchedPerStep
}

func (p *lazyPattern) match(s string) bool {
	p.compile()
	return p.re == nil || p.re.MatchString(s)
}

// matchCost returns the most instructions of a program that a match runs: Go's engine is linear in the text, and in the program.
func matchCost(size int, s string) int { return size * len(s) }

// annotation reports whether a keyword restricts nothing.
func (c *check) annotation(keyword string, value []byte) bool {
	switch keyword {
	case "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType", "contentSchema",
		"$defs", "$anchor", "$comment":
		return true
	case "$schema":
		return string(jsonscan.Unquote(value)) == dialect2020
	}
	return false
}

// unknown notes a keyword that only the library knows.
func (c *check) unknown() bool {
	c.opaque = true
	return true
}
