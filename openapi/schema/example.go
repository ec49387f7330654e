package schema

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// ExampleOptions says what an example holds. The zero value is the default.
type ExampleOptions struct {
	// Documented gives the optional members too for which the schema has an example, or that are among those given, as
	// long as there is room. Without it an example holds what is required and nothing else.
	Documented bool
	// Also names optional members that an example holds too if it can: those of the root, and those of its members.
	Also []string
	// Given is an object whose members are preferred to all others, as far as they fit.
	Given json.RawMessage
	// Quick refuses an example when finding out whether it is valid takes the JSON Schema library.
	Quick bool
	// MaxBytes is the most bytes of the example; 0: 1 KiB.
	MaxBytes int
}

// Example returns one small value that an input schema accepts, as compact JSON: made of the examples, defaults and
// enums of the schema where it has them, else of types, formats, bounds and patterns. It is false when no such value is
// found, which does not mean that there is none. The schema is one that Compile accepts.
func Example(schema json.RawMessage, o ExampleOptions) (json.RawMessage, bool) {
	return newQuickValidator(schema).Example(o)
}

// newQuickValidator returns a validator that has not asked the library about the schema.
func newQuickValidator(schema json.RawMessage) *Validator {
	return &Validator{source: schema, program: newProgram(schema)}
}

// Example is the package's Example for the validator's schema, without compiling it again.
func (v *Validator) Example(o ExampleOptions) (json.RawMessage, bool) {
	if o.MaxBytes <= 0 {
		o.MaxBytes = 1 << 10
	}
	steps := maxExampleSteps
	if o.Quick {
		steps = maxQuickSteps
	}
	x := &exampler{
		options: o, steps: steps,
		program: &programmer{defs: jsonscan.Lookup(v.source, "$defs"), named: map[string]*check{}, plain: map[types]*check{}},
		checks:  map[*byte]*check{&v.source[0]: v.program},
	}
	text, ok := x.value([][]byte{v.source}, "", 0, 0)
	if !ok || len(text) > o.MaxBytes || unclean(string(text)) {
		return nil, false
	}
	value := decodeWhole(text)
	if o.Quick {
		a := &acceptor{steps: maxSteps / 100}
		_, wild := wildNumber(value, "")
		return text, !wild && a.accept(v.program, value) == valid
	}
	return text, len(v.Validate(value)) == 0
}

const (
	maxExampleSteps  = 2000 // demands that are worked out for one example
	maxQuickSteps    = 100
	maxExampleDepth  = 12 // levels of an example
	maxFilledDepth   = 3  // levels to which arrays are filled that may be empty
	maxExampleItems  = 8  // of an array that must have so many
	maxExampleRounds = 12 // alternatives that are tried for one value
	maxExampleRefs   = 64 // references and members of allOf that make one demand
)

// exampler makes one example. The example may be invalid: the validator decides.
type exampler struct {
	options ExampleOptions
	steps   int
	program *programmer
	checks  map[*byte]*check
	defs    map[string][]byte // read when the first is asked for
}

func (x *exampler) definition(name string) []byte {
	if x.defs == nil {
		x.defs = map[string][]byte{}
		for name, s := range jsonscan.Members(x.program.defs) {
			x.defs[string(name)] = s
		}
	}
	return x.defs[name]
}

// value returns a value that fits all of the schemas as far as the quick check can tell. name is that of the property;
// nth numbers the values that have to differ.
func (x *exampler) value(schemas [][]byte, name string, depth, nth int) ([]byte, bool) {
	rounds := 1
	for round := 0; round < rounds && round < maxExampleRounds; round++ {
		if x.steps--; x.steps < 0 || depth > maxExampleDepth {
			return nil, false
		}
		d := &demand{x: x, round: round, alternatives: 1, mostItems: math.MaxInt32}
		for _, s := range schemas {
			d.take(s)
		}
		rounds = d.alternatives
		for i := range d.given {
			if text := d.given[(i+nth)%len(d.given)]; x.fits(schemas, text) {
				return text, true
			}
		}
		if d.listed || d.failed {
			continue
		}
		for _, kind := range d.kinds() {
			if text, ok := x.make(d, kind, name, depth, nth); ok && x.fits(schemas, text) {
				return text, true
			}
		}
	}
	return nil, false
}

// fits tells whether the quick check finds nothing wrong with a value.
func (x *exampler) fits(schemas [][]byte, text []byte) bool {
	value := decodeWhole(text)
	for _, s := range schemas {
		c := x.checks[&s[0]]
		if c == nil {
			c = x.program.check(s)
			x.checks[&s[0]] = c
		}
		a := &acceptor{steps: maxSteps / 100}
		if a.accept(c, value) == invalid {
			return false
		}
	}
	return true
}

// make returns a value of the given type.
func (x *exampler) make(d *demand, kind types, name string, depth, nth int) ([]byte, bool) {
	switch kind {
	case objectType:
		return x.object(d, depth, nth)
	case arrayType:
		return x.array(d, name, depth)
	case stringType:
		return d.text(name, nth)
	case integerType, numberType:
		return d.number(kind, nth)
	case booleanType:
		return []byte("true"), true
	case nullType:
		return []byte("null"), true
	}
	return nil, false
}

func (x *exampler) object(d *demand, depth, nth int) ([]byte, bool) {
	out := []byte("{")
	given := map[string]bool{}
	prefer := func(name string, schemas [][]byte) []byte { // the value that was given, nil if it does not fit
		text := jsonscan.Lookup(x.options.Given, name)
		if depth > 0 || text == nil || !x.fits(schemas, text) {
			return nil
		}
		return jsonscan.AppendCompact(nil, text)
	}
	documented := func(p *demandedProperty) bool { // among the optional ones
		return depth == 0 && x.options.Documented && (prefer(p.name, p.schemas) != nil ||
			slices.ContainsFunc(p.schemas, func(s []byte) bool { return jsonscan.Lookup(s, "examples") != nil }))
	}
	add := func(name string) bool {
		schemas := d.property(name)
		if schemas == nil {
			schemas = [][]byte{[]byte("true")}
			if d.additional != nil {
				schemas = [][]byte{d.additional}
			}
		}
		text, ok := prefer(name, schemas), true
		if text == nil {
			if text, ok = x.value(schemas, name, depth+1, nth); !ok {
				return false
			}
		}
		given[name] = true
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(jsonscan.AppendString(out, name), ':'), text...)
		return len(out) <= x.options.MaxBytes
	}
	for i := range d.properties { // in the author's order
		p := &d.properties[i]
		wanted := slices.Contains(d.required, p.name)
		also := depth <= 1 && slices.Contains(x.options.Also, p.name)
		if !wanted && (also || documented(p)) {
			if before := out; !add(p.name) { // it can be left out
				out = before
				delete(given, p.name)
			}
		}
		if wanted && !add(p.name) {
			return nil, false
		}
	}
	for i := 0; i < len(d.required); i++ {
		name := d.required[i]
		if !given[name] && !add(name) {
			return nil, false
		}
		d.required = append(d.required, d.needs[name]...)
		delete(d.needs, name)
	}
	for _, p := range d.properties {
		if len(given) >= d.leastMembers {
			break
		}
		if before := out; !given[p.name] && !add(p.name) {
			out = before
			delete(given, p.name)
		}
	}
	for _, name := range []string{"key", "other", "third"} {
		if len(given) < d.leastMembers && !given[name] && !add(name) {
			return nil, false
		}
	}
	return append(out, '}'), true
}

func (x *exampler) array(d *demand, name string, depth int) ([]byte, bool) {
	if d.leastItems > maxExampleItems {
		return nil, false
	}
	out := []byte("[")
	count := max(d.leastItems, len(d.contains))
	if count == 0 && d.mostItems > 0 && depth < maxFilledDepth {
		count = 1 // an empty list would not show what belongs there
	}
	var seen []string
	for i := range count {
		schemas := d.items
		if i < len(d.prefix) {
			schemas = [][]byte{d.prefix[i]}
		}
		if i < len(d.contains) {
			schemas = append(slices.Clip(schemas), d.contains[i])
		}
		text, ok := x.value(schemas, strings.TrimSuffix(name, "s"), depth+1, i)
		if !ok || d.unique && slices.Contains(seen, string(text)) {
			if i < d.leastItems {
				return nil, false
			}
			break
		}
		seen = append(seen, string(text))
		if i > 0 {
			out = append(out, ',')
		}
		if out = append(out, text...); len(out) > x.options.MaxBytes {
			return nil, false
		}
	}
	return append(out, ']'), true
}
