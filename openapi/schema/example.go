package schema

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// ExampleOptions selects the members of an example. The zero value is the default.
type ExampleOptions struct {
	// Documented adds optional members for which the schema has an example, or that are given, within the size limit. Without it an
	// example has required members only.
	Documented bool
	// Also are optional members that an example holds too if it can. Each is a path from the root: the tokens of its JSON Pointer.
	Also [][]string
	// Near is a value, which may not fit. Of several alternatives, the example has that which is nearest to it.
	Near json.RawMessage
	// Given is an object whose members are preferred to all others, as far as they fit.
	Given json.RawMessage
	// Quick refuses an example when finding out whether it is valid takes the JSON Schema library.
	Quick bool
	// MaxBytes is the most bytes of the example; 0: 1 KiB.
	MaxBytes int
	// Invented, if it is not nil, gets the names of the members of the root with values that nobody gave and that don't show it:
	// numbers, and texts of a format or pattern. An invented text that may be any text is "<name>".
	Invented *[]string
	// Unfit, if it is not nil, gets the names of the members of Given that break the schema, as far as they were looked at.
	Unfit *[]string
}

// Example returns one small value that an input schema accepts, as compact JSON: made of the examples, defaults and
// enums of the schema where it has them, else of types, formats, bounds and patterns. Invented values must not be taken for ones that
// work (pains row 195), so texts are marked, as "<name>". It is false when no such value is
// found, even if one exists. The schema must be one that Compile accepts.
func Example(schema *jsonschema.Schema, o ExampleOptions) (json.RawMessage, bool) {
	p := newProgrammer()
	v := &Validator{source: schema.Source(), program: p.check(schema)}
	return v.example(schema, p, o)
}

// Example is the package's Example for the validator's schema, without compiling it again.
func (v *Validator) Example(o ExampleOptions) (json.RawMessage, bool) {
	return v.example(jsonschema.Parse(v.source), newProgrammer(), o)
}

func (v *Validator) example(schema *jsonschema.Schema, p *programmer, o ExampleOptions) (json.RawMessage, bool) {
	if o.MaxBytes <= 0 {
		o.MaxBytes = 1 << 10
	}
	steps := maxExampleSteps
	if o.Quick {
		steps = maxQuickSteps
	}
	x := &exampler{
		options: o, steps: steps,
		program: p,
		checks:  map[*jsonschema.Schema]*check{schema: v.program},
		near:    o.Near,
	}
	text, ok := x.value([]*jsonschema.Schema{schema}, "", 0, 0)
	if !ok || len(text) > o.MaxBytes || unclean(string(text)) {
		return nil, false
	}
	if o.Invented != nil {
		*o.Invented = x.invented
	}
	value := Decode(text)
	if o.Quick {
		q := &quickValidator{steps: maxSteps / 100}
		_, wild := wildNumber(value, "")
		return text, !wild && q.validate(v.program, value) == valid
	}
	return text, len(v.Validate(value)) == 0
}

const (
	maxExampleSteps  = 2000 // demands that are worked out for one example
	maxQuickSteps    = 100
	maxExampleDepth  = 12 // levels of an example
	maxFilledDepth   = 3  // levels to which arrays are filled that may be empty
	maxExampleItems  = 8  // of an array that must have so many
	maxWantedItems   = 3  // of an array of which the options ask for several
	maxExampleRounds = 12 // alternatives that are tried for one value
	maxExampleRefs   = 64 // references and members of allOf that make the constraints of one value
)

// exampler makes one example. The example may be invalid: the validator decides.
type exampler struct {
	options ExampleOptions
	steps   int
	program *programmer
	checks  map[*jsonschema.Schema]*check

	path     []string // of the value that is being made: the tokens of its pointer
	near     []byte   // the value in that place that may not fit; nil if there is none
	unmarked bool     // a value of the member of the root that is being made is invented and does not show it
	invented []string // members of the root with such values
}

// value returns a value that fits all of the schemas as far as the quick check can tell. name is that of the property;
// nth numbers the values that have to differ.
func (x *exampler) value(schemas []*jsonschema.Schema, name string, depth, nth int) ([]byte, bool) {
	rounds := 1
	for round := 0; round < rounds && round < maxExampleRounds; round++ {
		if x.steps--; x.steps < 0 || depth > maxExampleDepth {
			return nil, false
		}
		d := &constraints{x: x, round: round, alternatives: 1, mostItems: math.MaxInt32}
		for _, s := range schemas {
			d.take(s)
		}
		rounds = d.alternatives
		for i := range d.given {
			if text := d.given[(i+nth)%len(d.given)]; (d.listed || x.shows(text)) && x.fits(schemas, text) {
				return text, true
			}
		}
		if d.listed || d.failed {
			continue
		}
		for _, kind := range x.likely(d.kinds()) {
			before := x.unmarked
			if text, ok := x.make(d, kind, name, depth, nth); ok && x.fits(schemas, text) {
				return text, true
			}
			x.unmarked = before
		}
	}
	return nil, false
}

// fits reports whether the quick check finds nothing wrong with a value.
func (x *exampler) fits(schemas []*jsonschema.Schema, text []byte) bool {
	value := Decode(text)
	for _, s := range schemas {
		c := x.checks[s]
		if c == nil {
			c = x.program.check(s)
			x.checks[s] = c
		}
		q := &quickValidator{steps: maxSteps / 100}
		if q.validate(c, value) == invalid {
			return false
		}
	}
	return true
}

// make returns a value of the given type.
func (x *exampler) make(d *constraints, kind types, name string, depth, nth int) ([]byte, bool) {
	switch kind {
	case objectType:
		return x.object(d, depth, nth)
	case arrayType:
		return x.array(d, name, depth)
	case stringType:
		text, marked, ok := d.text(name, nth)
		x.unmarked = x.unmarked || ok && !marked
		return text, ok
	case integerType, numberType:
		x.unmarked = true
		return d.number(kind, nth)
	case booleanType:
		return []byte("true"), true
	case nullType:
		return []byte("null"), true
	}
	return nil, false
}

func (x *exampler) object(d *constraints, depth, nth int) ([]byte, bool) {
	o := objectExample{x: x, d: d, depth: depth, nth: nth, text: []byte("{"), has: map[string]bool{}}
	if !o.addDeclared() || !o.addRequired() || !o.fill() {
		return nil, false
	}
	return append(o.text, '}'), true
}

// objectExample is an example of an object in the making.
type objectExample struct {
	x          *exampler
	d          *constraints
	depth, nth int
	text       []byte          // without the closing brace
	has        map[string]bool // members by name
}

// addDeclared adds the declared properties that are required, and the optional ones that the options ask for, in the author's
// order. It is false if a required one has no example.
func (o *objectExample) addDeclared() bool {
	for i := range o.d.properties {
		p := &o.d.properties[i]
		switch {
		case slices.Contains(o.d.required, p.name):
			if !o.add(p.name) {
				return false
			}
		case o.x.wants(p.name), o.documented(p):
			o.tryToAdd(p.name)
		}
	}
	o.addKeys()
	return true
}

// addKeys adds the members that the options ask for and that are not declared, if the schema describes such.
func (o *objectExample) addKeys() {
	if o.d.additional == nil {
		return
	}
	for _, name := range o.x.wanted() {
		if !o.has[name] && o.d.property(name) == nil {
			o.tryToAdd(name)
		}
	}
}

// addRequired adds the required members that are not declared, and those that members which are there need.
func (o *objectExample) addRequired() bool {
	d := o.d
	for i := 0; i < len(d.required); i++ {
		name := d.required[i]
		if !o.has[name] && !o.add(name) {
			return false
		}
		d.required = append(d.required, d.needs[name]...)
		delete(d.needs, name)
	}
	return true
}

// fill adds members until there are as many as the object must have: declared ones, then some with names that are made up.
func (o *objectExample) fill() bool {
	for _, p := range o.d.properties {
		if len(o.has) >= o.d.leastMembers {
			break
		}
		if !o.has[p.name] {
			o.tryToAdd(p.name)
		}
	}
	for _, name := range []string{"key", "other", "third"} {
		if len(o.has) < o.d.leastMembers && !o.has[name] && !o.add(name) {
			return false
		}
	}
	return true
}

// documented reports whether an optional property is shown because the schema has an example of it or one was given.
func (o *objectExample) documented(p *constrainedProperty) bool {
	return o.depth == 0 && o.x.options.Documented && (o.given(p.name, p.schemas) != nil ||
		slices.ContainsFunc(p.schemas, func(s *jsonschema.Schema) bool { return s.Has("examples") }))
}

// given returns the value that was given for a member of the root, nil if it does not fit.
func (o *objectExample) given(name string, schemas []*jsonschema.Schema) []byte {
	text := jsonscan.Lookup(o.x.options.Given, name)
	if o.depth > 0 || text == nil {
		return nil
	}
	if !o.x.fits(schemas, text) {
		if unfit := o.x.options.Unfit; unfit != nil && !slices.Contains(*unfit, name) {
			*unfit = append(*unfit, name)
		}
		return nil
	}
	return jsonscan.AppendCompact(nil, text)
}

// add adds a member. It is false if there is no value for it or no room.
func (o *objectExample) add(name string) bool {
	schemas := o.schemas(name)
	value, ok := o.given(name, schemas), true
	if value == nil {
		if o.depth == 0 {
			o.x.unmarked = false
		}
		if value, ok = o.x.below(name, schemas, name, o.depth+1, o.nth); !ok {
			return false
		}
		if o.depth == 0 && o.x.unmarked {
			o.x.invented = append(o.x.invented, name)
		}
	}
	o.has[name] = true
	if len(o.text) > 1 {
		o.text = append(o.text, ',')
	}
	o.text = append(append(jsonscan.AppendString(o.text, name), ':'), value...)
	return len(o.text) <= o.x.options.MaxBytes
}

// tryToAdd adds a member if there is a value for it, and room.
func (o *objectExample) tryToAdd(name string) {
	if before := o.text; !o.add(name) {
		o.text = before
		delete(o.has, name)
		if o.depth == 0 {
			o.x.invented = slices.DeleteFunc(o.x.invented, func(n string) bool { return n == name })
		}
	}
}

// schemas returns those that the value of a member must fit.
func (o *objectExample) schemas(name string) []*jsonschema.Schema {
	switch declared := o.d.property(name); {
	case declared != nil:
		return declared
	case o.d.additional != nil:
		return []*jsonschema.Schema{o.d.additional}
	default:
		return nil
	}
}

func (x *exampler) array(d *constraints, name string, depth int) ([]byte, bool) {
	if d.leastItems > maxExampleItems {
		return nil, false
	}
	out := []byte("[")
	count := max(d.leastItems, len(d.contains))
	if count == 0 && d.mostItems > 0 && (depth < maxFilledDepth || x.isWanted()) {
		count = 1 // an empty list would not show what belongs there
	}
	wanted := x.wanted()
	count = max(count, min(len(wanted), d.mostItems, maxWantedItems))
	var seen []string
	for i := range count {
		token := strconv.Itoa(i)
		if i < len(wanted) {
			token = wanted[i]
		}
		schemas := d.items
		if i < len(d.prefix) {
			schemas = []*jsonschema.Schema{d.prefix[i]}
		}
		if i < len(d.contains) {
			schemas = append(slices.Clip(schemas), d.contains[i])
		}
		text, ok := x.below(token, schemas, strings.TrimSuffix(name, "s"), depth+1, i)
		if again := slices.Contains(seen, string(text)); !ok || again && (d.unique || i >= d.leastItems) {
			if i < d.leastItems {
				return nil, false
			}
			continue
		}
		seen = append(seen, string(text))
		if len(out) > 1 {
			out = append(out, ',')
		}
		if out = append(out, text...); len(out) > x.options.MaxBytes {
			return nil, false
		}
	}
	return append(out, ']'), true
}
